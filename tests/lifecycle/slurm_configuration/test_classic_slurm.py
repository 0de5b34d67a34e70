from __future__ import annotations

import json

import pytest

from hyperpod_lifecycle.node_parameters import NodeParameters, lustre_mount, openzfs_mount
from hyperpod_lifecycle.slurm_configuration.classic_slurm import ClassicSlurm
from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import WorkerGroup
from hyperpod_model.faults import InvalidInputError

WORKERS = [WorkerGroup("workers", "gpu")]


def classic(**options: object) -> ClassicSlurm:
    return ClassicSlurm(controller_group="controller", worker_groups=WORKERS, **options)  # type: ignore[arg-type]


def test_what_the_scripts_are_told() -> None:
    slurm = classic(
        login_group="login", accounting=True, settings={"KillWait": "60", "AccountingStorageTRES": "gres/gpu"}
    )
    assert slurm.to_parameters() == {
        "mode": "lifecycle",
        "controller_group": "controller",
        "login_group": "login",
        "worker_groups": ["workers"],
        "accounting": True,
        "settings": ["AccountingStorageTRES=gres/gpu", "KillWait=60"],
    }
    assert slurm.warnings == ()
    assert json.loads(slurm.provisioning_parameters())["controller_group"] == "controller"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"AccountingStorageTRES": "gres:gpu"}, "accounting": True}, "TRES: needs kind"),
        ({"settings": {"AccountingStorageTRES": "gres/gpu"}}, "needs an accounting database"),
        ({"login_group": "controller"}, "which is controller_group already"),
        ({"accounting": "yes"}, "accounting: must be true or false, got 'yes'"),
    ],
)
def test_what_would_stop_slurm_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        classic(**options)


def test_what_is_probably_not_meant_is_a_warning() -> None:
    (warning,) = classic(settings={"TaskPlugin": "task/cgroup"}).warnings
    assert str(warning).startswith("settings.TaskPlugin: takes auto-resume from jobs")


def test_parameters_leave_out_what_there_is_not() -> None:
    assert NodeParameters(orchestrator="eks").render() == '{\n  "orchestrator": "eks"\n}\n'


def test_parameters() -> None:
    text = NodeParameters(
        orchestrator="slurm",
        required_mounts={"workers": ("/fsx",)},
        mounts={
            "workers": [
                lustre_mount(dns_name="fs-1.fsx", mount_name="abc", mount_path="/fsx"),
                openzfs_mount(dns_name="fs-2.fsx", mount_path="/home"),
            ]
        },
        efa_interfaces={"ml.p5.48xlarge": 32},
        second_volume_groups=["workers"],
        gpus={"ml.p5.48xlarge": 8},
        users_file="/fsx/users.csv",
        shared_folder="/fsx/hyperpod",
        log_files={"slurmd": "/var/log/slurm/slurmd.log"},
        slurm=classic(),
    ).render()
    assert json.loads(text) == {
        "orchestrator": "slurm",
        "required_mounts": {"workers": ["/fsx"]},
        "mounts": {
            "workers": [
                {"type": "lustre", "dns_name": "fs-1.fsx", "mount_name": "abc", "mount_path": "/fsx"},
                {"type": "openzfs", "dns_name": "fs-2.fsx", "volume_path": "/fsx", "mount_path": "/home"},
            ]
        },
        "efa_interfaces": {"ml.p5.48xlarge": 32},
        "second_volume_groups": ["workers"],
        "gpus": {"ml.p5.48xlarge": 8},
        "users_file": "/fsx/users.csv",
        "shared_folder": "/fsx/hyperpod",
        "log_shipping": {"files": {"slurmd": "/var/log/slurm/slurmd.log"}},
        "slurm": {
            "mode": "lifecycle",
            "controller_group": "controller",
            "worker_groups": ["workers"],
            "accounting": False,
            "settings": [],
        },
    }
    assert text.endswith("}\n")
