"""Legal CreateCluster requests, and a way to change them at one place."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from hyperpod_model.faults import Fault

ROLE = "arn:aws:iam::111122223333:role/hp-exec"
ABSENT = object()


def group(name: str, instance_type: str, count: int, **members: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "InstanceCount": count,
        "ExecutionRole": ROLE,
        **members,
    }


def slurm_request() -> dict[str, Any]:
    """HyperPod configures Slurm, continuous provisioning."""
    scripts = {"SourceS3Uri": "s3://sagemaker-scripts/abc/", "OnInitComplete": "on_init_complete.sh"}
    return {
        "ClusterName": "llm-train",
        "NodeRecovery": "Automatic",
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Slurm": {}},
        "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]},
        "InstanceGroups": [
            group(
                "controller",
                "ml.m5.2xlarge",
                1,
                SlurmConfig={"NodeType": "Controller"},
                LifeCycleConfig=scripts,
            ),
            group("login", "ml.m5.4xlarge", 1, SlurmConfig={"NodeType": "Login"}, LifeCycleConfig=scripts),
            group(
                "workers",
                "ml.p5.48xlarge",
                16,
                ThreadsPerCore=1,
                MinInstanceCount=8,
                SlurmConfig={"NodeType": "Compute", "PartitionNames": ["train"]},
                LifeCycleConfig=scripts,
                OnStartDeepHealthChecks=["InstanceStress", "InstanceConnectivity"],
                TrainingPlanArn="arn:aws:sagemaker:us-west-2:111122223333:training-plan/reserved-p5",
                ImageId="ami-0123456789abcdef0",
                InstanceStorageConfigs=[
                    {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "alias/root"}},
                    {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": "alias/second"}},
                    {
                        "FsxLustreConfig": {
                            "DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
                            "MountName": "abcdefgh",
                            "MountPath": "/fsx",
                        }
                    },
                ],
            ),
        ],
        "Tags": [{"Key": "team", "Value": "pre-training"}],
    }


def scripted_request() -> dict[str, Any]:
    """Lifecycle scripts configure Slurm, classic provisioning: the request of the usual tutorials."""
    scripts = {"SourceS3Uri": "s3://my-bucket/lifecycle/", "OnCreate": "on_create.sh"}
    request = slurm_request()
    return {
        "ClusterName": request["ClusterName"],
        "NodeRecovery": "Automatic",
        "VpcConfig": request["VpcConfig"],
        "InstanceGroups": [
            group("controller", "ml.m5.2xlarge", 1, LifeCycleConfig=scripts),
            group("login", "ml.m5.4xlarge", 1, LifeCycleConfig=scripts),
            group(
                "workers",
                "ml.p5.48xlarge",
                16,
                ThreadsPerCore=1,
                LifeCycleConfig=scripts,
                OnStartDeepHealthChecks=["InstanceStress", "InstanceConnectivity"],
            ),
        ],
    }


def eks_request() -> dict[str, Any]:
    """The EKS orchestrator with what goes with it alone."""
    request = slurm_request()
    for member in request["InstanceGroups"]:
        del member["SlurmConfig"]
    workers = request["InstanceGroups"].pop()
    del workers["InstanceStorageConfigs"][2]
    workers["KubernetesConfig"] = {"Labels": {"team": "pre-training"}}
    return {
        **request,
        "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/training"}},
        "InstanceGroups": [
            workers,
            group("burst", "ml.m5.xlarge", 0, LifeCycleConfig=workers["LifeCycleConfig"]),
        ],
        "TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20},
        "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
        "ClusterRole": ROLE,
    }


def changed(request: dict[str, Any], *changes: tuple[Any, ...]) -> dict[str, Any]:
    """Copy a request with values set: each change is a path and, last, the value; ABSENT deletes."""
    result = copy.copy(_copied(request))
    for *path, last, value in changes:
        at = result
        for step in path:
            at = at[step]
        if value is ABSENT:
            del at[last]
        elif isinstance(at, list) and last == len(at):
            at.append(value)
        else:
            at[last] = value
    return result


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def lines(faults: Iterable[Fault]) -> list[str]:
    """Faults as text with their severity."""
    return [f"{fault.severity}: {fault}" for fault in faults]
