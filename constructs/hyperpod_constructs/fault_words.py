"""Faults of a request, said in the terms of the constructs' props."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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
    "AutoScaling": "auto_scaling",
    "ClusterRole": "auto_scaling.role",
    "RestrictedInstanceGroups": "restricted_instance_groups",
    "TieredStorageConfig": "tiered_checkpointing",
}
_DATABASE_PROPS = {"SecretArn": "secret", "Name": "database_name"}
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
    "ImageReleaseVersion": "image_release_version",
    "CapacityRequirements": "capacity_type",
    "NetworkInterface": "network_interface_type",
    "KubernetesConfig": "kubernetes_labels",
    "InstanceRequirements": "instance_types",
    "OverrideVpcConfig": "override_subnets",
    "EnvironmentConfig": "file_system",
    "AutoPatchConfig": "auto_patching",
    "ScheduledUpdateConfig": "scheduled_update",
}
_UPDATE_PROPS = {
    "PatchingStrategy": "strategy",
    "ScheduleExpression": "schedule_expression",
    "DeploymentConfig": "deployment",
    "MaximumBatchSize": "maximum_batch_size",
    "RollbackMaximumBatchSize": "rollback_maximum_batch_size",
    "WaitIntervalInSeconds": "wait_interval_seconds",
    "AutoRollbackConfiguration": "rollback_alarms",
    "Type": "type",
    "Value": "value",
}
_RESTRICTED_FILE_SYSTEM_PROPS = {
    "SizeInGiB": "storage_capacity_gib",
    "PerUnitStorageThroughput": "throughput_mbps_per_tib",
    "FSxLustreDeletionPolicy": "deletion_policy",
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


def restricted_group_label(group: Mapping[str, Any], index: int | None = None) -> str:
    """Name a restricted instance group as ``group_label`` names others."""
    return f"restricted {group_label(group, index)}"


def group_faults(
    faults: Iterable[Fault],
    group: Mapping[str, Any],
    index: int | None = None,
    *,
    has_own_mounts: bool = True,
) -> list[Fault]:
    """Say faults of one group in terms of ``InstanceGroup``.

    Args:
        faults: Faults with paths relative to the group.
        group: The group in API terms.
        index: Place of the group in its cluster.
        has_own_mounts: Whether Lustre file systems are the group's own. Otherwise they are the cluster's.
    """
    label = group_label(group, index)
    return [
        _said(fault, label, _group_prop(fault.path, group, has_own_mounts=has_own_mounts)) for fault in faults
    ]


def restricted_group_faults(
    faults: Iterable[Fault], group: Mapping[str, Any], index: int | None = None
) -> list[Fault]:
    """Say faults of one restricted group in terms of ``RestrictedInstanceGroup``.

    Args:
        faults: Faults with paths relative to the group.
        group: The group in API terms.
        index: Place of the group in its cluster.
    """
    label = restricted_group_label(group, index)
    return [_said(fault, label, _group_prop(fault.path, group)) for fault in faults]


def cluster_faults(
    faults: Iterable[Fault], request: Mapping[str, Any], *, groups_with_own_mounts: Collection[int] = ()
) -> list[Fault]:
    """Say faults of a request in terms of ``HyperPodCluster``.

    Args:
        faults: Faults of the request.
        request: The request.
        groups_with_own_mounts: Places of the groups whose Lustre file systems are their own.
    """
    label = cluster_label(request)
    said: list[Fault] = []
    for fault in faults:
        match fault.path:
            case ("InstanceGroups", int(index), *rest):
                group = request["InstanceGroups"][index]
                said += group_faults(
                    [fault._replace(path=tuple(rest))],
                    group,
                    index,
                    has_own_mounts=index in groups_with_own_mounts,
                )
            case ("RestrictedInstanceGroups", int(index), *rest):
                group = request["RestrictedInstanceGroups"][index]
                said += restricted_group_faults([fault._replace(path=tuple(rest))], group, index)
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
        case ("Orchestrator", "Slurm", "AccountingDatabase", *rest):
            members = [_DATABASE_PROPS.get(str(step), str(step).lower()) for step in rest]
            return dotted(("orchestrator accounting_database", *members))
        case ("Orchestrator", "Eks", *_):
            return "orchestrator control_plane"
        case ("TieredStorageConfig", "InstanceMemoryAllocationPercentage"):
            return "tiered_checkpointing.memory_percentage"
        case ("AutoScaling", "Mode"):
            return "auto_scaling.mode"
        case ("RestrictedInstanceGroupsConfig", *rest):
            return dotted(("restricted_environment", *_restricted_file_system(rest)))
    return dotted((_CLUSTER_PROPS.get(str(path[0]), str(path[0])), *path[1:]))


def _group_prop(path: FaultPath, group: Mapping[str, Any], *, has_own_mounts: bool = True) -> str:
    match path:
        case ():
            return ""
        case ("InstanceStorageConfigs", int(index), *rest):
            config = group["InstanceStorageConfigs"][index]
            if "FsxLustreConfig" in config and has_own_mounts:
                return "lustre_mounts"
            return _volume_prop(config, tuple(rest))
        case ("InstanceStorageConfigs",):
            return "storage"
        case ("SlurmConfig", "PartitionNames", *rest):
            return dotted(("partition_names", *rest))
        case ("SlurmConfig", *_):
            return "slurm_node_type"
        case ("InstanceRequirements", "InstanceTypes", *rest):
            return dotted(("instance_types", *rest))
        case ("CapacityRequirements" | "NetworkInterface" as member, *_):
            return _GROUP_PROPS[member]
        case ("KubernetesConfig", "Labels", str(key)):
            return f"kubernetes_labels[{key!r}]"
        case ("KubernetesConfig", "Taints", *rest):
            return dotted(("kubernetes_taints", *(_lower(step) for step in rest)))
        case ("OverrideVpcConfig", "SecurityGroupIds", *rest):
            return dotted(("override_security_groups", *rest))
        case ("OverrideVpcConfig", "Subnets", *rest):
            return dotted(("override_subnets", *rest))
        case ("EnvironmentConfig", str(member), *rest):
            return dotted(_restricted_file_system([member, *rest]))
        case ("AutoPatchConfig" | "ScheduledUpdateConfig" as member, *rest):
            steps = [step for step in rest if step not in ("RollingUpdatePolicy", "AlarmName")]
            return dotted((_GROUP_PROPS[member], *(_UPDATE_PROPS.get(str(step), step) for step in steps)))
        case ("LifeCycleConfig", *rest):
            return dotted(("lifecycle_scripts", *(_SCRIPT_PROPS[str(step)] for step in rest)))
    return dotted((_GROUP_PROPS.get(str(path[0]), str(path[0])), *path[1:]))


def _volume_prop(config: Mapping[str, Any], path: FaultPath) -> str:
    if "FsxLustreConfig" in config:
        return "file_system_mount_path" if path[-1:] == ("MountPath",) else "file_system"
    if "FsxOpenZfsConfig" in config:
        return "open_zfs_mounts"
    if at(config, "EbsVolumeConfig", "RootVolume") is True:
        return "root_volume_kms_key"
    return "secondary_volume_kms_key" if path[-1:] == ("VolumeKmsKeyId",) else "secondary_volume_size_gib"


def _restricted_file_system(path: list[str | int]) -> tuple[str, ...]:
    if "FSxLustreConfig" not in path:
        return tuple(_RESTRICTED_FILE_SYSTEM_PROPS[str(step)] for step in path[1:])
    place = path.index("FSxLustreConfig")
    return ("file_system", *(_RESTRICTED_FILE_SYSTEM_PROPS[str(step)] for step in path[place + 1 :]))


def _lower(step: str | int) -> str | int:
    return step.lower() if isinstance(step, str) else step
