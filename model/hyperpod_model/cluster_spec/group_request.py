"""Instance groups in the terms of a ``CreateCluster`` request, and back from the request's paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hyperpod_model.cluster_spec.deep_health_checks import deep_health_checks_of
from hyperpod_model.cluster_spec.lifecycle_hooks import HOOK_FIELDS, hook_of
from hyperpod_model.cluster_spec.software_update_request import (
    auto_patching_of,
    scheduled_update_of,
    software_update_path,
)
from hyperpod_model.cluster_spec.storage_request import volume_path, volumes_of
from hyperpod_model.faults import UNKNOWN, FaultPath
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec
    from hyperpod_model.cluster_spec.instance_group import InstanceGroupSpec
    from hyperpod_model.cluster_spec.restricted_instance_group import RestrictedInstanceGroupSpec

_FIELDS = {
    "InstanceGroupName": "name",
    "InstanceType": "instance_type",
    "InstanceCount": "instance_count",
    "MinInstanceCount": "min_instance_count",
    "ThreadsPerCore": "threads_per_core",
    "TrainingPlanArn": "training_plan_arn",
    "ImageId": "image_id",
    "ImageReleaseVersion": "image_release_version",
    "OnStartDeepHealthChecks": "deep_health_checks",
    "ExecutionRole": "execution_role_arn",
}
_SLURM_FIELDS = {"NodeType": "node_type", "PartitionNames": "partition_names"}
_OVERRIDE_FIELDS = {"Subnets": "override_subnet_ids", "SecurityGroupIds": "override_security_group_ids"}
_UPDATE_FIELDS = {"AutoPatchConfig": "auto_patching", "ScheduledUpdateConfig": "scheduled_update"}
_FILE_SYSTEM_FIELDS = {
    "SizeInGiB": "storage_capacity_gib",
    "PerUnitStorageThroughput": "throughput_mbps_per_tib",
}
_CAPACITY_MEMBERS = {"spot": "Spot", "on-demand": "OnDemand"}


def group_of(spec: ClusterSpec, group: InstanceGroupSpec) -> dict[str, Any]:
    """Return one item of ``InstanceGroups``.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
        group: The group.
    """
    made = _common(spec, group) | {
        "MinInstanceCount": group.min_instance_count,
        "InstanceRequirements": _requirements(group),
        "LifeCycleConfig": _lifecycle(spec, group),
        "ImageId": group.image_id,
        "ImageReleaseVersion": group.image_release_version,
        "SlurmConfig": _slurm_config(spec, group),
        "OnStartDeepHealthChecks": _nonempty(
            deep_health_checks_of(group, spec.resilience, spec.orchestrator)
        ),
        "KubernetesConfig": _kubernetes_config(group),
        "CapacityRequirements": _capacity(group.capacity_type),
        "NetworkInterface": _network_interface(group.network_interface_type),
        "AutoPatchConfig": auto_patching_of(group.auto_patching),
        "ScheduledUpdateConfig": scheduled_update_of(group.scheduled_update),
    }
    return {name: value for name, value in made.items() if value is not None}


def restricted_group_of(spec: ClusterSpec, group: RestrictedInstanceGroupSpec) -> dict[str, Any]:
    """Return one item of ``RestrictedInstanceGroups``.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
        group: The group.
    """
    file_system = restricted_file_system_of(group.file_system)
    made = _common(spec, group) | {
        "OnStartDeepHealthChecks": _nonempty(group.deep_health_checks),
        "EnvironmentConfig": None if file_system is None else {"FSxLustreConfig": file_system},
    }
    return {name: value for name, value in made.items() if value is not None}


def restricted_file_system_of(said: Any) -> Any:
    """Return ``FSxLustreConfig`` of restricted groups, None where there is none.

    Args:
        said: ``RestrictedFileSystemSpec``; it may be or hold ``UNKNOWN``.
    """
    if said is None or not known(said):
        return said
    return {member: getattr(said, field) for member, field in _FILE_SYSTEM_FIELDS.items()}


def group_path(at: FaultPath, path: FaultPath, spec: ClusterSpec, group: Any) -> FaultPath:
    """Translate a path below an item of ``InstanceGroups`` or ``RestrictedInstanceGroups``.

    Args:
        at: Path of the group in the specification.
        path: Path in API terms.
        spec: The specification that the request was made of.
        group: The group, restricted or not.
    """
    match path:
        case ("SlurmConfig", str(name), *rest) if name in _SLURM_FIELDS:
            return (*at, _SLURM_FIELDS[name], *rest)
        case ("SlurmConfig", *_):
            return (*at, "node_type")
        case ("InstanceRequirements", "InstanceTypes", *rest):
            return (*at, "instance_types", *rest)
        case ("InstanceRequirements", *_):
            return (*at, "instance_types")
        case ("LifeCycleConfig", *rest):
            return _lifecycle_path(at, tuple(rest), group)
        case ("InstanceStorageConfigs", int(index), *rest):
            return volume_path(volumes_of(spec, group)[index], tuple(rest), at)
        case ("OverrideVpcConfig", str(name), *rest) if name in _OVERRIDE_FIELDS:
            return (*at, _OVERRIDE_FIELDS[name], *rest)
        case ("OverrideVpcConfig", *_):
            return (*at, "override_subnet_ids")
        case ("KubernetesConfig", *rest):
            return (*at, *_kubernetes_path(tuple(rest), group))
        case ("CapacityRequirements", *_):
            return (*at, "capacity_type")
        case ("NetworkInterface", *_):
            return (*at, "network_interface_type")
        case ("EnvironmentConfig", *rest):
            return (*at, *restricted_file_system_path(tuple(rest)))
        case (str(name), *rest) if name in _UPDATE_FIELDS:
            return (*at, _UPDATE_FIELDS[name], *software_update_path(tuple(rest)))
        case (str(name), *rest) if name in _FIELDS:
            return (*at, _FIELDS[name], *rest)
    return at


def restricted_file_system_path(path: FaultPath) -> FaultPath:
    """Translate a path below what holds ``FSxLustreConfig`` of restricted groups.

    Args:
        path: Path in API terms.
    """
    field = next((field for member, field in _FILE_SYSTEM_FIELDS.items() if member in path), None)
    return ("file_system",) if field is None else ("file_system", field)


def _common(spec: ClusterSpec, group: Any) -> dict[str, Any]:
    """What groups of both kinds have."""
    return {
        "InstanceGroupName": group.name,
        "InstanceType": group.instance_type,
        "InstanceCount": group.instance_count,
        "ExecutionRole": UNKNOWN if group.execution_role_arn is None else group.execution_role_arn,
        "ThreadsPerCore": group.threads_per_core,
        "TrainingPlanArn": group.training_plan_arn,
        "InstanceStorageConfigs": _nonempty([volume.config for volume in volumes_of(spec, group)]),
        "OverrideVpcConfig": _override(group),
    }


def _nonempty(values: Any) -> Any:
    if values is UNKNOWN:
        return UNKNOWN
    return list(values) if values else None


def _requirements(group: InstanceGroupSpec) -> Any:
    types = _nonempty(group.instance_types)
    return None if types is None else {"InstanceTypes": types}


def _override(group: Any) -> Any:
    said = {member: getattr(group, field) for member, field in _OVERRIDE_FIELDS.items()}
    made = {member: ids if ids is UNKNOWN else list(ids) for member, ids in said.items() if ids is not None}
    return made if made else None


def _kubernetes_config(group: InstanceGroupSpec) -> Any:
    config: dict[str, Any] = {}
    labels, taints = group.kubernetes_labels, group.kubernetes_taints
    if not known(labels):
        config["Labels"] = UNKNOWN
    elif labels:
        config["Labels"] = dict(labels)
    if not known(taints):
        config["Taints"] = UNKNOWN
    elif taints:
        config["Taints"] = [_taint(taint) for taint in taints]
    return config if config else None


def _taint(said: Any) -> Any:
    if not known(said):
        return UNKNOWN
    value = {} if said.value is None else {"Value": said.value}
    return {"Key": said.key, **value, "Effect": said.effect}


def _kubernetes_path(path: FaultPath, group: Any) -> FaultPath:
    match path:
        case ("Labels", *rest):
            return ("kubernetes_labels", *rest)
        case ("Taints", int(index), str(member), *_):
            return ("kubernetes_taints", index, member.lower())
        case ("Taints", *rest):
            return ("kubernetes_taints", *rest)
    return ("kubernetes_labels" if group.kubernetes_labels else "kubernetes_taints",)


def _capacity(said: Any) -> Any:
    if said is None or not known(said):
        return said
    return {_CAPACITY_MEMBERS[said]: {}}


def _network_interface(said: Any) -> Any:
    return None if said is None else {"InterfaceType": said}


def _slurm_config(spec: ClusterSpec, group: InstanceGroupSpec) -> Any:
    if not known(spec.orchestrator, spec.slurm) or not known(spec.slurm.mode):
        return UNKNOWN
    if group.node_type is None or (spec.orchestrator == "slurm" and spec.slurm.mode == "lifecycle"):
        return None
    partitions = _nonempty(group.partition_names)
    return {"NodeType": group.node_type} | ({} if partitions is None else {"PartitionNames": partitions})


def _lifecycle(spec: ClusterSpec, group: InstanceGroupSpec) -> Any:
    shared, own, hook = spec.lifecycle_scripts, group.lifecycle_scripts, hook_of(spec)
    if not known(shared, own, hook, group.runs_lifecycle_scripts):
        return UNKNOWN
    if not group.runs_lifecycle_scripts or (shared is None and own is None):
        return None
    location = None if shared is None else shared.source_s3_uri
    if own is not None and own.source_s3_uri is not None:
        location = own.source_s3_uri
    named = {member: None if own is None else getattr(own, field) for member, field in HOOK_FIELDS.items()}
    hooks: dict[str, Any] = {member: script for member, script in named.items() if script is not None}
    if not hooks:
        hooks[hook] = spec.entry_point
    return {"SourceS3Uri": UNKNOWN if location is None else location, **hooks}


def _lifecycle_path(at: FaultPath, path: FaultPath, group: InstanceGroupSpec) -> FaultPath:
    own = group.lifecycle_scripts
    for name, field, shared in (
        ("SourceS3Uri", "source_s3_uri", "source_s3_uri"),
        ("OnCreate", "on_create", "entry_point"),
        ("OnInitComplete", "on_init_complete", "entry_point"),
    ):
        if name in path:
            is_own = own is not None and getattr(own, field) is not None
            return (*at, "lifecycle_scripts", field) if is_own else ("lifecycle_scripts", shared)
    return ("lifecycle_scripts",) if own is None else (*at, "lifecycle_scripts")
