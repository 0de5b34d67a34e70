"""Every rule that the service does not write down: what it refuses, and what it must leave alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from cluster_requests import ABSENT, changed, eks_request, group, lines, scripted_request, slurm_request

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.instance_group import check_instance_group
from hyperpod_model.faults import UNKNOWN

CONTROLLER, LOGIN, WORKERS = (("InstanceGroups", index) for index in range(3))
VOLUMES = (*WORKERS, "InstanceStorageConfigs")
PARTITIONS = (*WORKERS, "SlurmConfig", "PartitionNames")
HOME = {"DnsName": "fs-0123456789abcdef1.fsx.us-west-2.amazonaws.com"}
DATABASE = {
    "Endpoint": "db.example.com",
    "SecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:db",
    "Name": "accounting",
}

REFUSED: list[tuple[str, Any, list[tuple[Any, ...]], list[str]]] = [
    # instance types
    (
        "two ways to say the type",
        slurm_request,
        [(*WORKERS, "InstanceRequirements", {"InstanceTypes": ["ml.p5.48xlarge"]})],
        ["error: InstanceGroups[2].InstanceRequirements: excludes instance_type; keep one of the two"],
    ),
    (
        "no type",
        slurm_request,
        [(*WORKERS, "InstanceType", ABSENT)],
        ["error: InstanceGroups[2].InstanceType: is required, such as 'ml.p5.48xlarge'"],
    ),
    (
        "mistyped type",
        slurm_request,
        [(*WORKERS, "InstanceType", "ml.p5.48xlrge")],
        [
            "error: InstanceGroups[2].InstanceType: must be an instance type of HyperPod, "
            "got 'ml.p5.48xlrge'; did you mean ml.p5.48xlarge"
        ],
    ),
    (
        "type without ml.",
        slurm_request,
        [(*WORKERS, "InstanceType", "p5.48xlarge")],
        [
            "error: InstanceGroups[2].InstanceType: must be an instance type of HyperPod, got 'p5.48xlarge'; "
            "did you mean ml.p5.48xlarge? vouch for a newer type in unlisted_instance_types"
        ],
    ),
    (
        "type that CloudFormation's own lint accepts",
        slurm_request,
        [(*LOGIN, "InstanceType", "ml.inf2.xlarge")],
        ["error: InstanceGroups[1].InstanceType: must be an instance type of HyperPod, got 'ml.inf2.xlarge'"],
    ),
    (
        "type twice",
        slurm_request,
        [
            (*LOGIN, "InstanceType", ABSENT),
            (*LOGIN, "InstanceRequirements", {"InstanceTypes": ["ml.m5.2xlarge", "ml.m5.2xlarge"]}),
        ],
        ["error: InstanceGroups[1].InstanceRequirements.InstanceTypes[1]: 'ml.m5.2xlarge' is listed twice; "],
    ),
    # sizes
    (
        "minimum over count",
        slurm_request,
        [(*WORKERS, "MinInstanceCount", 17)],
        ["error: InstanceGroups[2].MinInstanceCount: must not exceed instance_count 16, got 17"],
    ),
    (
        "empty new group",
        slurm_request,
        [(*LOGIN, "InstanceCount", 0)],
        ["warning: InstanceGroups[1].InstanceCount: is 0, while the documentation asks for at least 1"],
    ),
    # volumes
    (
        "root volume with a size",
        slurm_request,
        [(*VOLUMES, 0, "EbsVolumeConfig", "VolumeSizeInGB", 100)],
        [
            "error: InstanceGroups[2].InstanceStorageConfigs[0].EbsVolumeConfig.VolumeSizeInGB: "
            "does not go with a root volume, whose size HyperPod sets; "
        ],
    ),
    (
        "root volume without a key",
        slurm_request,
        [(*VOLUMES, 0, "EbsVolumeConfig", "VolumeKmsKeyId", ABSENT)],
        [
            "error: InstanceGroups[2].InstanceStorageConfigs[0].EbsVolumeConfig.VolumeKmsKeyId: "
            "is required for a root volume (root_volume_kms_key)"
        ],
    ),
    (
        "secondary volume without a size",
        slurm_request,
        [(*VOLUMES, 1, "EbsVolumeConfig", "VolumeSizeInGB", ABSENT)],
        [
            "error: InstanceGroups[2].InstanceStorageConfigs[1].EbsVolumeConfig.VolumeSizeInGB: "
            "is required for a secondary volume (secondary_volume_size_gib)"
        ],
    ),
    (
        "two secondary volumes",
        slurm_request,
        [(*VOLUMES, 3, {"EbsVolumeConfig": {"VolumeSizeInGB": 1, "RootVolume": False}})],
        ["error: InstanceGroups[2].InstanceStorageConfigs[3]: is a second secondary volume; "],
    ),
    (
        "two root volumes",
        slurm_request,
        [(*VOLUMES, 3, {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "k"}})],
        ["error: InstanceGroups[2].InstanceStorageConfigs[3]: is a second root volume; a group has at mo"],
    ),
    (
        "two Lustre file systems",
        slurm_request,
        [(*VOLUMES, 3, {"FsxLustreConfig": {**HOME, "MountName": "abc", "MountPath": "/scratch"}})],
        ["error: InstanceGroups[2].InstanceStorageConfigs[3]: is a second FSx for Lustre file system; "],
    ),
    (
        "two OpenZFS file systems",
        slurm_request,
        [
            (*VOLUMES, 3, {"FsxOpenZfsConfig": HOME}),
            (*VOLUMES, 2, {"FsxOpenZfsConfig": {**HOME, "MountPath": "/data"}}),
        ],
        ["error: InstanceGroups[2].InstanceStorageConfigs[3]: is a second FSx for OpenZFS file system; "],
    ),
    (
        "two kinds in one entry",
        slurm_request,
        [(*VOLUMES, 2, "FsxOpenZfsConfig", HOME)],
        [
            "error: InstanceGroups[2].InstanceStorageConfigs[2]: "
            "holds FsxLustreConfig and FsxOpenZfsConfig; give each its own entry"
        ],
    ),
    (
        "empty entry",
        slurm_request,
        [(*VOLUMES, 3, {})],
        ["error: InstanceGroups[2].InstanceStorageConfigs[3]: is empty; give one of EbsVolumeConfig, "],
    ),
    (
        "five entries",
        slurm_request,
        [(*VOLUMES, 3, UNKNOWN), (*VOLUMES, 4, UNKNOWN)],
        ["error: InstanceGroups[2].InstanceStorageConfigs: must have 0 to 4 items, got 5"],
    ),
    (
        "two file systems at one path",
        slurm_request,
        [(*VOLUMES, 3, {"FsxOpenZfsConfig": {**HOME, "MountPath": "/fsx"}})],
        [
            "error: InstanceGroups[2].InstanceStorageConfigs[3].FsxOpenZfsConfig.MountPath: "
            "'/fsx' is taken by the other file system; choose another"
        ],
    ),
    (
        "file system over the secondary volume",
        slurm_request,
        [(*VOLUMES, 2, "FsxLustreConfig", "MountPath", "/opt/sagemaker")],
        [
            "error: InstanceGroups[2].InstanceStorageConfigs[2].FsxLustreConfig.MountPath: "
            "'/opt/sagemaker' is taken by the secondary volume; choose another"
        ],
    ),
    # lifecycle scripts
    (
        "two scripts",
        slurm_request,
        [(*WORKERS, "LifeCycleConfig", "OnCreate", "on_create.sh")],
        ["error: InstanceGroups[2].LifeCycleConfig.OnInitComplete: excludes on_create: keep on_init_comp"],
    ),
    (
        "script without a location",
        slurm_request,
        [(*WORKERS, "LifeCycleConfig", "SourceS3Uri", ABSENT)],
        ["error: InstanceGroups[2].LifeCycleConfig.SourceS3Uri: is required for a script, such as "],
    ),
    (
        "location without a script",
        slurm_request,
        [(*WORKERS, "LifeCycleConfig", "OnInitComplete", ABSENT)],
        ["warning: InstanceGroups[2].LifeCycleConfig: names no script, so nothing runs; "],
    ),
    *(
        (
            f"script {name}",
            slurm_request,
            [(*WORKERS, "LifeCycleConfig", "OnInitComplete", name)],
            [
                "error: InstanceGroups[2].LifeCycleConfig.OnInitComplete: "
                f"must be the name of a file under source_s3_uri, got {name!r}"
            ],
        )
        for name in ("/on_init_complete.sh", "../on_init_complete.sh", "s3://bucket/on_init_complete.sh")
    ),
    (
        "script in a folder",
        slurm_request,
        [(*WORKERS, "LifeCycleConfig", "OnInitComplete", "scripts/run.sh")],
        [
            "warning: InstanceGroups[2].LifeCycleConfig.OnInitComplete: "
            "is documented as a file name, got the path 'scripts/run.sh'; "
        ],
    ),
    # Slurm
    (
        "compute group without a partition",
        slurm_request,
        [(*PARTITIONS, ABSENT)],
        ["error: InstanceGroups[2].SlurmConfig.PartitionNames: must name exactly 1 partition in a "],
    ),
    (
        "controller with a partition",
        slurm_request,
        [(*CONTROLLER, "SlurmConfig", "PartitionNames", ["train"])],
        [
            "error: InstanceGroups[0].SlurmConfig.PartitionNames: "
            "go with Compute groups only, got a Controller group; leave them out"
        ],
    ),
    (
        "login with a partition",
        slurm_request,
        [(*LOGIN, "SlurmConfig", "PartitionNames", ["train"])],
        ["error: InstanceGroups[1].SlurmConfig.PartitionNames: go with Compute groups only, got a Login"],
    ),
    *(
        (
            f"partition {name}",
            slurm_request,
            [(*PARTITIONS, 0, name)],
            [f"error: InstanceGroups[2].SlurmConfig.PartitionNames[0]: {name!r} is taken: {reason}"],
        )
        for name, reason in [
            ("dev", "HyperPod makes it and puts every compute node in it; choose another name"),
            ("hyperpod-system-maintenance", "HyperPod runs deep health checks in it"),
            ("DEFAULT", "Slurm reads PartitionName=DEFAULT as defaults"),
        ]
    ),
    (
        "illegal partition",
        slurm_request,
        [(*PARTITIONS, 0, "train_a")],
        ["error: InstanceGroups[2].SlurmConfig.PartitionNames[0]: must be letters, digits and hyphens, f"],
    ),
    (
        "two controller instances",
        slurm_request,
        [(*CONTROLLER, "InstanceCount", 2)],
        ["error: InstanceGroups[0].InstanceCount: must be 1 for the Controller group, got 2"],
    ),
    (
        "two controller groups",
        slurm_request,
        [(*LOGIN, "SlurmConfig", "NodeType", "Controller")],
        [
            "error: InstanceGroups[1].SlurmConfig.NodeType: "
            "is a second Controller; a cluster has exactly one, here instance_groups[0]"
        ],
    ),
    (
        "no controller",
        slurm_request,
        [
            (*CONTROLLER, "SlurmConfig", "NodeType", "Login"),
            (*LOGIN, "SlurmConfig", "NodeType", "Compute"),
            (*LOGIN, "SlurmConfig", "PartitionNames", ["cpu"]),
            (*VOLUMES, 2, ABSENT),
        ],
        ["error: InstanceGroups: no group is the Controller; give one group the slurm_node_type Controller"],
    ),
    (
        "a group without node type, which may be the controller, and mounts that HyperPod makes",
        slurm_request,
        [(*CONTROLLER, "SlurmConfig", ABSENT)],
        [
            "error: InstanceGroups[0].SlurmConfig: is missing, while other groups have it; "
            "give slurm_node_type to every group or to none"
        ],
    ),
    (
        "two partitions",
        slurm_request,
        [(*PARTITIONS, ["train", "other"])],
        [
            "error: InstanceGroups[2].SlurmConfig.PartitionNames: must name exactly 1 partition in a "
            "Compute group, got 2"
        ],
    ),
    (
        "two login groups",
        slurm_request,
        [("InstanceGroups", 3, group("login-2", "ml.m5.4xlarge", 1, SlurmConfig={"NodeType": "Login"}))],
        [
            "error: InstanceGroups[3].SlurmConfig.NodeType: "
            "is a second Login; a cluster has at most one Login group, raise its instance_count instead"
        ],
    ),
    (
        "node type on some groups",
        slurm_request,
        [(*LOGIN, "SlurmConfig", ABSENT)],
        ["error: InstanceGroups[1].SlurmConfig: is missing, while other groups have it; "],
    ),
    (
        "strategy with continuous provisioning",
        slurm_request,
        [("Orchestrator", "Slurm", "SlurmConfigStrategy", "Managed")],
        [
            "error: Orchestrator.Slurm.SlurmConfigStrategy: "
            "must be absent with node_provisioning_mode 'Continuous', got 'Managed'"
        ],
    ),
    (
        "no strategy without it",
        slurm_request,
        [
            ("NodeProvisioningMode", ABSENT),
            (*WORKERS, "MinInstanceCount", ABSENT),
            (*VOLUMES, 0, ABSENT),
            (*VOLUMES, 0, "EbsVolumeConfig", "VolumeKmsKeyId", ABSENT),
        ],
        ["warning: Orchestrator.Slurm.SlurmConfigStrategy: should be chosen, since its default is in doubt"],
    ),
    (
        "nothing configures Slurm",
        scripted_request,
        [(*WORKERS, "LifeCycleConfig", ABSENT)],
        ["warning: InstanceGroups[2].LifeCycleConfig: is missing, and without slurm_node_type nothing "],
    ),
    (
        "continuous provisioning without node types",
        scripted_request,
        [("NodeProvisioningMode", "Continuous")],
        ["warning: NodeProvisioningMode: 'Continuous' is documented on Slurm only with slurm_node_type on "],
    ),
    # deep health checks
    (
        "deep health checks on a CPU",
        slurm_request,
        [(*LOGIN, "OnStartDeepHealthChecks", ["InstanceStress"])],
        [
            "error: InstanceGroups[1].OnStartDeepHealthChecks: needs an accelerated instance type, got "
            "'ml.m5.4xlarge'; remove the checks or choose one of ml.p5.48xlarge, "
        ],
    ),
    (
        "deep health checks on Trainium with Slurm",
        slurm_request,
        [(*WORKERS, "InstanceType", "ml.trn1.32xlarge")],
        [
            "error: InstanceGroups[2].OnStartDeepHealthChecks: covers GPUs only on Slurm, got "
            "'ml.trn1.32xlarge'; remove the checks or choose one of ml.p5.48xlarge, "
        ],
    ),
    (
        "deep health check twice",
        slurm_request,
        [(*WORKERS, "OnStartDeepHealthChecks", ["InstanceStress", "InstanceStress"])],
        ["warning: InstanceGroups[2].OnStartDeepHealthChecks[1]: 'InstanceStress' is listed twice"],
    ),
    (
        "taints with deep health checks",
        eks_request,
        [("InstanceGroups", 0, "KubernetesConfig", "Taints", [{"Key": "a", "Effect": "NoSchedule"}])],
        ["error: InstanceGroups[0].KubernetesConfig.Taints: cannot be set on a group with deep_health_ch"],
    ),
    # capacity
    (
        "spot and on demand",
        slurm_request,
        [(*WORKERS, "CapacityRequirements", {"Spot": {}, "OnDemand": {}})],
        ["error: InstanceGroups[2].CapacityRequirements: holds both Spot and OnDemand; keep one"],
    ),
    (
        "threads of a type without multithreading",
        slurm_request,
        [(*LOGIN, "InstanceType", "ml.c6g.2xlarge"), (*LOGIN, "ThreadsPerCore", 2)],
        ["error: InstanceGroups[1].ThreadsPerCore: must be 1 for 'ml.c6g.2xlarge', got 2"],
    ),
    # the whole cluster
    (
        "no groups",
        slurm_request,
        [("InstanceGroups", ABSENT)],
        ["error: InstanceGroups: is required: at least one"],
    ),
    (
        "duplicate group names",
        slurm_request,
        [(*LOGIN, "InstanceGroupName", "workers")],
        ["error: InstanceGroups[2].InstanceGroupName: 'workers' is taken by instance_groups[1]; names are"],
    ),
    (
        "both orchestrators",
        slurm_request,
        [
            ("Orchestrator", "Eks", UNKNOWN),
            ("Orchestrator", "Slurm", {}),
            ("Orchestrator", "Eks", {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/training"}),
            *((*("InstanceGroups", index), "SlurmConfig", ABSENT) for index in range(3)),
            (*VOLUMES, 2, ABSENT),
        ],
        ["error: Orchestrator: holds both Eks and Slurm; keep one"],
    ),
    (
        "no orchestrator in it",
        scripted_request,
        [("Orchestrator", {})],
        ["error: Orchestrator: is empty; give Eks "],
    ),
    (
        "Kubernetes on Slurm",
        slurm_request,
        [(*WORKERS, "KubernetesConfig", {"Labels": {"a": "b"}})],
        ["error: InstanceGroups[2].KubernetesConfig: goes with the EKS orchestrator only; leave it out o"],
    ),
    (
        "image release on Slurm",
        slurm_request,
        [(*WORKERS, "ImageReleaseVersion", "1.2.3")],
        ["error: InstanceGroups[2].ImageReleaseVersion: goes with the EKS orchestrator only; "],
    ),
    (
        "Slurm on EKS",
        eks_request,
        [
            ("InstanceGroups", 0, "SlurmConfig", {"NodeType": "Controller"}),
            ("InstanceGroups", 0, "InstanceCount", 1),
            ("InstanceGroups", 0, "MinInstanceCount", 1),
        ],
        ["error: InstanceGroups[0].SlurmConfig: goes with the Slurm orchestrator only, got EKS"],
    ),
    (
        "tiered storage on Slurm",
        slurm_request,
        [("TieredStorageConfig", {"Mode": "Enable"})],
        ["error: TieredStorageConfig: managed tiered checkpointing goes with the EKS orchestrator only; "],
    ),
    (
        "little memory for tiered storage",
        eks_request,
        [("TieredStorageConfig", "InstanceMemoryAllocationPercentage", 19)],
        ["error: TieredStorageConfig.InstanceMemoryAllocationPercentage: must be 20 to 100, got 19"],
    ),
    (
        "too much memory for tiered storage",
        eks_request,
        [("TieredStorageConfig", "InstanceMemoryAllocationPercentage", 101)],
        ["error: TieredStorageConfig.InstanceMemoryAllocationPercentage: must be 0 to 100, got 101"],
    ),
    (
        "Karpenter on Slurm",
        slurm_request,
        [("AutoScaling", {"Mode": "Enable"}), ("ClusterRole", UNKNOWN)],
        ["error: AutoScaling: Karpenter goes with the EKS orchestrator only; leave it out on Slurm"],
    ),
    (
        "Karpenter without a role",
        eks_request,
        [("ClusterRole", ABSENT)],
        ["error: ClusterRole: is required with autoscaling: the role that HyperPod assumes to add nodes"],
    ),
    (
        "what needs continuous provisioning",
        slurm_request,
        [
            ("NodeProvisioningMode", ABSENT),
            ("Orchestrator", "Slurm", "SlurmConfigStrategy", "Merge"),
            ("Orchestrator", "Slurm", "AccountingDatabase", DATABASE),
            (*LOGIN, "InstanceType", ABSENT),
            (*LOGIN, "InstanceRequirements", {"InstanceTypes": ["ml.m5.4xlarge"]}),
        ],
        [
            f"error: {path}: needs node_provisioning_mode 'Continuous'; set it, or leave this out"
            for path in (
                "InstanceGroups[1].InstanceRequirements",
                "InstanceGroups[2].MinInstanceCount",
                "InstanceGroups[2].InstanceStorageConfigs[0].EbsVolumeConfig.VolumeKmsKeyId",
                "InstanceGroups[2].InstanceStorageConfigs[1].EbsVolumeConfig.VolumeKmsKeyId",
                "Orchestrator.Slurm.AccountingDatabase",
            )
        ],
    ),
    (
        "Karpenter without continuous provisioning",
        eks_request,
        [("NodeProvisioningMode", ABSENT), ("InstanceGroups", [group("g", "ml.p5.48xlarge", 1)])],
        ["error: AutoScaling: needs node_provisioning_mode 'Continuous'; set it, or leave this out"],
    ),
    (
        "subnets of a group without those of the cluster",
        slurm_request,
        [
            ("VpcConfig", ABSENT),
            (*VOLUMES, 2, ABSENT),
            (*WORKERS, "OverrideVpcConfig", {"Subnets": [UNKNOWN], "SecurityGroupIds": [UNKNOWN]}),
        ],
        ["error: InstanceGroups[2].OverrideVpcConfig: is allowed on Slurm only where the cluster itself"],
    ),
    (
        "EKS without a VPC",
        eks_request,
        [("VpcConfig", ABSENT)],
        ["error: VpcConfig: is required with the EKS orchestrator: the VPC of the EKS cluster"],
    ),
    (
        "mount without a VPC",
        slurm_request,
        [("VpcConfig", ABSENT)],
        [
            "error: InstanceGroups[2].InstanceStorageConfigs[2].FsxLustreConfig: "
            "needs the cluster in the file system's VPC; give it subnets and security groups"
        ],
    ),
    (
        "mount without node types",
        scripted_request,
        [(*WORKERS, "InstanceStorageConfigs", [{"FsxOpenZfsConfig": HOME}])],
        [
            "error: InstanceGroups[2].InstanceStorageConfigs[0].FsxOpenZfsConfig: "
            "is mounted by HyperPod only where a group has the slurm_node_type Controller; "
        ],
    ),
    (
        "seventeen subnets",
        slurm_request,
        [("VpcConfig", "Subnets", ["subnet-1"] * 17)],
        ["error: VpcConfig.Subnets: must have 1 to 16 items, got 17"],
    ),
    (
        "six security groups",
        slurm_request,
        [("VpcConfig", "SecurityGroupIds", ["sg-1"] * 6)],
        ["error: VpcConfig.SecurityGroupIds: must have 1 to 5 items, got 6"],
    ),
    (
        "recovery off",
        slurm_request,
        [("NodeRecovery", "None")],
        ["warning: NodeRecovery: 'None' only labels faulty nodes and repairs nothing, which AWS does not "],
    ),
    (
        "recovery mistyped",
        slurm_request,
        [("NodeRecovery", "automatic")],
        ["error: NodeRecovery: must be one of 'Automatic', 'None', got 'automatic'; did you mean 'Automa"],
    ),
    (
        "tag twice",
        slurm_request,
        [("Tags", 1, {"Key": "team", "Value": ""})],
        ["error: Tags[1].Key: 'team' is given twice, here and in tags[0]"],
    ),
    (
        "reserved tag",
        slurm_request,
        [("Tags", 0, "Key", "AWS:team")],
        ["error: Tags[0].Key: must not start with 'aws:', got 'AWS:team'"],
    ),
    (
        "fifty-one tags",
        slurm_request,
        [("Tags", [{"Key": str(n), "Value": ""} for n in range(51)])],
        ["error: Tags: must have 0 to 50 items, got 51"],
    ),
    (
        "plan of another region",
        slurm_request,
        [(*WORKERS, "TrainingPlanArn", "arn:aws:sagemaker:us-east-1:111122223333:training-plan/reserved-p5")],
        [
            "error: InstanceGroups[2].TrainingPlanArn: is of region 'us-east-1', "
            "the cluster is in 'us-west-2'; use a plan of the same region"
        ],
    ),
]


@pytest.mark.parametrize(
    ("make", "changes", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused(make: Any, changes: list[tuple[Any, ...]], expected: list[str]) -> None:
    found = lines(check_cluster(changed(make(), *changes), region="us-west-2"))
    assert len(found) == len(expected), found
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start), line


@pytest.mark.parametrize("make", [slurm_request, scripted_request, eks_request])
@pytest.mark.parametrize("region", [None, "us-west-2"])
def test_legal_requests_have_no_faults(make: Any, region: str | None) -> None:
    assert lines(check_cluster(make(), region=region)) == []


LEFT_ALONE: list[tuple[str, Any, list[tuple[Any, ...]]]] = [
    ("an empty list of storage", slurm_request, [(*VOLUMES, [])]),
    ("no login group", slurm_request, [(*LOGIN, ABSENT)]),
    ("several login instances", slurm_request, [(*LOGIN, "InstanceCount", 3)]),
    ("minimum equal to count", slurm_request, [(*WORKERS, "MinInstanceCount", 16)]),
    ("minimum zero", slurm_request, [(*WORKERS, "MinInstanceCount", 0)]),
    (
        "a group without scripts where HyperPod configures Slurm",
        slurm_request,
        [(*WORKERS, "LifeCycleConfig", ABSENT)],
    ),
    ("deep health checks off", slurm_request, [(*WORKERS, "OnStartDeepHealthChecks", ABSENT)]),
    (
        "trainium without checks",
        slurm_request,
        [(*WORKERS, "InstanceType", "ml.trn1.32xlarge"), (*WORKERS, "OnStartDeepHealthChecks", ABSENT)],
    ),
    ("trainium checked on EKS", eks_request, [("InstanceGroups", 0, "InstanceType", "ml.trn1.32xlarge")]),
    (
        "taints without checks",
        eks_request,
        [
            ("InstanceGroups", 0, "OnStartDeepHealthChecks", ABSENT),
            ("InstanceGroups", 0, "KubernetesConfig", "Taints", [{"Key": "a", "Effect": "NoSchedule"}]),
        ],
    ),
    (
        "strategy in classic mode",
        slurm_request,
        [
            ("NodeProvisioningMode", ABSENT),
            ("Orchestrator", "Slurm", "SlurmConfigStrategy", "Managed"),
            (*WORKERS, "MinInstanceCount", ABSENT),
            (*VOLUMES, ABSENT),
        ],
    ),
    (
        "secondary volume said to be none of root",
        slurm_request,
        [(*VOLUMES, 1, "EbsVolumeConfig", "RootVolume", False)],
    ),
    ("Lustre and OpenZFS at their own paths", slurm_request, [(*VOLUMES, 3, {"FsxOpenZfsConfig": HOME})]),
    ("tiered storage off on Slurm", slurm_request, [("TieredStorageConfig", {"Mode": "Disable"})]),
    ("autoscaling off on Slurm", slurm_request, [("AutoScaling", {"Mode": "Disable"})]),
    ("accounting database", slurm_request, [("Orchestrator", "Slurm", "AccountingDatabase", DATABASE)]),
    (
        "subnets of a group",
        slurm_request,
        [(*WORKERS, "OverrideVpcConfig", {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]})],
    ),
    ("no network of one's own", scripted_request, [("VpcConfig", ABSENT)]),
    (
        "twenty groups",
        slurm_request,
        [
            (
                "InstanceGroups",
                n,
                group(
                    f"g{n}", "ml.m5.large", 1, SlurmConfig={"NodeType": "Compute", "PartitionNames": ["cpu"]}
                ),
            )
            for n in range(3, 20)
        ],
    ),
    (
        "spot alone",
        slurm_request,
        [(*WORKERS, "CapacityRequirements", {"Spot": {}}), (*WORKERS, "TrainingPlanArn", ABSENT)],
    ),
    (
        "threads off on a type without multithreading",
        slurm_request,
        [(*LOGIN, "InstanceType", "ml.c6g.2xlarge"), (*LOGIN, "ThreadsPerCore", 1)],
    ),
    ("a partition that only resembles a reserved one", slurm_request, [(*PARTITIONS, 0, "dev-2")]),
    ("a tag that holds aws: further on", slurm_request, [("Tags", 0, "Key", "my:aws:tag")]),
]


@pytest.mark.parametrize(
    ("make", "changes"), [row[1:] for row in LEFT_ALONE], ids=[row[0] for row in LEFT_ALONE]
)
def test_left_alone(make: Any, changes: list[tuple[Any, ...]]) -> None:
    assert lines(check_cluster(changed(make(), *changes), region="us-west-2")) == []


@pytest.mark.parametrize(
    ("count", "severities"), [(20, []), (21, ["warning"]), (100, ["warning"]), (101, ["error", "warning"])]
)
def test_number_of_groups(count: int, severities: list[str]) -> None:
    scripts = {"SourceS3Uri": "s3://b/p", "OnCreate": "on_create.sh"}
    groups = [group(f"g{n}", "ml.m5.large", 1, LifeCycleConfig=scripts) for n in range(count)]
    faults = check_cluster(changed(scripted_request(), ("InstanceGroups", groups)))
    assert [fault.severity for fault in faults] == severities
    for fault in faults:
        assert fault.path == ("InstanceGroups",)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Any:
    if path:
        yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, (*path, name))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))


@pytest.mark.parametrize("make", [slurm_request, scripted_request, eks_request])
def test_anything_may_be_unknown(make: Any) -> None:
    for path in leaves(make()):
        request = changed(make(), (*path, UNKNOWN))
        assert lines(check_cluster(request, region="us-west-2")) == [], path


def test_a_whole_request_may_be_unknown_but_for_its_structure() -> None:
    unknown = dict.fromkeys(slurm_request(), UNKNOWN)
    assert check_cluster(unknown, region="us-west-2") == []


def test_a_copied_unknown_is_still_unknown() -> None:
    request = changed(slurm_request(), (*WORKERS, "InstanceType", UNKNOWN))
    assert lines(check_cluster(copy.deepcopy(request), region="us-west-2")) == []


def test_any_garbage_is_a_fault_and_no_exception() -> None:
    for garbage in (17, "text", None, [], {}, [1], {"a": 1}, True, 1.5):
        for path in leaves(slurm_request()):
            check_cluster(changed(slurm_request(), (*path, garbage)), region="us-west-2")


def test_every_path_is_of_the_request() -> None:
    for _, make, changes, _ in REFUSED:
        for fault in check_cluster(changed(make(), *changes), region="us-west-2"):
            assert fault.path, fault
            assert not fault.message.removesuffix("...").endswith("."), fault
            assert not fault.message[0].isupper() or fault.message.startswith(("HyperPod", "Karpenter")), (
                fault
            )


def test_groups_without_names_are_no_duplicates() -> None:
    request = changed(
        slurm_request(), (*LOGIN, "InstanceGroupName", ABSENT), (*WORKERS, "InstanceGroupName", ABSENT)
    )
    assert lines(check_cluster(request)) == [
        f"error: InstanceGroups[{index}].InstanceGroupName: is required" for index in (1, 2)
    ]


@pytest.mark.parametrize("arn", ["a", "a:b:c"])
def test_a_malformed_plan_is_a_fault_of_shape_only(arn: str) -> None:
    faults = check_cluster(changed(slurm_request(), (*WORKERS, "TrainingPlanArn", arn)), region="us-west-2")
    (message,) = [fault.message for fault in faults]
    assert message.startswith("must be a training plan ARN such as arn:aws:sagemaker:")
    assert message.endswith(f", got {arn!r}")


class TestInstanceGroupAlone:
    def test_paths_are_relative_to_the_group(self) -> None:
        made = group("g", "ml.m5.large", 1, OnStartDeepHealthChecks=["InstanceStress"])
        assert [fault.path for fault in check_instance_group(made)] == [("OnStartDeepHealthChecks",)]

    def test_the_shape_is_checked(self) -> None:
        faults = check_instance_group({"InstanceType": "ml.m5.large"})
        assert {fault.path for fault in faults} == {(name,) for name in instance_group().required}

    def test_a_type_can_be_vouched_for(self) -> None:
        made = group("g", "ml.p9.48xlarge", 1, OnStartDeepHealthChecks=["InstanceStress"])
        assert [fault.path for fault in check_instance_group(made)] == [("InstanceType",)]
        assert check_instance_group(made, unlisted_instance_types=["ml.p9.48xlarge"]) == []

    def test_a_known_type_is_checked_beside_an_unknown_one(self) -> None:
        made = group("g", "x", 1, OnStartDeepHealthChecks=["InstanceStress"])
        del made["InstanceType"]
        made["InstanceRequirements"] = {"InstanceTypes": [UNKNOWN, "ml.m5.large"]}
        assert [fault.path for fault in check_instance_group(made)] == [("OnStartDeepHealthChecks",)]
