from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import (
    WorkerGroup,
    check_provisioning_parameters,
    render_provisioning_parameters,
)
from hyperpod_model.faults import InvalidInputError

SOUND: dict[str, Any] = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "controller",
    "login_group": "login",
    "worker_groups": [{"instance_group_name": "workers", "partition_name": "gpu"}],
    "fsx_dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "fsx_mountname": "abcdefgh",
}


def said(content: Any, **options: Any) -> list[str]:
    text = content if isinstance(content, (str, bytes)) else json.dumps(content)
    return [f"{fault.severity} {fault}" for fault in check_provisioning_parameters(text, **options)]


def test_sound() -> None:
    assert said(SOUND) == []
    assert said(SOUND, instance_groups=["controller", "login", "workers"]) == []


def test_several_controllers_have_settings_of_their_own() -> None:
    extra = {"slurm_database_secret_arn": "arn:x", "slurm_shared_directory": "/fsx"}
    assert said({**SOUND, "slurm_configurations": extra}) == []
    (fault,) = said({**SOUND, "slurm_configurations": {"slurm_sns": "x"}})
    assert fault.startswith("warning provisioning_parameters.json.slurm_configurations.slurm_sns: is read by")
    assert "write slurm_sns_arn" in fault
    (fault,) = said({**SOUND, "slurm_configurations": 3})
    assert "must be an object, got 3" in fault


WRONG = [
    ({"version": "1.0"}, "version: must be '1.0.0', got '1.0'"),
    ({"workload_manager": "pbs"}, "workload_manager: must be 'slurm', got 'pbs'"),
    ({"controller_group": None}, "controller_group: is required"),
    ({"controller_group": "a b"}, "controller_group: must be the name of an instance group"),
    ({"login_group": "controller"}, "login_group: names 'controller', which is controller_group already"),
    ({"worker_groups": []}, "worker_groups: must be a list of at least one group, got []"),
    ({"worker_groups": {"workers": "gpu"}}, "worker_groups: must be a list of at least one group"),
    ({"worker_groups": ["workers"]}, "worker_groups[0]: must be an object with instance_group_name and"),
    ({"worker_groups": [{"partition_name": "gpu"}]}, "worker_groups[0].instance_group_name: is required"),
    (
        {"worker_groups": [*SOUND["worker_groups"], *SOUND["worker_groups"]]},
        "worker_groups[1].instance_group_name: names 'workers', which is a second of the worker_groups",
    ),
    (
        {"worker_groups": [{"instance_group_name": "w", "partition_name": "dev"}]},
        "worker_groups[0].partition_name: 'dev' is taken",
    ),
    (
        {"worker_groups": [{"instance_group_name": "w", "partition_name": "g pu"}]},
        "worker_groups[0].partition_name: must be the name of a partition",
    ),
    ({"fsx_mountname": None}, "fsx_mountname: goes with fsx_dns_name"),
    ({"fsx_dns_name": 3}, "fsx_dns_name: must be text, got 3"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_wrong(change: dict[str, Any], message: str) -> None:
    (fault,) = said({**SOUND, **change})
    assert fault.startswith(f"error provisioning_parameters.json.{message}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{\n"version": "1.0.0",\n}', "(line 3): is no JSON: "),
        ("[]", ": must be an object with version, workload_manager"),
        (b"\xff{}", ": must be UTF-8"),
        ('{"version": "1.0.0", "version": "1.0.0"}', ": says 'version' twice"),
    ],
)
def test_no_object(content: str | bytes, message: str) -> None:
    (fault,) = said(content)
    assert message in fault


def test_a_member_that_nobody_reads() -> None:
    (fault,) = said({**SOUND, "login_groups": "login"})
    assert fault == (
        "warning provisioning_parameters.json.login_groups: is read by nobody; write login_group"
    )
    (fault,) = said({**SOUND, "zzz": 1})
    assert "known are version, workload_manager" in fault


def test_a_group_that_the_cluster_does_not_have() -> None:
    (fault,) = said(SOUND, instance_groups=["controller", "login", "worker"])
    assert fault.endswith(
        "worker_groups[0].instance_group_name: must be an instance group of the cluster, got 'workers'; it "
        "has controller, login, worker"
    )


GOLDEN = """{
  "version": "1.0.0",
  "workload_manager": "slurm",
  "controller_group": "controller",
  "login_group": "login",
  "worker_groups": [
    {
      "instance_group_name": "workers",
      "partition_name": "gpu"
    }
  ]
}
"""


def test_rendered() -> None:
    text = render_provisioning_parameters(
        controller_group="controller", login_group="login", worker_groups=[WorkerGroup("workers", "gpu")]
    )
    assert text == GOLDEN
    assert said(text) == []
    without = render_provisioning_parameters(controller_group="c", worker_groups=[WorkerGroup("w", "gpu")])
    assert "login" not in without


def test_what_hyperpod_cannot_read_is_not_rendered() -> None:
    with pytest.raises(InvalidInputError, match="'dev' is taken"):
        render_provisioning_parameters(controller_group="c", worker_groups=[WorkerGroup("w", "dev")])
