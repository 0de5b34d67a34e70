"""A stack whose Slurm the package's own scripts configure, from specification to what is uploaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App
from stacks import only, resources, template_of

from hyperpod_constructs.hyperpod_stack import HyperPodStack
from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import check_provisioning_parameters
from hyperpod_model.cluster_spec import load_cluster

EXAMPLE = Path(__file__).parents[2] / "examples" / "clusters" / "scripted-slurm.yaml"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> HyperPodStack:
    app = App(outdir=str(tmp_path_factory.mktemp("assembly")))
    return HyperPodStack(app, "HyperPodStack", spec=load_cluster(EXAMPLE).spec)


@pytest.fixture(scope="module")
def template(stack: HyperPodStack) -> dict[str, Any]:
    return template_of(stack)


@pytest.fixture(scope="module")
def uploaded(stack: HyperPodStack, template: dict[str, Any]) -> dict[str, str]:
    """Content of the rendered files by name."""
    app = stack.node.root
    assert isinstance(app, App)
    files = Path(app.outdir).glob("asset.*/*parameters.json")
    return {file.name: file.read_text() for file in files}


def test_hyperpod_is_told_of_no_node_type(template: dict[str, Any]) -> None:
    _, cluster = only(template, "AWS::SageMaker::Cluster")
    groups = cluster["Properties"]["InstanceGroups"]
    assert not any("SlurmConfig" in group for group in groups)
    assert {group["LifeCycleConfig"]["OnCreate"] for group in groups} == {"on_create.sh"}
    assert "NodeProvisioningMode" not in cluster["Properties"]
    assert "Orchestrator" not in cluster["Properties"]


def test_provisioning_parameters(uploaded: dict[str, str]) -> None:
    text = uploaded["provisioning_parameters.json"]
    assert check_provisioning_parameters(text, instance_groups=["controller", "login", "workers"]) == []
    assert json.loads(text) == {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": "controller",
        "login_group": "login",
        "worker_groups": [{"instance_group_name": "workers", "partition_name": "gpu"}],
    }


def test_parameters(uploaded: dict[str, str]) -> None:
    said = json.loads(uploaded["parameters.json"])
    mounts = said.pop("mounts")
    assert said.pop("job_figures")["group"] == "controller"
    assert said == {
        "orchestrator": "slurm",
        "efa_interfaces": {"ml.p4d.24xlarge": 4},
        "gpus": {"ml.p4d.24xlarge": 8},
        "second_volume_groups": ["workers"],
        "log_shipping": {
            "files": {
                "slurmctld": "/var/log/slurm/slurmctld.log",
                "slurmd": "/var/log/slurm/slurmd.log",
            }
        },
        "slurm": {
            "mode": "lifecycle",
            "controller_group": "controller",
            "login_group": "login",
            "worker_groups": ["workers"],
            "accounting": True,
            "settings": ["AccountingStorageTRES=gres/gpu"],
        },
    }
    assert set(mounts) == {"controller", "login", "workers"}
    (mount,) = mounts["workers"]
    assert (mount["type"], mount["mount_path"]) == ("lustre", "/fsx")


def test_mounts_are_filled_in_with_the_file_system_of_the_stack(template: dict[str, Any]) -> None:
    (file_system,) = resources(template, "AWS::FSx::FileSystem")
    _, upload = only(template, "Custom::CDKBucketDeployment")
    values = [value for markers in upload["Properties"]["SourceMarkers"] for value in markers.values()]
    assert {"Ref": file_system} in values
    assert {"Fn::GetAtt": [file_system, "LustreMountName"]} in values
