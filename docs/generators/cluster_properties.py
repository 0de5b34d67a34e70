"""Write ``docs/cluster-properties.md``: how each property of ``AWS::SageMaker::Cluster`` is said.

Run ``python docs/generators/cluster_properties.py`` to write the page; a test fails while it is out of date,
while the schema that comes with cfn-lint has a property that ``SAID`` lacks, or while ``SAID`` names a prop
or a field that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cluster-properties.md"
RESOURCE = "AWS::SageMaker::Cluster"
_REGION = "us-east-1"


class Said(NamedTuple):
    """How a user says one property.

    Attributes:
        props: Props of the constructs, as ``InstanceGroup.image_id`` or ``Orchestrator.eks.control_plane``.
        fields: Fields of a cluster specification, as ``instance_groups[].capacity_type``.
        note: What is to be known about it, or why it cannot be said.
    """

    props: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    note: str = ""


def _said(props: str, fields: str, note: str = "") -> Said:
    return Said(tuple(props.split()), tuple(fields.split()), note)


_GROUP = "InstanceGroups[]"
_RESTRICTED = "RestrictedInstanceGroups[]"
_FIXED = "fixed for an existing group: a change is a new name"
_NO_KEYS = "cannot be said: volumes of restricted groups take no customer managed keys"


def _deployment(path: str, field: str) -> Iterator[tuple[str, Said]]:
    yield path, _said("Deployment.maximum_batch_size", field, "batches need EKS")
    policy, batches = f"{path}.RollingUpdatePolicy", ("maximum_batch_size", "rollback_maximum_batch_size")
    yield policy, _said(f"Deployment.{batches[0]}", f"{field}.{batches[0]}")
    for member, batch in zip(("MaximumBatchSize", "RollbackMaximumBatchSize"), batches, strict=True):
        yield f"{policy}.{member}", _said(f"Deployment.{batch}", f"{field}.{batch}")
        yield f"{policy}.{member}.Type", _said("BatchSize.type", f"{field}.{batch}.type")
        yield f"{policy}.{member}.Value", _said("BatchSize.value", f"{field}.{batch}.value")
    yield (
        f"{path}.WaitIntervalInSeconds",
        _said("Deployment.wait_interval_seconds", f"{field}.wait_interval_seconds"),
    )
    alarms = _said("Deployment.rollback_alarms", f"{field}.rollback_alarm_names", "at most ten")
    for member in ("", "[]", "[].AlarmName"):
        yield f"{path}.AutoRollbackConfiguration{member}", alarms


def _mounts(path: str, group: str, field: str, note: str = "") -> Iterator[tuple[str, Said]]:
    for kind, member, value in (
        ("lustre_mounts", "FsxLustreConfig", "LustreMount"),
        ("open_zfs_mounts", "FsxOpenZfsConfig", "OpenZfsMount"),
    ):
        yield f"{path}.{member}", _said(f"{group}.{kind}", f"{field}.{kind}", note)
        yield f"{path}.{member}.DnsName", _said(f"{value}.dns_name", f"{field}.{kind}[].dns_name")
        yield f"{path}.{member}.MountPath", _said(f"{value}.mount_path", f"{field}.{kind}[].mount_path")
        if kind == "lustre_mounts":
            yield f"{path}.{member}.MountName", _said(f"{value}.mount_name", f"{field}.{kind}[].mount_name")


def _override(path: str, group: str, field: str) -> Iterator[tuple[str, Said]]:
    subnets = _said(f"{group}.override_subnets", f"{field}.override_subnet_ids", _FIXED)
    yield path, subnets
    yield f"{path}.Subnets", subnets
    yield (
        f"{path}.SecurityGroupIds",
        _said(f"{group}.override_security_groups", f"{field}.override_security_group_ids", _FIXED),
    )


def _both(path: str, group: str, field: str) -> Iterator[tuple[str, Said]]:
    """What groups of both kinds have."""
    yield f"{path}.InstanceGroupName", _said(f"{group}.name", f"{field}.name")
    yield f"{path}.InstanceType", _said(f"{group}.instance_type", f"{field}.instance_type", _FIXED)
    yield f"{path}.InstanceCount", _said(f"{group}.instance_count", f"{field}.instance_count")
    yield (
        f"{path}.ExecutionRole",
        _said(
            f"{group}.execution_role HyperPodCluster.execution_role", f"{field}.execution_role_arn", _FIXED
        ),
    )
    yield f"{path}.ThreadsPerCore", _said(f"{group}.threads_per_core", f"{field}.threads_per_core", _FIXED)
    yield f"{path}.TrainingPlanArn", _said(f"{group}.training_plan_arn", f"{field}.training_plan_arn")
    yield (
        f"{path}.OnStartDeepHealthChecks",
        _said(
            f"{group}.deep_health_checks",
            f"{field}.deep_health_checks",
            "`MultiNodeTrainingValidation` in the API only",
        ),
    )
    yield from _override(f"{path}.OverrideVpcConfig", group, field)
    size = _said(f"{group}.secondary_volume_size_gib", f"{field}.secondary_volume_size_gib")
    yield f"{path}.InstanceStorageConfigs", size
    yield f"{path}.InstanceStorageConfigs[]", size
    yield f"{path}.InstanceStorageConfigs[].EbsVolumeConfig", size
    yield f"{path}.InstanceStorageConfigs[].EbsVolumeConfig.VolumeSizeInGB", size


def _instance_groups() -> Iterator[tuple[str, Said]]:
    group, field, path = "InstanceGroup", "instance_groups[]", _GROUP
    yield "InstanceGroups", _said("HyperPodCluster.instance_groups", "instance_groups")
    yield path, _said("HyperPodCluster.instance_groups", "instance_groups")
    yield from _both(path, group, field)
    storage = f"{path}.InstanceStorageConfigs[]"
    yield (
        f"{storage}.EbsVolumeConfig.RootVolume",
        _said(f"{group}.root_volume_kms_key", f"{field}.root_volume_kms_key_arn", "true with this key"),
    )
    yield (
        f"{storage}.EbsVolumeConfig.VolumeKmsKeyId",
        _said(
            f"{group}.root_volume_kms_key {group}.secondary_volume_kms_key",
            f"{field}.root_volume_kms_key_arn {field}.secondary_volume_kms_key_arn",
            _FIXED,
        ),
    )
    yield from _mounts(storage, group, field, "where HyperPod configures Slurm")
    yield (
        f"{storage}.FsxLustreConfig",
        _said(
            "HyperPodCluster.file_system InstanceGroup.mounts_file_system InstanceGroup.lustre_mounts",
            "file_system instance_groups[].mounts_file_system instance_groups[].lustre_mounts",
            "where HyperPod configures Slurm",
        ),
    )
    yield f"{path}.MinInstanceCount", _said(f"{group}.min_instance_count", f"{field}.min_instance_count")
    types = _said(f"{group}.instance_types", f"{field}.instance_types", "excludes `instance_type`")
    yield f"{path}.InstanceRequirements", types
    yield f"{path}.InstanceRequirements.InstanceTypes", types
    capacity = _said(f"{group}.capacity_type", f"{field}.capacity_type", _FIXED)
    yield f"{path}.CapacityRequirements", capacity
    yield f"{path}.CapacityRequirements.Spot", capacity._replace(note=f"`spot`; {_FIXED}")
    yield f"{path}.CapacityRequirements.OnDemand", capacity._replace(note=f"`on-demand`; {_FIXED}")
    yield f"{path}.ImageId", _said(f"{group}.image_id", f"{field}.image_id")
    yield (
        f"{path}.ImageReleaseVersion",
        _said(f"{group}.image_release_version", f"{field}.image_release_version", "EKS only"),
    )
    yield f"{path}.KubernetesConfig", _said(f"{group}.kubernetes_labels", f"{field}.kubernetes_labels")
    yield f"{path}.KubernetesConfig.Labels", _said(f"{group}.kubernetes_labels", f"{field}.kubernetes_labels")
    taints = _said(f"{group}.kubernetes_taints", f"{field}.kubernetes_taints")
    yield f"{path}.KubernetesConfig.Taints", taints
    yield f"{path}.KubernetesConfig.Taints[]", taints
    for member in ("Key", "Value", "Effect"):
        name = member.lower()
        yield (
            f"{path}.KubernetesConfig.Taints[].{member}",
            _said(f"KubernetesTaint.{name}", f"{field}.kubernetes_taints[].{name}"),
        )
    interface = _said(f"{group}.network_interface_type", f"{field}.network_interface_type")
    yield f"{path}.NetworkInterface", interface
    yield f"{path}.NetworkInterface.InterfaceType", interface
    yield (
        f"{path}.LifeCycleConfig",
        _said(
            f"{group}.lifecycle_scripts {group}.runs_lifecycle_scripts HyperPodCluster.lifecycle_scripts",
            f"{field}.lifecycle_scripts {field}.runs_lifecycle_scripts lifecycle_scripts",
        ),
    )
    yield (
        f"{path}.LifeCycleConfig.SourceS3Uri",
        _said(
            "LifecycleScripts.folder LifecycleScripts.from_s3_uri.source_s3_uri",
            "lifecycle_scripts.folder lifecycle_scripts.source_s3_uri "
            f"{field}.lifecycle_scripts.source_s3_uri",
        ),
    )
    for member, name in (("OnCreate", "on_create"), ("OnInitComplete", "on_init_complete")):
        yield (
            f"{path}.LifeCycleConfig.{member}",
            _said(
                "LifecycleScripts.entry_point Orchestrator.slurm.configuration Orchestrator.eks.script_hook",
                f"lifecycle_scripts.entry_point slurm.mode {field}.lifecycle_scripts.{name}",
            ),
        )
    yield f"{path}.SlurmConfig", _said(f"{group}.slurm_node_type", f"{field}.node_type")
    yield f"{path}.SlurmConfig.NodeType", _said(f"{group}.slurm_node_type", f"{field}.node_type", _FIXED)
    yield f"{path}.SlurmConfig.PartitionNames", _said(f"{group}.partition_names", f"{field}.partition_names")
    patching, schedule = f"{path}.AutoPatchConfig", f"{path}.ScheduledUpdateConfig"
    yield patching, _said(f"{group}.auto_patching", f"{field}.auto_patching")
    yield (
        f"{patching}.PatchingStrategy",
        _said("AutoPatching.strategy", f"{field}.auto_patching.strategy", "`DrainFirst` in the API only"),
    )
    yield (
        f"{patching}.PatchSchedule",
        Said(note="cannot be said: its only member is read-only in CloudFormation"),
    )
    yield from _deployment(f"{patching}.DeploymentConfig", f"{field}.auto_patching.deployment")
    yield schedule, _said(f"{group}.scheduled_update", f"{field}.scheduled_update")
    yield (
        f"{schedule}.ScheduleExpression",
        _said("ScheduledUpdate.schedule_expression", f"{field}.scheduled_update.schedule_expression"),
    )
    yield from _deployment(f"{schedule}.DeploymentConfig", f"{field}.scheduled_update.deployment")


def _restricted_file_system(path: str, field: str) -> Iterator[tuple[str, Said]]:
    for member, name in (
        ("SizeInGiB", "storage_capacity_gib"),
        ("PerUnitStorageThroughput", "throughput_mbps_per_tib"),
    ):
        yield f"{path}.{member}", _said(f"RestrictedFileSystem.{name}", f"{field}.{name}")


def _restricted_groups() -> Iterator[tuple[str, Said]]:
    group, field, path = "RestrictedInstanceGroup", "restricted_instance_groups[]", _RESTRICTED
    groups = _said(
        "HyperPodCluster.restricted_instance_groups",
        "restricted_instance_groups",
        "updates on a schedule in the API only",
    )
    yield "RestrictedInstanceGroups", groups
    yield path, groups
    yield from _both(path, group, field)
    storage = f"{path}.InstanceStorageConfigs[]"
    for member in ("RootVolume", "VolumeKmsKeyId"):
        yield f"{storage}.EbsVolumeConfig.{member}", Said(note=_NO_KEYS)
    yield from _mounts(storage, group, field)
    own = _said(f"{group}.file_system", f"{field}.file_system")
    yield f"{path}.EnvironmentConfig", own
    yield f"{path}.EnvironmentConfig.FSxLustreConfig", own
    yield from _restricted_file_system(f"{path}.EnvironmentConfig.FSxLustreConfig", f"{field}.file_system")
    path, field = "RestrictedInstanceGroupsConfig", "restricted_environment"
    yield path, _said("HyperPodCluster.restricted_environment", field)
    path = f"{path}.SharedEnvironmentConfig"
    yield path, _said("HyperPodCluster.restricted_environment", field)
    yield (
        f"{path}.FSxLustreConfig",
        _said("RestrictedEnvironment.file_system", f"{field}.file_system", "required by the API"),
    )
    yield from _restricted_file_system(f"{path}.FSxLustreConfig", f"{field}.file_system")
    yield (
        f"{path}.FSxLustreDeletionPolicy",
        _said("RestrictedEnvironment.deletion_policy", f"{field}.deletion_policy"),
    )


def _cluster() -> Iterator[tuple[str, Said]]:
    replaced = "a change replaces the cluster"
    scaling = _said("HyperPodCluster.auto_scaling", "auto_scaling")
    yield "AutoScaling", scaling
    yield "AutoScaling.Mode", _said("AutoScaling.mode", "auto_scaling.mode")
    yield "AutoScaling.AutoScalerType", scaling._replace(note="always `Karpenter`, the only one")
    yield (
        "ClusterRole",
        _said("AutoScaling.role", "auto_scaling.role_arn", "fixed while autoscaling is enabled"),
    )
    yield "ClusterName", _said("HyperPodCluster.cluster_name", "name", replaced)
    yield (
        "NodeProvisioningMode",
        _said("HyperPodCluster.node_provisioning_mode", "node_provisioning_mode"),
    )
    yield "NodeRecovery", _said("ResiliencePolicy.node_recovery", "node_recovery")
    yield "Orchestrator", _said("HyperPodCluster.orchestrator", "orchestrator")
    eks = _said("Orchestrator.eks.control_plane", "eks.cluster_arn", replaced)
    yield "Orchestrator.Eks", eks
    yield "Orchestrator.Eks.ClusterArn", eks
    yield "Orchestrator.Slurm", _said("Orchestrator.slurm.configuration", "slurm.mode")
    yield (
        "Orchestrator.Slurm.SlurmConfigStrategy",
        _said("Orchestrator.slurm.strategy", "slurm.strategy"),
    )
    database = "Orchestrator.Slurm.AccountingDatabase"
    yield database, _said("Orchestrator.slurm.accounting_database", _DATABASE_FIELD, "no way back")
    for member, prop, name in (
        ("Endpoint", "endpoint", "endpoint"),
        ("SecretArn", "secret", "secret_arn"),
        ("Name", "database_name", "database_name"),
        ("Port", "port", "port"),
    ):
        yield f"{database}.{member}", _said(f"AccountingDatabase.{prop}", f"{_DATABASE_FIELD}.{name}")
    yield "Tags", _said("HyperPodCluster.tags", "tags")
    yield "Tags[]", _said("HyperPodCluster.tags", "tags")
    yield "Tags[].Key", _said("HyperPodCluster.tags", "tags")
    yield "Tags[].Value", _said("HyperPodCluster.tags", "tags")
    tiered = _said("HyperPodCluster.tiered_checkpointing", "tiered_checkpointing")
    yield "TieredStorageConfig", tiered
    yield (
        "TieredStorageConfig.Mode",
        _said(
            "HyperPodCluster.tiered_checkpointing",
            "tiered_checkpointing.enabled",
            "`TieredCheckpointing.disabled()` says `Disable`",
        ),
    )
    yield (
        "TieredStorageConfig.InstanceMemoryAllocationPercentage",
        _said("TieredCheckpointing.memory_percentage", "tiered_checkpointing.memory_percentage"),
    )
    network = _said(
        "HyperPodCluster.network HyperPodCluster.vpc_subnets", "network network.subnet_ids", replaced
    )
    yield "VpcConfig", network
    yield "VpcConfig.Subnets", network
    yield (
        "VpcConfig.SecurityGroupIds",
        _said("HyperPodCluster.security_groups", "network.security_group_ids", replaced),
    )


_DATABASE_FIELD = "slurm.accounting_database"

SAID: Mapping[str, Said] = {**dict(_cluster()), **dict(_instance_groups()), **dict(_restricted_groups())}
"""How each property that can be set is said, by its path."""


def schema() -> Mapping[str, Any]:
    """Return the registry's schema of the resource that comes with cfn-lint."""
    found: Mapping[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(_REGION, RESOURCE).schema
    return found


def property_paths(resource: Mapping[str, Any]) -> dict[str, bool]:
    """Return every property of a schema by its path, with whether it is read-only.

    Args:
        resource: A registry schema.
    """
    read_only = {
        path.removeprefix("/properties/").replace("/*/", "[].").replace("/", ".")
        for path in resource["readOnlyProperties"]
    }
    found: dict[str, bool] = {}
    for path in _walk(resource, resource):
        found[path] = path in read_only
    return found


def _walk(resource: Mapping[str, Any], node: Mapping[str, Any], path: str = "") -> Iterator[str]:
    if "$ref" in node:
        node = resource["definitions"][node["$ref"].rpartition("/")[2]]
    for choice in (node, *node.get("oneOf", ()), *node.get("anyOf", ())):
        for name, member in choice.get("properties", {}).items():
            below = f"{path}.{name}" if path else name
            yield below
            yield from _walk(resource, member, below)
    items = node.get("items")
    if isinstance(items, Mapping):
        target = resource["definitions"][items["$ref"].rpartition("/")[2]] if "$ref" in items else items
        if target.get("type") == "object" or "properties" in target or "oneOf" in target:
            yield f"{path}[]"
            yield from _walk(resource, target, f"{path}[]")


def page_of(resource: Mapping[str, Any]) -> str:
    """Render the page.

    Args:
        resource: A registry schema.
    """
    lines = [
        "# Every property of AWS::SageMaker::Cluster",
        "",
        f"The properties of the registry schema that comes with cfn-lint {version('cfn-lint')}, and how each",
        "is said: as a prop of the constructs, and as a field of a [cluster specification](cluster-spec.md).",
        "A prop stands with its class: `Deployment.maximum_batch_size` is said as",
        "`InstanceGroup(scheduled_update=ScheduledUpdate(deployment=Deployment(maximum_batch_size=...)))`.",
        "",
        "<!-- Written by docs/generators/cluster_properties.py; do not edit. -->",
        "",
        "| property | prop | field | |",
        "|---|---|---|---|",
    ]
    for path, read_only in sorted(property_paths(resource).items()):
        if read_only:
            lines.append(f"| `{path}` | | | read-only |")
            continue
        said = SAID.get(path, Said(note="**cannot be said**"))
        props = ", ".join(f"`{prop}`" for prop in said.props)
        fields = ", ".join(f"`{field}`" for field in said.fields)
        lines.append(f"| `{path}` | {props} | {fields} | {said.note} |")
    return "\n".join(line.replace("  |", " |") for line in lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page_of(schema()))
