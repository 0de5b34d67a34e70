"""Requests with every property: read, and said again by the specification without a loss."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from every_property import EKS, EKS_REQUEST, REQUESTS, ROLE, SLURM_REQUEST

from hyperpod_model.catalog.cluster_request import RequestField, cluster_request
from hyperpod_model.cluster_spec import LoadedCluster
from hyperpod_model.faults import UNKNOWN, Fault

Load = Callable[..., LoadedCluster]
Faults = Callable[..., tuple[Fault, ...]]


@pytest.mark.parametrize("name", REQUESTS)
def test_nothing_is_dropped(name: str, load: Load) -> None:
    loaded = load(json.dumps(REQUESTS[name]), region="us-west-2")
    assert loaded.spec.to_request() == REQUESTS[name]


# CloudFormation reports the first; the others it does not know.
NOT_SAID = {
    "InstanceGroups.AutoPatchConfig.PatchSchedule.NextPatchDate",
    "InstanceGroups.AutoPatchConfig.IdleWaitWindowInSeconds",
    "InstanceGroups.AutoPatchConfig.DrainPolicy.DrainTimeoutInSeconds",
    "InstanceGroups.AutoPatchConfig.DrainPolicy.OnDrainTimeout",
    "Orchestrator.Slurm.SlurmConfigStrategy",  # not with continuous provisioning
    "InstanceGroups.LifeCycleConfig.OnInitComplete",  # not with OnCreate
}
IN_GROUPS_ONLY = ("InstanceStorageConfigs.EbsVolumeConfig.VolumeKmsKeyId", "RootVolume", "Fsx", "Scheduled")


def _leaves(field: RequestField, path: str) -> set[str]:
    inner = field.item if field.item is not None and field.type == "list" else field
    if not inner.members:
        return {path}
    return {
        leaf for name, below in inner.members.items() for leaf in _leaves(below, f"{path}.{name}".lstrip("."))
    }


def _said(value: Any, field: RequestField, path: str) -> set[str]:
    if isinstance(value, list):
        assert field.item is not None
        return set().union(*(_said(item, field.item, path) for item in value))
    if isinstance(value, dict) and field.members:
        return set().union(
            *(_said(item, field.members[name], f"{path}.{name}".lstrip(".")) for name, item in value.items())
        )
    return {path}


def test_the_requests_here_say_every_property_of_the_service() -> None:
    said: set[str] = set()
    for request in REQUESTS.values():
        said |= _said(request, cluster_request(), "")
    missing = {
        leaf
        for leaf in _leaves(cluster_request(), "") - said - NOT_SAID
        if not (leaf.startswith("Restricted") and any(part in leaf for part in IN_GROUPS_ONLY))
    }
    assert missing == set()


def _changed(*changes: tuple[Any, ...], base: dict[str, Any] = EKS_REQUEST) -> str:
    changed = copy.deepcopy(base)
    for *path, last, value in changes:
        at: Any = changed
        for step in path:
            at = at[step]
        at[last] = value
    return json.dumps(changed, indent=1)


def test_a_cluster_role_without_autoscaling_is_sent_as_it_is(load: Load) -> None:
    made = load(_changed(("AutoScaling", None)), region="us-west-2").spec.to_request()
    assert made["ClusterRole"] == EKS_REQUEST["ClusterRole"]
    assert "AutoScaling" not in made


def test_tiering_is_switched_off_in_so_many_words(load: Load) -> None:
    made = load(_changed(("TieredStorageConfig", {"Mode": "Disable"})), region="us-west-2").spec.to_request()
    assert made["TieredStorageConfig"] == {"Mode": "Disable"}


def test_a_cluster_of_restricted_groups_alone(load: Load) -> None:
    text = _changed(("InstanceGroups", None), ("TieredStorageConfig", None), ("AutoScaling", None))
    made = load(text, region="us-west-2").spec.to_request()
    assert "InstanceGroups" not in made
    assert made["RestrictedInstanceGroups"] == EKS_REQUEST["RestrictedInstanceGroups"]


def test_scripts_that_come_last_stay_last_with_eks(load: Load) -> None:
    last = {"SourceS3Uri": "s3://my-bucket/lifecycle/", "OnInitComplete": "last.sh"}
    text = _changed(
        ("InstanceGroups", 0, "LifeCycleConfig", last), ("InstanceGroups", 1, "LifeCycleConfig", None)
    )
    spec = load(text, region="us-west-2").spec
    assert spec.script_hook == "OnInitComplete"
    groups = spec.to_request()["InstanceGroups"]
    assert groups[0]["LifeCycleConfig"] == last
    assert "LifeCycleConfig" not in groups[1]


def test_a_placeholder_for_the_role_of_restricted_groups_makes_one(load: Load) -> None:
    text = _changed(("RestrictedInstanceGroups", 0, "ExecutionRole", "arn:aws:iam::<account>:role/hp"))
    loaded = load(text, region="us-west-2")
    assert loaded.spec.to_request()["RestrictedInstanceGroups"][0]["ExecutionRole"] is UNKNOWN
    assert any(note.startswith("RestrictedInstanceGroups[0].ExecutionRole (line ") for note in loaded.notes)


def test_notes_say_what_an_eks_cluster_must_have_already(load: Load) -> None:
    notes = load(_changed(), region="us-west-2").notes
    for start in (
        f"Orchestrator.Eks: {EKS} is used as it is; what nodes need has to be in it: ",
        "TieredStorageConfig: the memory tier does not outlive",
        f"ExecutionRole: {ROLE} is imported and not changed; it must already trust sagemaker.amazonaws.com, ",
    ):
        assert len([note for note in notes if note.startswith(start)]) == 1, start
    assert not any("Slurm" in note for note in notes)


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (("Orchestrator", "Eks", "ClusterArn", "training"), "Orchestrator.Eks.ClusterArn", "must be"),
        (
            ("Orchestrator", "Eks", "ClusterArn", EKS.replace("us-west-2", "us-east-1")),
            "",
            "eks.cluster_arn: is of region 'us-east-1', the cluster is in 'us-west-2'",
        ),
        (
            ("VpcConfig", {"Subnets": ["subnet-new"], "SecurityGroupIds": ["sg-new"]}),
            "",
            "network.subnet_ids: is required with eks.cluster_arn",
        ),
        (
            ("TieredStorageConfig", {"Mode": "Enable"}),
            "TieredStorageConfig.InstanceMemoryAllocationPercentage",
            "is required, since the service's default is not documented; give 20 to 100",
        ),
        (
            ("TieredStorageConfig", "Mode", "Disable"),
            "TieredStorageConfig.InstanceMemoryAllocationPercentage",
            "goes with Mode Enable",
        ),
        (("ClusterRole", None), "ClusterRole", "is required with autoscaling"),
        (
            ("InstanceGroups", 0, "SlurmConfig", {"NodeType": "Login"}),
            "InstanceGroups[0].SlurmConfig",
            "goes with the Slurm orchestrator only",
        ),
        (
            ("InstanceGroups", 1, "OverrideVpcConfig", "Subnets", ["subnet-new"]),
            "InstanceGroups[1].OverrideVpcConfig.Subnets[0]",
            "a network of a group's own is not made",
        ),
        (
            (
                "InstanceGroups",
                1,
                "LifeCycleConfig",
                {"SourceS3Uri": "s3://my-bucket/x", "OnInitComplete": "a"},
            ),
            "InstanceGroups[0].LifeCycleConfig",
            "names OnCreate beside OnInitComplete of another group",
        ),
        (
            ("InstanceGroups", 0, "KubernetesConfig", "Labels", {"team": None}),
            "InstanceGroups[0].KubernetesConfig.Labels.team",
            "is null",
        ),
        (
            ("InstanceGroups", 0, "InstanceRequirements", {"InstanceTypes": ["ml.p5.48xlarge"]}),
            "InstanceGroups[0].InstanceRequirements",
            "excludes InstanceType",
        ),
    ],
)
def test_refuses_in_the_terms_of_the_request(
    change: tuple[Any, ...], path: str, message: str, faults_in: Faults
) -> None:
    faults = faults_in(_changed(change), region="us-west-2", availability_zone_id="usw2-az1")
    said = [str(fault) for fault in faults]
    assert [line for line in said if line.startswith(path) and message in line], said
    assert all(fault.line is not None for fault in faults if fault.path)


def test_a_database_without_a_name_is_refused(faults_in: Faults) -> None:
    change = ("Orchestrator", "Slurm", "AccountingDatabase", "Name", None)
    [fault] = faults_in(_changed(change, base=SLURM_REQUEST), region="us-west-2")
    assert str(fault).startswith("Orchestrator.Slurm.AccountingDatabase.Name (line ")
    assert "document different defaults" in fault.message
