"""From a ``CreateCluster`` request to the data of a specification that says the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hyperpod_model.cluster_spec.lifecycle_hooks import HOOK_FIELDS, Hook
from hyperpod_model.cluster_spec.slurm import SlurmMode
from hyperpod_model.cluster_spec.storage_request import MOUNT_FIELDS, MOUNTS
from hyperpod_model.faults import FaultPath

_BATCHES = {
    "maximum_batch_size": "MaximumBatchSize",
    "rollback_maximum_batch_size": "RollbackMaximumBatchSize",
}


class Place(NamedTuple):
    """Where the cluster is made, as the command line says it.

    Attributes:
        region: Region of the cluster. None where nobody named one.
        zone: ID of the Availability Zone for a network that is made. None where nobody named one.
    """

    region: str | None
    zone: str | None


def items_of(value: Any, *path: str) -> list[Any]:
    """Follow member names to a list, an empty one where there is none.

    Args:
        value: What was read.
        *path: Names of members, outermost first.
    """
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, list) else []


def member(value: Any, *path: str) -> Any:
    """Follow member names, ``None`` where one is absent.

    Args:
        value: What was read.
        *path: Names of members, outermost first.
    """
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def is_eks(request: Mapping[str, Any]) -> bool:
    """Tell whether a request asks for the EKS orchestrator.

    Args:
        request: The request.
    """
    return member(request, "Orchestrator", "Eks") is not None


def slurm_mode(request: Mapping[str, Any]) -> SlurmMode:
    """Tell who configures Slurm in the cluster that a request makes.

    Args:
        request: The request.
    """
    if member(request, "Orchestrator", "Slurm") is not None:
        return "api"
    configured = any(
        member(group, "SlurmConfig") is not None for group in items_of(request, "InstanceGroups")
    )
    return "api" if configured else "lifecycle"


def hook_of_request(request: Mapping[str, Any]) -> Hook:
    """Return the hook of lifecycle scripts that a specification gives all groups of a request.

    Args:
        request: The request.
    """
    if not is_eks(request):
        return "OnInitComplete" if slurm_mode(request) == "api" else "OnCreate"
    comes_last = any(
        member(group, "LifeCycleConfig", "OnInitComplete") is not None
        for group in items_of(request, "InstanceGroups")
    )
    return "OnInitComplete" if comes_last else "OnCreate"


def spec_data(request: Mapping[str, Any], made: set[FaultPath], place: Place) -> dict[str, Any]:
    """Return the data of a specification that says what a request says.

    Args:
        request: The request, without faults.
        made: Paths of ids that stand for something to be made.
        place: Where the cluster is made.
    """
    network = request["VpcConfig"]
    exists = ("VpcConfig", "Subnets", 0) not in made
    scripts = _shared_scripts(request)
    data: dict[str, Any] = {
        "name": request["ClusterName"],
        "region": place.region,
        "node_provisioning_mode": request.get("NodeProvisioningMode"),
        "node_recovery": request.get("NodeRecovery"),
        "network": {
            "availability_zone_id": place.zone,
            "subnet_ids": network["Subnets"] if exists else None,
            "security_group_ids": network["SecurityGroupIds"] if exists else None,
        },
        "lifecycle_scripts": _scripts_data(request, scripts),
        "instance_groups": [
            _group_data(group, ("InstanceGroups", index) in _owners(made), has_own_scripts=scripts is None)
            for index, group in enumerate(items_of(request, "InstanceGroups"))
        ],
        "restricted_instance_groups": [
            _restricted_group_data(group, ("RestrictedInstanceGroups", index) in _owners(made))
            for index, group in enumerate(items_of(request, "RestrictedInstanceGroups"))
        ],
        "restricted_environment": _restricted_environment_data(request),
        "file_system": None,
        "checkpoint_bucket": None,
        "tags": {tag["Key"]: tag["Value"] for tag in items_of(request, "Tags")},
        **_orchestrator_data(request),
        "tiered_checkpointing": _tiered_data(request.get("TieredStorageConfig")),
        "auto_scaling": _auto_scaling_data(request),
    }
    if data["node_recovery"] is None:
        del data["node_recovery"]
    return data


def _owners(made: set[FaultPath]) -> set[FaultPath]:
    return {path[:2] for path in made if path[-1] == "ExecutionRole"}


def _orchestrator_data(request: Mapping[str, Any]) -> dict[str, Any]:
    if is_eks(request):
        arn = request["Orchestrator"]["Eks"]["ClusterArn"]
        return {
            "orchestrator": "eks",
            "eks": {"cluster_arn": arn, "dependency_chart": {"installed": True}},
        }
    database = member(request, "Orchestrator", "Slurm", "AccountingDatabase")
    return {
        "slurm": {
            "mode": slurm_mode(request),
            "strategy": member(request, "Orchestrator", "Slurm", "SlurmConfigStrategy"),
            "accounting_database": None
            if database is None
            else {
                "endpoint": database["Endpoint"],
                "database_name": database["Name"],
                "secret_arn": database["SecretArn"],
                "port": database.get("Port"),
            },
        }
    }


def _tiered_data(config: Any) -> dict[str, Any] | None:
    if config is None:
        return None
    return {
        "enabled": config["Mode"] == "Enable",
        "memory_percentage": config.get("InstanceMemoryAllocationPercentage"),
    }


def _auto_scaling_data(request: Mapping[str, Any]) -> dict[str, Any] | None:
    mode, role = member(request, "AutoScaling", "Mode"), request.get("ClusterRole")
    return None if mode is None and role is None else {"mode": mode, "role_arn": role}


def _restricted_environment_data(request: Mapping[str, Any]) -> dict[str, Any] | None:
    shared = member(request, "RestrictedInstanceGroupsConfig", "SharedEnvironmentConfig")
    if shared is None:
        return None
    return {
        "deletion_policy": shared["FSxLustreDeletionPolicy"],
        "file_system": _restricted_file_system_data(shared["FSxLustreConfig"]),
    }


def _restricted_file_system_data(config: Any) -> dict[str, Any] | None:
    if config is None:
        return None
    return {
        "storage_capacity_gib": config["SizeInGiB"],
        "throughput_mbps_per_tib": config["PerUnitStorageThroughput"],
    }


def _common_data(group: Mapping[str, Any], makes_role: bool) -> dict[str, Any]:
    """What groups of both kinds have."""
    data: dict[str, Any] = {
        "name": group["InstanceGroupName"],
        "instance_type": group.get("InstanceType"),
        "instance_count": group["InstanceCount"],
        "threads_per_core": group.get("ThreadsPerCore"),
        "training_plan_arn": group.get("TrainingPlanArn"),
        "deep_health_checks": items_of(group, "OnStartDeepHealthChecks"),
        "execution_role_arn": None if makes_role else group["ExecutionRole"],
        "override_subnet_ids": member(group, "OverrideVpcConfig", "Subnets"),
        "override_security_group_ids": member(group, "OverrideVpcConfig", "SecurityGroupIds"),
        "secondary_volume_size_gib": None,
        "lustre_mounts": [],
        "open_zfs_mounts": [],
    }
    for storage in items_of(group, "InstanceStorageConfigs"):
        _add_storage(data, storage)
    return data


def _add_storage(data: dict[str, Any], storage: Mapping[str, Any]) -> None:
    volume = storage.get("EbsVolumeConfig")
    if volume is not None and volume.get("RootVolume") is True:
        data["root_volume_kms_key_arn"] = volume["VolumeKmsKeyId"]
    elif volume is not None:
        data["secondary_volume_size_gib"] = volume["VolumeSizeInGB"]
        if volume.get("VolumeKmsKeyId") is not None:
            data["secondary_volume_kms_key_arn"] = volume["VolumeKmsKeyId"]
    for field, kind in MOUNTS.items():
        mount = storage.get(kind)
        if mount is not None:
            said = {name: mount[key] for key, name in MOUNT_FIELDS.items() if mount.get(key) is not None}
            data[field].append(said)


def _restricted_group_data(group: Mapping[str, Any], makes_role: bool) -> dict[str, Any]:
    file_system = member(group, "EnvironmentConfig", "FSxLustreConfig")
    return _common_data(group, makes_role) | {"file_system": _restricted_file_system_data(file_system)}


def _group_data(group: Mapping[str, Any], makes_role: bool, *, has_own_scripts: bool) -> dict[str, Any]:
    config = group.get("LifeCycleConfig")
    data = _common_data(group, makes_role) | {
        "min_instance_count": group.get("MinInstanceCount"),
        "instance_types": items_of(group, "InstanceRequirements", "InstanceTypes"),
        "image_id": group.get("ImageId"),
        "image_release_version": group.get("ImageReleaseVersion"),
        "runs_lifecycle_scripts": config is not None,
        "lifecycle_scripts": _own_scripts(config) if has_own_scripts and config is not None else None,
        "capacity_type": _capacity_type(group.get("CapacityRequirements")),
        "kubernetes_labels": _or_empty(member(group, "KubernetesConfig", "Labels")),
        "kubernetes_taints": [
            {"key": taint["Key"], "value": taint.get("Value"), "effect": taint["Effect"]}
            for taint in items_of(group, "KubernetesConfig", "Taints")
        ],
        "network_interface_type": member(group, "NetworkInterface", "InterfaceType"),
        "auto_patching": _update_data(group.get("AutoPatchConfig"), "strategy", "PatchingStrategy"),
        "scheduled_update": _update_data(
            group.get("ScheduledUpdateConfig"), "schedule_expression", "ScheduleExpression"
        ),
    }
    if data["secondary_volume_size_gib"] is None:
        data["secondary_volume_size_gib"] = 0
    slurm = group.get("SlurmConfig")
    if slurm is not None:
        data["node_type"] = slurm.get("NodeType")
        data["partition_names"] = items_of(slurm, "PartitionNames")
    for field in MOUNTS:
        if not data[field]:
            del data[field]
    return data


def _or_empty(value: Any) -> Any:
    return {} if value is None else value


def _capacity_type(config: Any) -> str | None:
    if config is None:
        return None
    return "spot" if config.get("Spot") is not None else "on-demand"


def _update_data(config: Any, field: str, name: str) -> dict[str, Any] | None:
    if config is None:
        return None
    return {field: config[name], "deployment": _deployment_data(config.get("DeploymentConfig"))}


def _deployment_data(config: Any) -> dict[str, Any] | None:
    if not config:
        return None
    batches = {field: member(config, "RollingUpdatePolicy", name) for field, name in _BATCHES.items()}
    return {
        field: None if batch is None else {"type": batch["Type"], "value": batch["Value"]}
        for field, batch in batches.items()
    } | {
        "wait_interval_seconds": config.get("WaitIntervalInSeconds"),
        "rollback_alarm_names": [
            alarm["AlarmName"] for alarm in items_of(config, "AutoRollbackConfiguration")
        ],
    }


def _configs(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = [member(group, "LifeCycleConfig") for group in items_of(request, "InstanceGroups")]
    return [config for config in found if config is not None]


def _shared_scripts(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Location and entry point that all groups with scripts have in common, None where they differ."""
    hook = hook_of_request(request)
    said = {(config["SourceS3Uri"], config.get(hook)) for config in _configs(request)}
    if len(said) != 1 or (is_eks(request) and hook == "OnInitComplete"):
        return None  # with EKS, only a group can say that its script comes last
    [(location, entry_point)] = said
    return {"source_s3_uri": location, "entry_point": entry_point}


def _scripts_data(request: Mapping[str, Any], shared: dict[str, Any] | None) -> dict[str, Any] | None:
    if shared is not None:
        return shared
    # Where each group names its own scripts, those of the cluster are nobody's.
    return {} if len(_configs(request)) == len(items_of(request, "InstanceGroups")) else None


def _own_scripts(config: Mapping[str, Any]) -> dict[str, Any]:
    hooks = {field: config[hook] for hook, field in HOOK_FIELDS.items() if config.get(hook) is not None}
    return {"source_s3_uri": config["SourceS3Uri"], **hooks}
