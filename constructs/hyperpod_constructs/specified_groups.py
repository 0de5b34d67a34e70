"""Instance groups as a specification says them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hyperpod_constructs.existing_resources import ExistingResources
from hyperpod_constructs.instance_group import InstanceGroup, ScriptLocation
from hyperpod_constructs.kubernetes_taint import KubernetesTaint
from hyperpod_constructs.lustre_mount import LustreMount
from hyperpod_constructs.openzfs_mount import OpenZfsMount
from hyperpod_constructs.restricted_instance_group import (
    RestrictedEnvironment,
    RestrictedFileSystem,
    RestrictedInstanceGroup,
)
from hyperpod_constructs.slurm_node_type import SlurmNodeType
from hyperpod_constructs.software_updates import AutoPatching, BatchSize, Deployment, ScheduledUpdate
from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.cluster_spec import ClusterSpec, InstanceGroupSpec
from hyperpod_model.cluster_spec.file_system_mounts import LustreMountSpec, OpenZfsMountSpec
from hyperpod_model.cluster_spec.restricted_instance_group import (
    RestrictedFileSystemSpec,
    RestrictedInstanceGroupSpec,
)
from hyperpod_model.cluster_spec.software_updates import (
    AutoPatchingSpec,
    BatchSizeSpec,
    DeploymentSpec,
    ScheduledUpdateSpec,
)

T = TypeVar("T")


class SpecifiedGroups:
    """Makes the groups of a cluster.

    Args:
        spec: The cluster.
        existing: Where roles, keys, subnets and alarms come from.
        scripts_of: Lifecycle scripts of a group, where they differ from the cluster's.
    """

    def __init__(
        self,
        spec: ClusterSpec,
        *,
        existing: ExistingResources,
        scripts_of: Callable[[InstanceGroupSpec], ScriptLocation | None],
    ) -> None:
        self._spec = spec
        self._existing = existing
        self._scripts_of = scripts_of

    def instance_groups(self) -> list[InstanceGroup]:
        """The instance groups."""
        return [self._group(said) for said in self._spec.instance_groups]

    def restricted_groups(self) -> list[RestrictedInstanceGroup]:
        """The restricted instance groups."""
        return [self._restricted(said) for said in self._spec.restricted_instance_groups]

    def restricted_environment(self) -> RestrictedEnvironment | None:
        """What the restricted groups share."""
        said = self._spec.restricted_environment
        if said is None:
            return None
        return RestrictedEnvironment(
            file_system=_restricted_file_system(said.file_system), deletion_policy=said.deletion_policy
        )

    def _group(self, said: InstanceGroupSpec) -> InstanceGroup:
        existing, vouched = self._existing, self._spec.unlisted_instance_types
        role, groups = said.execution_role_arn, said.override_security_group_ids
        root, second = said.root_volume_kms_key_arn, said.secondary_volume_kms_key_arn
        types = said.instance_types if said.instance_type is None else (said.instance_type,)
        unlisted = [name for name in types if name not in instance_types()]
        return InstanceGroup(
            name=said.name,
            instance_type=said.instance_type,
            instance_types=said.instance_types if said.instance_types else None,
            instance_count=said.instance_count,
            min_instance_count=said.min_instance_count,
            threads_per_core=said.threads_per_core,
            execution_role=None if role is None else existing.role(role),
            deep_health_checks=said.deep_health_checks,
            training_plan_arn=said.training_plan_arn,
            capacity_type=said.capacity_type,
            image_id=said.image_id,
            image_release_version=said.image_release_version,
            auto_patching=self._auto_patching(said.auto_patching),
            scheduled_update=self._scheduled_update(said.scheduled_update),
            secondary_volume_size_gib=said.secondary_volume_size_gib,
            root_volume_kms_key=None if root is None else existing.key(root),
            secondary_volume_kms_key=None if second is None else existing.key(second),
            slurm_node_type=None if said.node_type is None else SlurmNodeType.of(said.node_type),
            partition_names=said.partition_names,
            kubernetes_labels=said.kubernetes_labels if said.kubernetes_labels else None,
            kubernetes_taints=[
                KubernetesTaint(key=taint.key, value=taint.value, effect=taint.effect)
                for taint in said.kubernetes_taints
            ],
            network_interface_type=said.network_interface_type,
            override_subnets=_each(said.override_subnet_ids, existing.subnet),
            override_security_groups=_each(groups, existing.security_group),
            lifecycle_scripts=self._scripts_of(said),
            runs_lifecycle_scripts=said.runs_lifecycle_scripts,
            mounts_file_system=said.mounts_file_system,
            lustre_mounts=_lustre_mounts(said.lustre_mounts),
            open_zfs_mounts=_openzfs_mounts(said.open_zfs_mounts),
            unlisted_instance_type=bool(unlisted) and all(name in vouched for name in unlisted),
        )

    def _restricted(self, said: RestrictedInstanceGroupSpec) -> RestrictedInstanceGroup:
        existing, role = self._existing, said.execution_role_arn
        return RestrictedInstanceGroup(
            name=said.name,
            instance_type=said.instance_type,
            instance_count=said.instance_count,
            execution_role=None if role is None else existing.role(role),
            file_system=None if said.file_system is None else _restricted_file_system(said.file_system),
            threads_per_core=said.threads_per_core,
            deep_health_checks=said.deep_health_checks,
            training_plan_arn=said.training_plan_arn,
            secondary_volume_size_gib=said.secondary_volume_size_gib,
            lustre_mounts=_lustre_mounts(said.lustre_mounts),
            open_zfs_mounts=_openzfs_mounts(said.open_zfs_mounts),
            override_subnets=_each(said.override_subnet_ids, existing.subnet),
            override_security_groups=_each(said.override_security_group_ids, existing.security_group),
        )

    def _auto_patching(self, said: AutoPatchingSpec | None) -> AutoPatching | None:
        if said is None:
            return None
        return AutoPatching(strategy=said.strategy, deployment=self._deployment(said.deployment))

    def _scheduled_update(self, said: ScheduledUpdateSpec | None) -> ScheduledUpdate | None:
        if said is None:
            return None
        return ScheduledUpdate(
            schedule_expression=said.schedule_expression, deployment=self._deployment(said.deployment)
        )

    def _deployment(self, said: DeploymentSpec | None) -> Deployment | None:
        if said is None:
            return None
        return Deployment(
            maximum_batch_size=_batch_size(said.maximum_batch_size),
            rollback_maximum_batch_size=_batch_size(said.rollback_maximum_batch_size),
            wait_interval_seconds=said.wait_interval_seconds,
            rollback_alarms=[self._existing.alarm(name) for name in said.rollback_alarm_names],
        )


def _batch_size(said: BatchSizeSpec | None) -> BatchSize | None:
    return None if said is None else BatchSize(said.type, said.value)


def _restricted_file_system(said: RestrictedFileSystemSpec) -> RestrictedFileSystem:
    return RestrictedFileSystem(
        storage_capacity_gib=said.storage_capacity_gib, throughput_mbps_per_tib=said.throughput_mbps_per_tib
    )


def _lustre_mounts(said: Sequence[LustreMountSpec]) -> list[LustreMount]:
    return [
        LustreMount(dns_name=mount.dns_name, mount_name=mount.mount_name, mount_path=mount.mount_path)
        for mount in said
    ]


def _openzfs_mounts(said: Sequence[OpenZfsMountSpec]) -> list[OpenZfsMount]:
    return [OpenZfsMount(dns_name=mount.dns_name, mount_path=mount.mount_path) for mount in said]


def _each(ids: Sequence[str] | None, load: Callable[[str], T]) -> list[T] | None:
    return None if ids is None else [load(id) for id in ids]
