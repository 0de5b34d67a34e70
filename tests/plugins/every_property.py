"""CreateCluster requests that say every property: one for each orchestrator."""

from __future__ import annotations

from typing import Any

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
