"""From a specification to a ``CreateCluster`` request, and back from the request's paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hyperpod_model.cluster_spec.deep_health_checks import deep_health_checks_of
from hyperpod_model.cluster_spec.known import known
from hyperpod_model.faults import UNKNOWN, FaultPath

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec
    from hyperpod_model.cluster_spec.instance_group import InstanceGroupSpec

_TOP = {
    "ClusterName": "name",
    "NodeRecovery": "node_recovery",
    "NodeProvisioningMode": "node_provisioning_mode",
    "InstanceGroups": "instance_groups",
    "Tags": "tags",
}
_GROUP = {
    "InstanceGroupName": "name",
    "InstanceType": "instance_type",
    "InstanceCount": "instance_count",
    "MinInstanceCount": "min_instance_count",
    "ThreadsPerCore": "threads_per_core",
    "TrainingPlanArn": "training_plan_arn",
    "ImageId": "image_id",
    "OnStartDeepHealthChecks": "deep_health_checks",
    "ExecutionRole": "execution_role_arn",
}
_NETWORK = {"Subnets": "subnet_ids", "SecurityGroupIds": "security_group_ids"}
_SLURM_GROUP = {"NodeType": "node_type", "PartitionNames": "partition_names"}


def request_of(spec: ClusterSpec) -> dict[str, Any]:
    """Return the ``CreateCluster`` request of a specification.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    request: dict[str, Any] = {"ClusterName": spec.name, "NodeRecovery": spec.node_recovery}
    request["VpcConfig"] = UNKNOWN
    if known(spec.network):
        request["VpcConfig"] = {
            "SecurityGroupIds": _ids(spec.network.security_group_ids),
            "Subnets": _ids(spec.network.subnet_ids),
        }
    if spec.node_provisioning_mode is not None:
        request["NodeProvisioningMode"] = spec.node_provisioning_mode
    orchestrator = _orchestrator(spec)
    if orchestrator is not None:
        request["Orchestrator"] = orchestrator
    request["InstanceGroups"] = _each(spec.instance_groups, lambda group: _group(spec, group))
    if not known(spec.tags):
        request["Tags"] = UNKNOWN
    elif spec.tags:
        request["Tags"] = [{"Key": key, "Value": value} for key, value in spec.tags.items()]
    return request


def spec_path(path: FaultPath, spec: ClusterSpec, request: Mapping[str, Any]) -> FaultPath:
    """Translate a path of a request into the specification's terms.

    Args:
        path: Path in API terms.
        spec: The specification that the request was made of.
        request: The request.
    """
    match path:
        case ("InstanceGroups", int(index), *rest):
            return _group_path(index, tuple(rest), spec, request["InstanceGroups"][index])
        case ("Orchestrator", "Slurm", "SlurmConfigStrategy"):
            return ("slurm", "strategy")
        case ("Orchestrator", *_):
            return ("slurm",)
        case ("VpcConfig", str(name), *rest) if name in _NETWORK:
            return ("network", _NETWORK[name], *rest)
        case ("VpcConfig", *_):
            return ("network",)
        case ("Tags", int(index), *_):
            return ("tags", request["Tags"][index]["Key"])
        case (str(name), *rest) if name in _TOP:
            return (_TOP[name], *rest)
    return path


def _group_path(index: int, path: FaultPath, spec: ClusterSpec, group: Mapping[str, Any]) -> FaultPath:
    at: FaultPath = ("instance_groups", index)
    match path:
        case ("SlurmConfig", str(name), *rest) if name in _SLURM_GROUP:
            return (*at, _SLURM_GROUP[name], *rest)
        case ("SlurmConfig", *_):
            return (*at, "node_type")
        case ("LifeCycleConfig", *rest):
            return _lifecycle_path(at, tuple(rest), spec.instance_groups[index])
        case ("InstanceStorageConfigs", int(volume), *rest):
            return _volume_path(at, group["InstanceStorageConfigs"][volume], tuple(rest))
        case (str(name), *rest) if name in _GROUP:
            return (*at, _GROUP[name], *rest)
    return at


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


