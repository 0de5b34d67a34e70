"""Restricted instance groups, which train models such as Amazon Nova, and what they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from hyperpod_constructs.argument_kinds import (
    LUSTRE_MOUNT,
    OPEN_ZFS_MOUNT,
    RESTRICTED_FILE_SYSTEM,
    ROLE,
    SECURITY_GROUP,
    SUBNET,
    check_kind,
    check_kinds,
)
from hyperpod_constructs.cluster_properties import known_values, without_absent
from hyperpod_constructs.fault_words import restricted_group_faults, restricted_group_label
from hyperpod_constructs.group_request import MountRequest, frozen_lists, mount_requests, vpc_request
from hyperpod_constructs.value_faults import choice_faults, number_faults, refuse_value, shape_faults
from hyperpod_model.catalog.cluster_request import RequestField, cluster_request
from hyperpod_model.checks.restricted_groups import check_restricted_group
from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError, dotted

_LISTS = (
    "deep_health_checks",
    "override_subnets",
    "override_security_groups",
    "lustre_mounts",
    "open_zfs_mounts",
)
_NUMBERS = ("instance_count", "threads_per_core", "secondary_volume_size_gib")


def _groups() -> RequestField:
    return cluster_request().at("RestrictedInstanceGroups")


@dataclass(frozen=True, kw_only=True)
class RestrictedFileSystem:
    """An FSx for Lustre file system that the service makes for restricted groups.

    Args:
        storage_capacity_gib: Size in GiB, 1200 to 100800.
        throughput_mbps_per_tib: Throughput in MB/s for each TiB, 125 to 1000.

    Raises:
        InvalidInputError: If a number is out of range.
    """

    storage_capacity_gib: int
    throughput_mbps_per_tib: int

    def __post_init__(self) -> None:
        props = {
            "SizeInGiB": "storage_capacity_gib",
            "PerUnitStorageThroughput": "throughput_mbps_per_tib",
        }
        faults = [fault for prop in props.values() for fault in number_faults(getattr(self, prop), prop)]
        if not faults:
            model = _groups().at("EnvironmentConfig", "FSxLustreConfig")
            faults = shape_faults(self.to_request(), model, props)
        refuse_value("restricted file system", faults)

    def to_request(self) -> dict[str, Any]:
        """Return ``FSxLustreConfig`` of a ``CreateCluster`` request."""
        return {
            "SizeInGiB": self.storage_capacity_gib,
            "PerUnitStorageThroughput": self.throughput_mbps_per_tib,
        }


@dataclass(frozen=True, kw_only=True)
class RestrictedEnvironment:
    """A file system that all restricted groups of a cluster share.

    Args:
        file_system: The file system. The API requires it, CloudFormation's schema does not say so.
        deletion_policy: ``Keep`` keeps the file system, and its cost, when the last restricted group goes;
            ``DeleteIfNotUsed`` deletes it with its data. Default: ``Keep``.

    Raises:
        InvalidInputError: If there is no such policy.
    """

    file_system: RestrictedFileSystem
    deletion_policy: str = "Keep"

    def __post_init__(self) -> None:
        policy = cluster_request().at(
            "RestrictedInstanceGroupsConfig", "SharedEnvironmentConfig", "FSxLustreDeletionPolicy"
        )
        faults = check_kind(self.file_system, RESTRICTED_FILE_SYSTEM, ("file_system",), required=True)
        if self.deletion_policy is None:
            faults.append(Fault(("deletion_policy",), "is required: Keep or DeleteIfNotUsed, got None"))
        faults += choice_faults(self.deletion_policy, policy.enum, "deletion_policy")
        refuse_value("restricted environment", faults)

    def to_request(self) -> dict[str, Any]:
        """Return ``RestrictedInstanceGroupsConfig`` of a ``CreateCluster`` request."""
        return {
            "SharedEnvironmentConfig": {
                "FSxLustreConfig": self.file_system.to_request(),
                "FSxLustreDeletionPolicy": self.deletion_policy,
            }
        }


@dataclass(frozen=True, kw_only=True)
class RestrictedInstanceGroup:
    """Instances on which the service runs its own training jobs, and on which nobody logs in.

    They have no lifecycle scripts, labels, taints, node type and image of their own, and their volumes take
    no customer managed keys. What is fixed for an ``InstanceGroup`` is fixed here too: another
    ``instance_type``, ``execution_role``, ``threads_per_core`` or override network is a new name. Updates on
    a schedule can be asked for in the API only. Sources: SageMaker AI developer guide, smcluster-cmk; API
    reference, ClusterRestrictedInstanceGroupSpecification.

    Args:
        name: Name in the cluster, unique among all groups, 1 to 63 letters, digits and hyphens.
        instance_type: Such as ``ml.p5.48xlarge``. Fixed for an existing group.
        instance_count: Instances wanted.
        execution_role: Role of the nodes. Fixed for an existing group. Default: the cluster's.
        file_system: File system that the service makes for this group. Default: none, the shared one of the
            cluster's ``restricted_environment``.
        threads_per_core: 1 turns simultaneous multithreading off, 2 leaves it on. Fixed for an existing
            group. Default: the instance type's own.
        deep_health_checks: Checks that a node passes before it takes work, ``InstanceStress`` and
            ``InstanceConnectivity``. Default: none.
        training_plan_arn: Training plan whose reserved capacity the group uses. Default: on-demand capacity.
        secondary_volume_size_gib: Size in GiB of the second EBS volume. Default: none.
        lustre_mounts: Existing FSx for Lustre file systems, at most one. Default: none.
        open_zfs_mounts: Existing FSx for OpenZFS file systems, at most one. Default: none.
        override_subnets: Subnets of this group instead of the cluster's. Goes with
            ``override_security_groups``. Fixed for an existing group. Default: the cluster's.
        override_security_groups: Security groups of this group instead of the cluster's. Fixed for an
            existing group. Default: the cluster's.

    Raises:
        InvalidInputError: With everything that is wrong with the group.
    """

    name: str
    instance_type: str
    instance_count: int
    execution_role: iam.IRole | None = None
    file_system: RestrictedFileSystem | None = None
    threads_per_core: int | None = None
    deep_health_checks: Sequence[str] = ()
    training_plan_arn: str | None = None
    secondary_volume_size_gib: int | None = None
    lustre_mounts: Sequence[MountRequest] = ()
    open_zfs_mounts: Sequence[MountRequest] = ()
    override_subnets: Sequence[ec2.ISubnet] | None = None
    override_security_groups: Sequence[ec2.ISecurityGroup] | None = None

    def __post_init__(self) -> None:
        faults = [
            *frozen_lists(self, _LISTS),
            *check_kind(self.execution_role, ROLE, ("execution_role",)),
            *check_kind(self.file_system, RESTRICTED_FILE_SYSTEM, ("file_system",)),
            *check_kinds(self.lustre_mounts, LUSTRE_MOUNT, ("lustre_mounts",)),
            *check_kinds(self.open_zfs_mounts, OPEN_ZFS_MOUNT, ("open_zfs_mounts",)),
            *check_kinds(self.override_subnets, SUBNET, ("override_subnets",)),
            *check_kinds(self.override_security_groups, SECURITY_GROUP, ("override_security_groups",)),
            *(fault for name in _NUMBERS for fault in number_faults(getattr(self, name), name)),
        ]
        label = restricted_group_label(known_values({"InstanceGroupName": self.name}))
        if faults:
            raise InvalidInputError(
                fault._replace(path=(label,), message=f"{dotted(fault.path)} {fault.message}")
                for fault in faults
            )
        request = known_values(self.to_request(execution_role_arn=UNKNOWN))
        # The cluster knows which types the user vouches for, and judges them.
        found = check_restricted_group(request, unlisted_instance_types=[self.instance_type])
        said = [fault for fault in restricted_group_faults(found, request) if fault.severity == "error"]
        if said:
            raise InvalidInputError(said)

    def to_request(self, *, execution_role_arn: Any) -> dict[str, Any]:
        """Return the group in the terms of a ``CreateCluster`` request.

        Args:
            execution_role_arn: ARN of the role if the group has none of its own.
        """
        role = self.execution_role
        storage: list[dict[str, Any]] = []
        if self.secondary_volume_size_gib is not None and self.secondary_volume_size_gib != 0:
            storage.append({"EbsVolumeConfig": {"VolumeSizeInGB": self.secondary_volume_size_gib}})
        storage += mount_requests(self.lustre_mounts, self.open_zfs_mounts)
        environment = None if self.file_system is None else {"FSxLustreConfig": self.file_system.to_request()}
        return without_absent(
            {
                "InstanceGroupName": self.name,
                "InstanceType": self.instance_type,
                "InstanceCount": self.instance_count,
                "ExecutionRole": execution_role_arn if role is None else role.role_arn,
                "ThreadsPerCore": self.threads_per_core,
                "OnStartDeepHealthChecks": list(self.deep_health_checks) if self.deep_health_checks else None,
                "TrainingPlanArn": self.training_plan_arn,
                "InstanceStorageConfigs": storage if storage else None,
                "OverrideVpcConfig": vpc_request(self.override_subnets, self.override_security_groups),
                "EnvironmentConfig": environment,
            }
        )
