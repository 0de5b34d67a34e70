"""Requests with every property: read, and said again by the specification without a loss."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_model.catalog.cluster_request import RequestField, cluster_request
from hyperpod_model.cluster_spec import LoadedCluster
from hyperpod_model.faults import UNKNOWN, Fault

Load = Callable[..., LoadedCluster]
Faults = Callable[..., tuple[Fault, ...]]

ROLE = "arn:aws:iam::111122223333:role/hp-exec"
EKS = "arn:aws:eks:us-west-2:111122223333:cluster/training"
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/reserved"
SCRIPTS = {"SourceS3Uri": "s3://my-bucket/lifecycle/", "OnCreate": "on_create.sh"}
VPC = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]}
OTHER_VPC = {"SecurityGroupIds": ["sg-01234567"], "Subnets": ["subnet-01234567"]}
FILE_SYSTEM = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
DEPLOYMENT = {
    "RollingUpdatePolicy": {
        "MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 25},
        "RollbackMaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2},
    },
    "WaitIntervalInSeconds": 600,
    "AutoRollbackConfiguration": [{"AlarmName": "jobs-fail"}, {"AlarmName": "nodes-fail"}],
}

EKS_REQUEST: dict[str, Any] = {
    "ClusterName": "everything",
    "NodeRecovery": "Automatic",
    "NodeProvisioningMode": "Continuous",
    "VpcConfig": VPC,
    "Orchestrator": {"Eks": {"ClusterArn": EKS}},
    "TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 30},
    "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
    "ClusterRole": ROLE.replace("hp-exec", "scaling"),
    "InstanceGroups": [
        {
            "InstanceGroupName": "workers",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 4,
            "MinInstanceCount": 2,
            "ExecutionRole": ROLE,
            "LifeCycleConfig": SCRIPTS,
            "ThreadsPerCore": 1,
            "TrainingPlanArn": PLAN,
            "ImageReleaseVersion": "1.2.3",
            "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
            "KubernetesConfig": {"Labels": {"example.com/team": "research", "tier": "gpu"}},
            "NetworkInterface": {"InterfaceType": "efa-only"},
            "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "DeploymentConfig": DEPLOYMENT},
            "InstanceStorageConfigs": [
                {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": KEY}},
                {"EbsVolumeConfig": {"VolumeSizeInGB": 300, "VolumeKmsKeyId": KEY}},
            ],
        },
        {
            "InstanceGroupName": "preparation",
            "InstanceRequirements": {"InstanceTypes": ["ml.m5.4xlarge", "ml.m5.8xlarge"]},
            "InstanceCount": 3,
            "ExecutionRole": ROLE,
            "LifeCycleConfig": SCRIPTS,
            "ImageId": "ami-0123456789abcdef0",
            "OverrideVpcConfig": OTHER_VPC,
            "CapacityRequirements": {"Spot": {}},
            "KubernetesConfig": {
                "Taints": [
                    {"Key": "example.com/spot", "Value": "yes", "Effect": "NoSchedule"},
                    {"Key": "slow", "Effect": "PreferNoSchedule"},
                ]
            },
            "ScheduledUpdateConfig": {
                "ScheduleExpression": "cron(0 3 ? * SUN *)",
                "DeploymentConfig": DEPLOYMENT,
            },
        },
    ],
    "RestrictedInstanceGroups": [
        {
            "InstanceGroupName": "nova",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 2,
            "ExecutionRole": ROLE,
            "ThreadsPerCore": 2,
            "TrainingPlanArn": PLAN,
            "OnStartDeepHealthChecks": ["InstanceStress"],
            "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 400}}],
            "OverrideVpcConfig": VPC,
            "EnvironmentConfig": {"FSxLustreConfig": {"SizeInGiB": 2400, "PerUnitStorageThroughput": 250}},
        }
    ],
    "RestrictedInstanceGroupsConfig": {
        "SharedEnvironmentConfig": {
            "FSxLustreDeletionPolicy": "DeleteIfNotUsed",
            "FSxLustreConfig": {"SizeInGiB": 4800, "PerUnitStorageThroughput": 500},
        }
    },
    "Tags": [{"Key": "team", "Value": "a"}],
}

SLURM_REQUEST: dict[str, Any] = {
    "ClusterName": "everything",
    "NodeRecovery": "None",
    "NodeProvisioningMode": "Continuous",
    "VpcConfig": VPC | {"Subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]},
    "Orchestrator": {
        "Slurm": {
            "AccountingDatabase": {
                "Endpoint": "accounting.example.com",
                "Port": 3307,
                "Name": "slurm_acct_db",
                "SecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:accounting-AbCdEf",
            }
        }
    },
    "InstanceGroups": [
        {
            "InstanceGroupName": "head",
            "InstanceType": "ml.m5.large",
            "InstanceCount": 1,
            "ExecutionRole": ROLE,
            "SlurmConfig": {"NodeType": "Controller"},
        },
        {
            "InstanceGroupName": "gpu",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 4,
            "ExecutionRole": ROLE,
            "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]},
            "CapacityRequirements": {"OnDemand": {}},
            "InstanceStorageConfigs": [
                {
                    "FsxLustreConfig": {
                        "DnsName": FILE_SYSTEM,
                        "MountName": "abcdefgh",
                        "MountPath": "/data",
                    }
                },
                {"FsxOpenZfsConfig": {"DnsName": FILE_SYSTEM.replace("fs-0", "fs-1"), "MountPath": "/home"}},
            ],
        },
    ],
}

REQUESTS = {"eks": EKS_REQUEST, "slurm": SLURM_REQUEST}


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
