"""Faults of a request, said in the terms of the constructs' props."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_model.checks.reading import at
from hyperpod_model.faults import Fault, FaultPath, dotted

_CLUSTER_PROPS = {
    "ClusterName": "cluster_name",
    "InstanceGroups": "instance_groups",
    "NodeProvisioningMode": "node_provisioning_mode",
    "NodeRecovery": "resilience.node_recovery",
    "Orchestrator": "orchestrator",
    "Tags": "tags",
    "VpcConfig": "vpc_subnets",
}
_GROUP_PROPS = {
    "InstanceGroupName": "name",
    "InstanceType": "instance_type",
    "InstanceCount": "instance_count",
    "MinInstanceCount": "min_instance_count",
    "ThreadsPerCore": "threads_per_core",
    "ExecutionRole": "execution_role",
    "OnStartDeepHealthChecks": "deep_health_checks",
    "TrainingPlanArn": "training_plan_arn",
    "ImageId": "image_id",
}
_SCRIPT_PROPS = {"SourceS3Uri": "source_s3_uri", "OnCreate": "entry_point", "OnInitComplete": "entry_point"}


def cluster_label(request: Mapping[str, Any]) -> str:
    """Name a cluster, where its name is known at synthesis."""
    name = request.get("ClusterName")
    return f"cluster {name!r}" if isinstance(name, str) else "cluster"


def group_label(group: Mapping[str, Any], index: int | None = None) -> str:
    """Name an instance group: by its name, or by its place where the name exists only at deployment."""
    name = group.get("InstanceGroupName")
    if isinstance(name, str):
        return f"instance group {name!r}"
    return "instance group" if index is None else f"instance group #{index}"


def group_faults(faults: Iterable[Fault], group: Mapping[str, Any], index: int | None = None) -> list[Fault]:
    """Say faults of one group in terms of ``InstanceGroup``.

    Args:
        faults: Faults with paths relative to the group.
        group: The group in API terms.
        index: Place of the group in its cluster.
    """
    label = group_label(group, index)
    return [_said(fault, label, _group_prop(fault.path, group)) for fault in faults]


def cluster_faults(faults: Iterable[Fault], request: Mapping[str, Any]) -> list[Fault]:
    """Say faults of a request in terms of ``HyperPodCluster``."""
    label = cluster_label(request)
    said: list[Fault] = []
    for fault in faults:
        match fault.path:
            case ("InstanceGroups", int(index), *rest):
                group = request["InstanceGroups"][index]
                said += group_faults([fault._replace(path=tuple(rest))], group, index)
            case _:
                said.append(_said(fault, label, _cluster_prop(fault.path, request)))
    return said


def _said(fault: Fault, label: str, prop: str) -> Fault:
    return fault._replace(path=(label,), message=f"{prop} {fault.message}" if prop else fault.message)


def _cluster_prop(path: FaultPath, request: Mapping[str, Any]) -> str:
    match path:
        case ():
            return ""
        case ("Tags", int(index), *_):
            return f"tags[{at(request['Tags'][index], 'Key')!r}]"
        case ("VpcConfig", "SecurityGroupIds", *rest):
            return dotted(("security_groups", *rest))
        case ("VpcConfig", "Subnets", *rest):
            return dotted(("vpc_subnets", *rest))
        case ("Orchestrator", "Slurm", "SlurmConfigStrategy"):
            return "orchestrator strategy"
    return dotted((_CLUSTER_PROPS.get(str(path[0]), str(path[0])), *path[1:]))


def _group_prop(path: FaultPath, group: Mapping[str, Any]) -> str:
    match path:
        case ():
            return ""
        case ("InstanceStorageConfigs", int(index), *rest):
            return _volume_prop(group["InstanceStorageConfigs"][index], tuple(rest))
        case ("InstanceStorageConfigs",):
            return "storage"
        case ("SlurmConfig", "PartitionNames", *rest):
            return dotted(("partition_names", *rest))
        case ("SlurmConfig", *_):
            return "slurm_node_type"
        case ("LifeCycleConfig", *rest):
            return dotted(("lifecycle_scripts", *(_SCRIPT_PROPS[str(step)] for step in rest)))
    return dotted((_GROUP_PROPS.get(str(path[0]), str(path[0])), *path[1:]))


def _volume_prop(config: Mapping[str, Any], path: FaultPath) -> str:
    if "FsxLustreConfig" in config:
        return "file_system_mount_path" if path[-1:] == ("MountPath",) else "file_system"
    if at(config, "EbsVolumeConfig", "RootVolume") is True:
        return "root_volume_kms_key"
    return "secondary_volume_kms_key" if path[-1:] == ("VolumeKmsKeyId",) else "secondary_volume_size_gib"
