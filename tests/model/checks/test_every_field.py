"""Rules of the rarer fields: what they refuse, and what they must leave alone."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_requests import ABSENT, ROLE, changed, eks_request, lines, scripted_request, slurm_request

from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.restricted_groups import check_restricted_group
from hyperpod_model.faults import UNKNOWN

WORKERS = ("InstanceGroups", 0)
BURST = ("InstanceGroups", 1)
SLURM_WORKERS = ("InstanceGroups", 2)
LABELS = (*WORKERS, "KubernetesConfig", "Labels")
TAINTS = (*BURST, "KubernetesConfig", "Taints")
SCHEDULE = {"ScheduleExpression": "cron(0 3 ? * SUN *)"}
TWO = {"Type": "INSTANCE_COUNT", "Value": 2}
BATCHES = {"RollingUpdatePolicy": {"MaximumBatchSize": TWO}}
ALARM = {"AlarmName": "loss"}
DATABASE = {
    "Endpoint": "db.example.com",
    "SecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:db",
    "Name": "accounting",
}
ENVIRONMENT = {"FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}}
SHARED = {"SharedEnvironmentConfig": {**ENVIRONMENT, "FSxLustreDeletionPolicy": "Keep"}}


def restricted(**members: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": "nova",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 4,
        "ExecutionRole": ROLE,
        "EnvironmentConfig": ENVIRONMENT,
        **members,
    }


REFUSED: list[tuple[str, Any, list[tuple[Any, ...]], list[str]]] = [
    (
        "two kinds of capacity",
        eks_request,
        [(*BURST, "CapacityRequirements", {"Spot": {}, "OnDemand": {}})],
        ["error: InstanceGroups[1].CapacityRequirements: holds both Spot and OnDemand; keep one"],
    ),
    (
        "no kind of capacity",
        eks_request,
        [(*BURST, "CapacityRequirements", {})],
        ["error: InstanceGroups[1].CapacityRequirements: is empty; give Spot or OnDemand"],
    ),
    (
        "Spot beside a training plan",
        eks_request,
        [(*WORKERS, "CapacityRequirements", {"Spot": {}})],
        ["warning: InstanceGroups[0].CapacityRequirements: asks for Spot capacity beside a training plan"],
    ),
    (
        "interfaces of no kind",
        eks_request,
        [(*WORKERS, "NetworkInterface", {})],
        [
            "error: InstanceGroups[0].NetworkInterface.InterfaceType: is required by CloudFormation, though "
            "not by the API: 'efa', 'efa-only'"
        ],
    ),
    (
        "EFA on a type without it",
        eks_request,
        [(*BURST, "InstanceType", "ml.g6.xlarge"), (*BURST, "NetworkInterface", {"InterfaceType": "efa"})],
        [
            "error: InstanceGroups[1].NetworkInterface.InterfaceType: 'efa' needs instance types with EFA, "
            "got 'ml.g6.xlarge'"
        ],
    ),
    (
        "long label name",
        eks_request,
        [(*LABELS, "example.com/" + "n" * 64, "x")],
        [
            "error: InstanceGroups[0].KubernetesConfig.Labels.example.com/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
            "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: must have at most 63 characters after its prefix, got 64"
        ],
    ),
    (
        "long label prefix",
        eks_request,
        [(*LABELS, "p" * 254 + "/n", "x")],
        [
            f"error: InstanceGroups[0].KubernetesConfig.Labels.{'p' * 254}/n: must have a prefix of at most "
            "253 characters, got 254"
        ],
    ),
    (
        "label of the service",
        eks_request,
        [(*LABELS, "sagemaker.amazonaws.com/node-health-status", "Schedulable")],
        [
            "warning: InstanceGroups[0].KubernetesConfig.Labels.sagemaker.amazonaws.com/node-health-status: "
            "'sagemaker.amazonaws.com/node-health-status' has the prefix of HyperPod's own labels"
        ],
    ),
    (
        "GPU partitions on several types",
        eks_request,
        [
            (*WORKERS, "InstanceType", ABSENT),
            (*WORKERS, "InstanceRequirements", {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5en.48xlarge"]}),
            (*LABELS, "nvidia.com/mig.config", "all-1g.10gb"),
        ],
        [
            "error: InstanceGroups[0].KubernetesConfig.Labels.nvidia.com/mig.config: partitions GPUs, which "
            "a group of several instance_types cannot"
        ],
    ),
    (
        "the same taint twice",
        eks_request,
        [
            (*BURST, "KubernetesConfig", {}),
            (
                *TAINTS,
                [
                    {"Key": "a", "Effect": "NoSchedule"},
                    {"Key": "a", "Effect": "NoExecute"},
                    {"Key": "a", "Effect": "NoSchedule", "Value": "b"},
                ],
            ),
        ],
        [
            "error: InstanceGroups[1].KubernetesConfig.Taints[2]: is a second taint of key 'a' and effect "
            "'NoSchedule'; a node has at most one"
        ],
    ),
    (
        "long taint name",
        eks_request,
        [(*BURST, "KubernetesConfig", {}), (*TAINTS, [{"Key": "n" * 64, "Effect": "NoExecute"}])],
        ["error: InstanceGroups[1].KubernetesConfig.Taints[0].Key: must have at most 63 characters"],
    ),
    (
        "more than the whole group",
        eks_request,
        [
            (
                *WORKERS,
                "AutoPatchConfig",
                {
                    "PatchingStrategy": "WhenIdle",
                    "DeploymentConfig": {
                        "RollingUpdatePolicy": {
                            "MaximumBatchSize": TWO,
                            "RollbackMaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 101},
                        }
                    },
                },
            )
        ],
        [
            "error: InstanceGroups[0].AutoPatchConfig.DeploymentConfig.RollingUpdatePolicy."
            "RollbackMaximumBatchSize.Value: must be 1 to 100 percent, got 101"
        ],
    ),
    (
        "the date of the next patch",
        eks_request,
        [
            (
                *WORKERS,
                "AutoPatchConfig",
                {"PatchingStrategy": "WhenIdle", "PatchSchedule": {"NextPatchDate": "2026-12-24T00:00:00Z"}},
            )
        ],
        [
            "error: InstanceGroups[0].AutoPatchConfig.PatchSchedule.NextPatchDate: is set by the service and "
            "read-only in CloudFormation; move it with the API, or leave it out"
        ],
    ),
    (
        "the same alarm twice",
        eks_request,
        [
            (
                *WORKERS,
                "ScheduledUpdateConfig",
                {
                    **SCHEDULE,
                    "DeploymentConfig": {**BATCHES, "AutoRollbackConfiguration": [ALARM, ALARM]},
                },
            )
        ],
        [
            "error: InstanceGroups[0].ScheduledUpdateConfig.DeploymentConfig.AutoRollbackConfiguration[1]: "
            "'loss' is listed twice"
        ],
    ),
    (
        "alarms without batches",
        eks_request,
        [
            (
                *WORKERS,
                "ScheduledUpdateConfig",
                {**SCHEDULE, "DeploymentConfig": {"AutoRollbackConfiguration": [ALARM]}},
            )
        ],
        [
            "warning: InstanceGroups[0].ScheduledUpdateConfig.DeploymentConfig.AutoRollbackConfiguration: "
            "is watched between batches only, and there are none; give maximum_batch_size"
        ],
    ),
    (
        "batches on Slurm",
        slurm_request,
        [(*SLURM_WORKERS, "ScheduledUpdateConfig", {**SCHEDULE, "DeploymentConfig": BATCHES})],
        [
            "error: InstanceGroups[2].ScheduledUpdateConfig.DeploymentConfig.RollingUpdatePolicy: updates in "
            "batches, which goes with the EKS orchestrator only; leave it out on Slurm"
        ],
    ),
    (
        "an image and a release",
        eks_request,
        [(*WORKERS, "ImageReleaseVersion", "1.2.3")],
        [
            "warning: InstanceGroups[0].ImageReleaseVersion: names a release of HyperPod's own image beside "
            "image_id 'ami-0123456789abcdef0'; keep one of the two"
        ],
    ),
    (
        "Karpenter without recovery",
        eks_request,
        [("NodeRecovery", "None")],
        [
            "warning: NodeRecovery: 'None' only labels faulty nodes",
            "error: NodeRecovery: must be 'Automatic' with autoscaling, got 'None'",
        ],
    ),
    (
        "nothing for Karpenter to scale",
        eks_request,
        [(*BURST, "InstanceCount", 1)],
        ["warning: AutoScaling: finds no group with instance_count 0: Karpenter takes over groups"],
    ),
    (
        "an empty group without Karpenter",
        eks_request,
        [("AutoScaling", "Mode", "Disable")],
        ["warning: InstanceGroups[1].InstanceCount: is 0, while the documentation asks for at least 1"],
    ),
    (
        "file system on EKS",
        eks_request,
        [
            (
                *BURST,
                "InstanceStorageConfigs",
                [{"FsxOpenZfsConfig": {"DnsName": "fs-0123456789abcdef1.fsx.us-west-2.amazonaws.com"}}],
            )
        ],
        [
            "error: InstanceGroups[1].InstanceStorageConfigs[0].FsxOpenZfsConfig: is mounted by HyperPod on "
            "Slurm only; on EKS pods mount it with its CSI driver"
        ],
    ),
    (
        "accounting database of no name",
        slurm_request,
        [
            (
                "Orchestrator",
                "Slurm",
                "AccountingDatabase",
                {name: DATABASE[name] for name in ("Endpoint", "SecretArn")},
            )
        ],
        [
            "warning: Orchestrator.Slurm.AccountingDatabase.Name: should be given, since its default is in "
            "doubt: CloudFormation says slurm_acct_db, API says slurm_acct_db_<cluster id>"
        ],
    ),
    (
        "accounting database of scripts",
        scripted_request,
        [
            ("NodeProvisioningMode", "Continuous"),
            ("Orchestrator", {"Slurm": {"AccountingDatabase": DATABASE}}),
        ],
        [
            "error: Orchestrator.Slurm.AccountingDatabase: needs HyperPod to configure Slurm; give "
            "slurm_node_type to the groups, or leave it out",
            "warning: NodeProvisioningMode: 'Continuous' is documented on Slurm only with",
        ],
    ),
    (
        "restricted groups on Slurm",
        slurm_request,
        [("RestrictedInstanceGroups", [restricted()])],
        ["warning: RestrictedInstanceGroups: are documented with the EKS orchestrator only"],
    ),
    (
        "a key for a restricted volume",
        eks_request,
        [
            (
                "RestrictedInstanceGroups",
                [
                    restricted(
                        InstanceStorageConfigs=[
                            {"EbsVolumeConfig": {"VolumeSizeInGB": 100, "VolumeKmsKeyId": "alias/k"}}
                        ]
                    )
                ],
            )
        ],
        [
            "error: RestrictedInstanceGroups[0].InstanceStorageConfigs[0].EbsVolumeConfig.VolumeKmsKeyId: "
            "does not go with restricted groups"
        ],
    ),
    (
        "deep checks of restricted CPUs",
        eks_request,
        [
            (
                "RestrictedInstanceGroups",
                [restricted(InstanceType="ml.m5.large", OnStartDeepHealthChecks=["InstanceStress"])],
            )
        ],
        [
            "error: RestrictedInstanceGroups[0].OnStartDeepHealthChecks: needs an accelerated instance type, "
            "got 'ml.m5.large'"
        ],
    ),
    (
        "restricted group without a file system",
        eks_request,
        [("RestrictedInstanceGroups", [restricted(EnvironmentConfig=None)])],
        ["warning: RestrictedInstanceGroups[0].EnvironmentConfig: is missing, and so is a shared"],
    ),
    (
        "shared by nobody",
        eks_request,
        [("RestrictedInstanceGroupsConfig", SHARED)],
        ["warning: RestrictedInstanceGroupsConfig: is shared by restricted groups, and there are none"],
    ),
]


@pytest.mark.parametrize(
    ("make", "changes", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused(make: Any, changes: list[tuple[Any, ...]], expected: list[str]) -> None:
    found = lines(check_cluster(changed(make(), *changes), region="us-west-2"))
    assert len(found) == len(expected), found
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start)
        assert not line.removesuffix("...").endswith(".")


LEFT_ALONE: list[tuple[str, Any, list[tuple[Any, ...]]]] = [
    ("Spot", eks_request, [(*BURST, "CapacityRequirements", {"Spot": {}})]),
    ("on demand beside a plan", eks_request, [(*WORKERS, "CapacityRequirements", {"OnDemand": {}})]),
    ("capacity that is not known", eks_request, [(*BURST, "CapacityRequirements", {"Spot": UNKNOWN})]),
    ("EFA alone", eks_request, [(*WORKERS, "NetworkInterface", {"InterfaceType": "efa-only"})]),
    ("interfaces that are not known", eks_request, [(*WORKERS, "NetworkInterface", UNKNOWN)]),
    (
        "EFA on a type of which nothing is known",
        eks_request,
        [(*WORKERS, "InstanceType", UNKNOWN), (*WORKERS, "NetworkInterface", {"InterfaceType": "efa"})],
    ),
    (
        "EFA on a type whose count is in doubt",
        eks_request,
        [(*BURST, "InstanceType", "ml.g7.12xlarge"), (*BURST, "NetworkInterface", {"InterfaceType": "efa"})],
    ),
    ("longest key", eks_request, [(*LABELS, "a" * 253 + "/" + "n" * 63, "v" * 63)]),
    ("GPU partitions of one type", eks_request, [(*LABELS, "nvidia.com/mig.config", "all-1g.10gb")]),
    ("labels that are not known", eks_request, [(*LABELS[:-1], "Labels", UNKNOWN)]),
    (
        "half the group",
        eks_request,
        [
            (
                *WORKERS,
                "ScheduledUpdateConfig",
                {
                    **SCHEDULE,
                    "DeploymentConfig": {
                        "RollingUpdatePolicy": {
                            "MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 100},
                            "RollbackMaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 101},
                        },
                        "WaitIntervalInSeconds": 0,
                        "AutoRollbackConfiguration": [ALARM, {"AlarmName": UNKNOWN}, {"AlarmName": UNKNOWN}],
                    },
                },
            )
        ],
    ),
    ("a schedule on Slurm", slurm_request, [(*SLURM_WORKERS, "ScheduledUpdateConfig", SCHEDULE)]),
    (
        "the default image and a release",
        eks_request,
        [(*WORKERS, "ImageId", "default"), (*WORKERS, "ImageReleaseVersion", "1.2.3")],
    ),
    ("counts that are not known", eks_request, [(*BURST, "InstanceCount", UNKNOWN)]),
    ("autoscaling that is not known", eks_request, [("AutoScaling", "Mode", UNKNOWN)]),
    ("accounting database", slurm_request, [("Orchestrator", "Slurm", "AccountingDatabase", DATABASE)]),
    (
        "accounting database that is not known",
        slurm_request,
        [("Orchestrator", "Slurm", "AccountingDatabase", UNKNOWN)],
    ),
    ("restricted groups", eks_request, [("RestrictedInstanceGroups", [restricted()])]),
    (
        "restricted groups with a shared file system",
        eks_request,
        [
            ("RestrictedInstanceGroups", [restricted(EnvironmentConfig=None)]),
            ("RestrictedInstanceGroupsConfig", SHARED),
        ],
    ),
    ("restricted groups that are not known", eks_request, [("RestrictedInstanceGroups", UNKNOWN)]),
    (
        "a shared environment that is not known",
        eks_request,
        [
            ("RestrictedInstanceGroups", [restricted(EnvironmentConfig=None)]),
            ("RestrictedInstanceGroupsConfig", UNKNOWN),
        ],
    ),
]


@pytest.mark.parametrize(
    ("make", "changes"), [row[1:] for row in LEFT_ALONE], ids=[row[0] for row in LEFT_ALONE]
)
def test_left_alone(make: Any, changes: list[tuple[Any, ...]]) -> None:
    assert lines(check_cluster(changed(make(), *changes), region="us-west-2")) == []


def test_a_restricted_group_alone() -> None:
    assert check_restricted_group(restricted()) == []
    faults = check_restricted_group(restricted(InstanceCount=-1, InstanceType="ml.p9.48xlarge"))
    assert {fault.path for fault in faults} == {("InstanceCount",), ("InstanceType",)}
    assert (
        check_restricted_group(
            restricted(InstanceType="ml.p9.48xlarge"), unlisted_instance_types=["ml.p9.48xlarge"]
        )
        == []
    )


def test_garbage_is_a_fault_and_no_exception() -> None:
    for garbage in (17, "text", None, [], {}, [1], {"a": 1}, True, 1.5):
        for name in (
            "AutoPatchConfig",
            "ScheduledUpdateConfig",
            "NetworkInterface",
            "CapacityRequirements",
            "KubernetesConfig",
        ):
            check_cluster(changed(eks_request(), (*WORKERS, name, garbage)), region="us-west-2")
        for name in ("RestrictedInstanceGroups", "RestrictedInstanceGroupsConfig", "AutoScaling"):
            check_cluster(changed(eks_request(), (name, garbage)), region="us-west-2")
        check_cluster(changed(eks_request(), ("RestrictedInstanceGroups", [garbage])))


API_ONLY = [
    (*WORKERS, "AutoPatchConfig", {"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 3600}),
    (
        *WORKERS,
        "AutoPatchConfig",
        {"PatchingStrategy": "WhenIdle", "DrainPolicy": {"OnDrainTimeout": "Skip"}},
    ),
    (*WORKERS, "AutoPatchConfig", {"PatchingStrategy": "DrainFirst"}),
    (*WORKERS, "OnStartDeepHealthChecks", ["MultiNodeTrainingValidation"]),
    ("RestrictedInstanceGroups", [restricted(ScheduledUpdateConfig=SCHEDULE)]),
]


@pytest.mark.parametrize("change", API_ONLY)
def test_what_only_the_api_knows_is_refused(change: tuple[Any, ...]) -> None:
    (line,) = lines(check_cluster(changed(eks_request(), change), region="us-west-2"))
    assert line.startswith("error: ")
    assert "known to the API only" in line


STRICTER_THAN_CLOUDFORMATION = [
    # The registry's schema takes these; the API, which CloudFormation calls, does not.
    (
        [
            ("RestrictedInstanceGroups", [restricted()]),
            (
                "RestrictedInstanceGroupsConfig",
                {"SharedEnvironmentConfig": {"FSxLustreDeletionPolicy": "Keep"}},
            ),
        ],
        "RestrictedInstanceGroupsConfig.SharedEnvironmentConfig.FSxLustreConfig: is required",
    ),
    (
        [
            (
                *WORKERS,
                "ScheduledUpdateConfig",
                {
                    **SCHEDULE,
                    "DeploymentConfig": {**BATCHES, "AutoRollbackConfiguration": [{"AlarmName": "a" * 256}]},
                },
            )
        ],
        "AutoRollbackConfiguration[0].AlarmName: must have 1 to 255 characters, got 256",
    ),
    (
        [("Orchestrator", {"Eks": {"ClusterArn": "training"}})],
        "Orchestrator.Eks.ClusterArn: must be an EKS cluster ARN, got 'training'",
    ),
    (
        [(*LABELS[:-1], "Labels", {f"a{n}": "b" for n in range(51)})],
        "InstanceGroups[0].KubernetesConfig.Labels: must have 0 to 50 entries, got 51",
    ),
    ([("ClusterName", ABSENT)], "ClusterName: is required"),
]


@pytest.mark.parametrize(("changes", "expected"), STRICTER_THAN_CLOUDFORMATION)
def test_the_api_is_stricter_than_the_registry(changes: list[tuple[Any, ...]], expected: str) -> None:
    found = lines(check_cluster(changed(eks_request(), *changes), region="us-west-2"))
    assert any(line.startswith("error: ") and expected in line for line in found), found