def _volume_path(at: FaultPath, volume: Mapping[str, Any], path: FaultPath) -> FaultPath:
    if "FsxLustreConfig" in volume:
        return ("file_system", "mount_path") if "MountPath" in path else (*at, "mounts_file_system")
    if volume["EbsVolumeConfig"].get("RootVolume") is True:
        return (*at, "root_volume_kms_key_arn")
    return (*at, "secondary_volume_kms_key_arn" if "VolumeKmsKeyId" in path else "secondary_volume_size_gib")


def _ids(ids: Any) -> Any:
    if ids is UNKNOWN:
        return UNKNOWN
    return [UNKNOWN] if ids is None else list(ids)


def _each(items: Any, of: Any) -> Any:
    if items is UNKNOWN:
        return UNKNOWN
    return [UNKNOWN if item is UNKNOWN else of(item) for item in items]


def _orchestrator(spec: ClusterSpec) -> Any:
    if not known(_mode(spec)):
        return UNKNOWN
    if spec.slurm.mode == "lifecycle":
        return None
    strategy = spec.slurm.strategy
    return {"Slurm": {} if strategy is None else {"SlurmConfigStrategy": strategy}}


def _group(spec: ClusterSpec, group: InstanceGroupSpec) -> dict[str, Any]:
    made: dict[str, Any] = {
        "InstanceGroupName": group.name,
        "InstanceType": group.instance_type,
        "InstanceCount": group.instance_count,
        "MinInstanceCount": group.min_instance_count,
        "ExecutionRole": UNKNOWN if group.execution_role_arn is None else group.execution_role_arn,
        "LifeCycleConfig": _lifecycle(spec, group),
        "ThreadsPerCore": group.threads_per_core,
        "TrainingPlanArn": group.training_plan_arn,
        "ImageId": group.image_id,
        "SlurmConfig": _slurm_config(spec, group),
        "OnStartDeepHealthChecks": _nonempty(
            deep_health_checks_of(group, spec.resilience, spec.orchestrator)
        ),
        "InstanceStorageConfigs": _nonempty(_storage(spec, group)),
    }
    return {name: value for name, value in made.items() if value is not None}


def _nonempty(values: Any) -> Any:
    if values is UNKNOWN:
        return UNKNOWN
    return list(values) if values else None


def _mode(spec: ClusterSpec) -> Any:
    return spec.slurm.mode if known(spec.slurm) else UNKNOWN


def _slurm_config(spec: ClusterSpec, group: InstanceGroupSpec) -> Any:
    mode = _mode(spec)
    if mode is UNKNOWN:
        return UNKNOWN
    if mode == "lifecycle" or group.node_type is None:
        return None
    partitions = _nonempty(group.partition_names)
    return {"NodeType": group.node_type} | ({} if partitions is None else {"PartitionNames": partitions})


def _lifecycle(spec: ClusterSpec, group: InstanceGroupSpec) -> Any:
    shared, own, mode = spec.lifecycle_scripts, group.lifecycle_scripts, _mode(spec)
    if not known(shared, own, mode):
        return UNKNOWN
    location = shared.source_s3_uri
    if own is not None and own.source_s3_uri is not None:
        location = own.source_s3_uri
    hooks: dict[str, Any] = {}
    if own is not None and own.on_create is not None:
        hooks["OnCreate"] = own.on_create
    if own is not None and own.on_init_complete is not None:
        hooks["OnInitComplete"] = own.on_init_complete
    if not hooks:
        hooks["OnInitComplete" if mode == "api" else "OnCreate"] = spec.entry_point
    return {"SourceS3Uri": UNKNOWN if location is None else location, **hooks}


def _storage(spec: ClusterSpec, group: InstanceGroupSpec) -> list[dict[str, Any]]:
    volumes: list[dict[str, Any]] = []
    if group.root_volume_kms_key_arn is not None:
        volumes.append(
            {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": group.root_volume_kms_key_arn}}
        )
    size = group.secondary_volume_gib
    if size is not None:
        key = group.secondary_volume_kms_key_arn
        volumes.append(
            {"EbsVolumeConfig": {"VolumeSizeInGB": size} | ({} if key is None else {"VolumeKmsKeyId": key})}
        )
    file_system = spec.file_system
    if file_system is None or not known(file_system) or _mode(spec) != "api":
        return volumes
    if group.mounts_file_system is True:
        mount = {"DnsName": UNKNOWN, "MountName": UNKNOWN, "MountPath": file_system.mount_path}
        volumes.append({"FsxLustreConfig": mount})
    return volumes
