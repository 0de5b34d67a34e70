"""What excludes each other in a cluster is found in templates, in each branch of a condition."""

from __future__ import annotations

import copy

import pytest

ID = "ClusterRequest"
ABSENT = {"Ref": "AWS::NoValue"}
DATABASE = {"Endpoint": "db.example.com", "Name": "slurm", "CredentialsSecretArn": "x"}


def _placed(properties, path, value):
    *steps, last = path
    place = properties
    for step in steps:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    place[last] = value


GROUP = ("InstanceGroups", 1)
CONTRADICTIONS = {
    # on Slurm
    "tiered storage on Slurm": (
        "slurm",
        {("TieredStorageConfig",): {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20}},
        ("TieredStorageConfig",),
        "goes with the EKS orchestrator only",
    ),
    "deep checks of a CPU group": (
        "slurm",
        {("InstanceGroups", 0, "OnStartDeepHealthChecks"): ["InstanceStress"]},
        ("InstanceGroups", 0, "OnStartDeepHealthChecks"),
        "needs an accelerated instance type",
    ),
    "deep checks of Trainium on Slurm": (
        "slurm",
        {(*GROUP, "InstanceType"): "ml.trn1.32xlarge"},
        (*GROUP, "OnStartDeepHealthChecks"),
        "covers GPUs only on Slurm",
    ),
    "strategy with Continuous": (
        "slurm",
        {("Orchestrator", "Slurm", "SlurmConfigStrategy"): "Managed"},
        ("Orchestrator", "Slurm", "SlurmConfigStrategy"),
        "must be absent with NodeProvisioningMode 'Continuous', got 'Managed'",
    ),
    "least count without Continuous": (
        "slurm",
        {("NodeProvisioningMode",): ABSENT, (*GROUP, "MinInstanceCount"): 4},
        (*GROUP, "MinInstanceCount"),
        "needs NodeProvisioningMode 'Continuous'",
    ),
    "several types without Continuous": (
        "slurm",
        {
            ("NodeProvisioningMode",): ABSENT,
            (*GROUP, "InstanceType"): ABSENT,
            (*GROUP, "InstanceRequirements"): {"InstanceTypes": ["ml.p5.48xlarge"]},
        },
        (*GROUP, "InstanceRequirements"),
        "needs NodeProvisioningMode 'Continuous'",
    ),
    "own volume key without Continuous": (
        "slurm",
        {
            ("NodeProvisioningMode",): ABSENT,
            (*GROUP, "InstanceStorageConfigs"): [
                {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": "alias/x"}}
            ],
        },
        (*GROUP, "InstanceStorageConfigs", 0, "EbsVolumeConfig", "VolumeKmsKeyId"),
        "needs NodeProvisioningMode 'Continuous'",
    ),
    "accounting database without Continuous": (
        "slurm",
        {("NodeProvisioningMode",): ABSENT, ("Orchestrator", "Slurm", "AccountingDatabase"): DATABASE},
        ("Orchestrator", "Slurm", "AccountingDatabase"),
        "needs NodeProvisioningMode 'Continuous'",
    ),
    "autoscaling on Slurm": (
        "slurm",
        {("AutoScaling",): {"Mode": "Enable"}},
        ("AutoScaling",),
        "Karpenter goes with the EKS orchestrator only",
    ),
    "no controller": (
        "slurm",
        {("InstanceGroups", 0, "SlurmConfig"): {"NodeType": "Login"}},
        ("InstanceGroups",),
        "Controller",
    ),
    "two controllers": (
        "slurm",
        {(*GROUP, "SlurmConfig"): {"NodeType": "Controller"}, (*GROUP, "InstanceCount"): 1},
        (*GROUP, "SlurmConfig", "NodeType"),
        "is a second Controller",
    ),
    "a controller of two nodes": (
        "slurm",
        {("InstanceGroups", 0, "InstanceCount"): 2},
        ("InstanceGroups", 0, "InstanceCount"),
        "must be 1 for the Controller group, got 2",
    ),
    "a worker without partition": (
        "slurm",
        {(*GROUP, "SlurmConfig"): {"NodeType": "Compute"}},
        (*GROUP, "SlurmConfig", "PartitionNames"),
        "must name exactly 1 partition in a Compute group, got 0",
    ),
    "a worker with two partitions": (
        "slurm",
        {(*GROUP, "SlurmConfig", "PartitionNames"): ["a", "b"]},
        (*GROUP, "SlurmConfig", "PartitionNames"),
        "got 2",
    ),
    "a controller with a partition": (
        "slurm",
        {("InstanceGroups", 0, "SlurmConfig", "PartitionNames"): ["train"]},
        ("InstanceGroups", 0, "SlurmConfig", "PartitionNames"),
        "go with Compute groups only",
    ),
    "a group without node type": (
        "slurm",
        {(*GROUP, "SlurmConfig"): ABSENT},
        (*GROUP, "SlurmConfig"),
        "is missing, while other groups have it",
    ),
    "type and requirements": (
        "slurm",
        {(*GROUP, "InstanceRequirements"): {"InstanceTypes": ["ml.p5.48xlarge"]}},
        (*GROUP, "InstanceRequirements"),
        "excludes InstanceType; keep one of the two",
    ),
    "both scripts": (
        "slurm",
        {(*GROUP, "LifeCycleConfig", "OnCreate"): "on_create.sh"},
        (*GROUP, "LifeCycleConfig", "OnInitComplete"),
        "excludes OnCreate",
    ),
    "root volume with a size": (
        "slurm",
        {
            (*GROUP, "InstanceStorageConfigs"): [
                {"EbsVolumeConfig": {"RootVolume": True, "VolumeSizeInGB": 9, "VolumeKmsKeyId": "alias/x"}}
            ]
        },
        (*GROUP, "InstanceStorageConfigs", 0, "EbsVolumeConfig", "VolumeSizeInGB"),
        "does not go with a root volume",
    ),
    "two volumes in an entry": (
        "slurm",
        {
            (*GROUP, "InstanceStorageConfigs"): [
                {
                    "EbsVolumeConfig": {"VolumeSizeInGB": 9},
                    "FsxLustreConfig": {"DnsName": "fs-0123456789abcdef0.x", "MountName": "x"},
                }
            ]
        },
        (*GROUP, "InstanceStorageConfigs", 0),
        "give each its own entry",
    ),
    "Spot and on demand": (
        "slurm",
        {(*GROUP, "CapacityRequirements"): {"Spot": {}, "OnDemand": {}}},
        (*GROUP, "CapacityRequirements"),
        "holds both Spot and OnDemand",
    ),
    "both orchestrators": (
        "slurm",
        {("Orchestrator", "Eks"): {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/x"}},
        ("Orchestrator",),
        "holds both Eks and Slurm",
    ),
    "more at least than at all": (
        "slurm",
        {(*GROUP, "MinInstanceCount"): 17},
        (*GROUP, "MinInstanceCount"),
        "must not exceed InstanceCount 16, got 17",
    ),
    # on EKS
    "too small a share of memory": (
        "eks",
        {("TieredStorageConfig", "InstanceMemoryAllocationPercentage"): 19},
        ("TieredStorageConfig", "InstanceMemoryAllocationPercentage"),
        "must be 20 to 100, got 19",
    ),
    "autoscaling without Continuous": (
        "eks",
        {
            ("NodeProvisioningMode",): ABSENT,
            ("AutoScaling",): {"Mode": "Enable", "AutoScalerType": "Karpenter"},
            ("ClusterRole",): "arn:aws:iam::111122223333:role/Karpenter",
        },
        ("AutoScaling",),
        "needs NodeProvisioningMode 'Continuous'",
    ),
    "autoscaling without recovery": (
        "eks",
        {
            ("AutoScaling",): {"Mode": "Enable", "AutoScalerType": "Karpenter"},
            ("ClusterRole",): "arn:aws:iam::111122223333:role/Karpenter",
            ("NodeRecovery",): "None",
        },
        ("NodeRecovery",),
        "must be 'Automatic' with autoscaling",
    ),
    "node type with EKS": (
        "eks",
        {(*GROUP, "SlurmConfig"): {"NodeType": "Compute", "PartitionNames": ["train"]}},
        (*GROUP, "SlurmConfig"),
        "goes with the Slurm orchestrator only",
    ),
    "taints beside deep checks": (
        "eks",
        {(*GROUP, "KubernetesConfig"): {"Taints": [{"Key": "a", "Value": "b", "Effect": "NoSchedule"}]}},
        (*GROUP, "KubernetesConfig", "Taints"),
        "cannot be set on a group with OnStartDeepHealthChecks",
    ),
}


@pytest.fixture(params=list(CONTRADICTIONS))
def contradiction(request, template, eks_template):
    kind, changes, path, words = CONTRADICTIONS[request.param]
    return (template if kind == "slurm" else eks_template), changes, path, words


def _found(report, path, words):
    return [finding for finding in report.failures if finding.path == path and words in finding.message]


def test_a_contradiction_is_found_at_its_place(judge, contradiction):
    template, changes, path, words = contradiction
    for where, value in changes.items():
        _placed(template["Resources"]["Cluster"]["Properties"], where, value)
    report = judge(ID, template)
    assert _found(report, path, words), report.text()


def test_a_contradiction_in_one_branch_says_when(judge, contradiction):
    template, changes, path, words = contradiction
    plain = copy.deepcopy(template)
    template["Conditions"] = {"Odd": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    properties = template["Resources"]["Cluster"]["Properties"]
    for where, value in changes.items():
        before = _value(plain["Resources"]["Cluster"]["Properties"], where)
        _placed(properties, where, {"Fn::If": ["Odd", value, before]})
    report = judge(ID, template)
    found = _found(report, path, words)
    assert found, report.text()
    assert {finding.when for finding in report.failures} == {"condition Odd is true"}


def _value(properties, path):
    place = properties
    for step in path:
        if isinstance(place, dict) and step not in place:
            return ABSENT
        place = place[step]
    return place
