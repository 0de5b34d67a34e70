"""The kinds of node that the scripts are run on."""

from __future__ import annotations

from node_scripts.machine import (
    CLOUDWATCH_AGENT,
    EFA_CARDS,
    HOMES,
    LUSTRE,
    MACHINE,
    MOUNTED_BY_HYPERPOD,
    PARAMETERS,
    Scenario,
)
from node_scripts.slurm_nodes import NODES_OF_SCRIPTS

_SERVICE = "on_init_complete.sh"

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="worker, HyperPod configures Slurm",
        entry_point=_SERVICE,
        address="10.1.1.2",
        parameters=PARAMETERS,
        files={**MACHINE, **EFA_CARDS, **MOUNTED_BY_HYPERPOD, **CLOUDWATCH_AGENT},
        folders=("/tmp", "/opt/sagemaker", "/home", "/fsx"),
    ),
    Scenario(
        name="controller, HyperPod configures Slurm",
        entry_point=_SERVICE,
        address="10.1.0.10",
        parameters={
            **PARAMETERS,
            "log_shipping": {
                **PARAMETERS["log_shipping"],
                "records": {"group": "controller", "folder": "/fsx/recovery"},
            },
        },
        files={**MACHINE, **MOUNTED_BY_HYPERPOD, **CLOUDWATCH_AGENT},
        folders=("/tmp", "/opt/sagemaker", "/home", "/fsx"),
    ),
    Scenario(
        name="EKS worker",
        entry_point=_SERVICE,
        address="10.1.1.1",
        parameters={"orchestrator": "eks", "efa_interfaces": {"ml.p5.48xlarge": 32}},
        files={**MACHINE, **EFA_CARDS},
    ),
    Scenario(
        name="login node whose scripts mount",
        entry_point=_SERVICE,
        address="10.1.0.20",
        parameters={
            **PARAMETERS,
            "mounts": {"login": [LUSTRE, HOMES]},
            "users_file": "/etc/hyperpod-users.csv",
        },
        files={
            **MACHINE,
            "/etc/hyperpod-users.csv": "carol,2003,/home/carol",
            "/proc/self/mounts": MACHINE["/proc/self/mounts"] + "/dev/nvme1n1 /opt/sagemaker xfs rw 0 0\n",
            "/etc/enroot/enroot.conf": "#ENROOT_CACHE_PATH ${XDG_CACHE_HOME}/enroot\n",
        },
    ),
    Scenario(name="nothing rendered", entry_point=_SERVICE, address="10.1.1.1", files=MACHINE),
    *NODES_OF_SCRIPTS,
)
"""Every script is run in each scenario whose entry point reaches it."""
