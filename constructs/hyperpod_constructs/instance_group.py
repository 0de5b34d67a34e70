"""One group of equal instances in a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms

from hyperpod_constructs.argument_kinds import (
    AUTO_PATCHING,
    KEY,
    LUSTRE_MOUNT,
    OPEN_ZFS_MOUNT,
    ROLE,
    SCHEDULED_UPDATE,
    SCRIPTS,
    SECURITY_GROUP,
    SUBNET,
    TAINT,
    check_kind,
    check_kinds,
)
from hyperpod_constructs.cluster_properties import known_values, without_absent
from hyperpod_constructs.fault_words import group_faults, group_label
from hyperpod_constructs.group_request import MountRequest, frozen_lists, mount_requests, vpc_request
from hyperpod_constructs.kubernetes_taint import KubernetesTaint
from hyperpod_constructs.slurm_node_type import SlurmNodeType
from hyperpod_constructs.software_updates import AutoPatching, ScheduledUpdate
from hyperpod_constructs.value_faults import choice_faults, number_faults
from hyperpod_model.checks.instance_group import check_instance_group
from hyperpod_model.checks.instance_types import listed_type
from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError, dotted
from hyperpod_model.secondary_volume import secondary_volume_gib

_NUMBERS = ("instance_count", "min_instance_count", "threads_per_core", "secondary_volume_size_gib")
_LISTS = (
    "instance_types",
    "deep_health_checks",
    "partition_names",
    "kubernetes_taints",
    "override_subnets",
    "override_security_groups",
    "lustre_mounts",
    "open_zfs_mounts",
)
_SWITCHES = ("mounts_file_system", "runs_lifecycle_scripts", "unlisted_instance_type")
_CAPACITY = {"spot": "Spot", "on-demand": "OnDemand"}


class ScriptLocation(Protocol):
    """Where lifecycle scripts are; ``LifecycleScripts`` is one."""

    @property
    def source_s3_uri(self) -> str:
        """Prefix in Amazon S3, such as ``s3://bucket/prefix/``."""

    @property
    def entry_point(self) -> str:
        """File name of the script that runs first."""


@dataclass(frozen=True, kw_only=True)
class InstanceGroup:
    """Instances that share everything but their number: a plain value, not a construct.

    The service fixes much of a group when it is created, although CloudFormation's schema calls it
    changeable and an update then fails. Such a change is a *new group name*: the old group goes, the new
    one comes. Fixed are ``instance_type`` and whether it is that or ``instance_types``, ``execution_role``,
    ``threads_per_core``, ``capacity_type``, ``slurm_node_type``, ``override_subnets``,
    ``override_security_groups`` and the KMS keys of the volumes. Changeable are the counts, the lifecycle
    scripts, the deep health checks and the list of ``instance_types``, but for a type with running nodes.
    Sources: SageMaker AI developer guide, sagemaker-hyperpod-operate-slurm-cli-command,
    sagemaker-hyperpod-eks-operate-cli-command-update-cluster, sagemaker-hyperpod-prerequisites,
    smcluster-cmk, and HyperPod Slurm and Spot pages.

    Args:
        name: Name in the cluster, 1 to 63 letters, digits and hyphens. Another name makes another group.
        instance_type: Such as ``ml.p5.48xlarge``. Fixed for an existing group. Default: none, with
            ``instance_types``.
        instance_types: Up to 20 instance types, best first, of which the service takes what there is. Needs
            continuous provisioning. A list can grow and shrink, but not by a type with running nodes; an
            existing group cannot change between one type and a list. Default: ``instance_type`` alone.
        instance_count: Instances wanted, spare nodes included; 0 for a group that Karpenter scales.
        min_instance_count: Instances without which the group does not become ``InService`` at first; not
            reached within three hours, a new group goes back to none. Needs continuous provisioning.
            Default: the cluster becomes ``InService`` with whatever capacity there is.
        threads_per_core: 1 turns simultaneous multithreading off, 2 leaves it on. Fixed for an existing
            group. Default: the instance type's own.
        execution_role: Role of the nodes. Fixed for an existing group. Default: the cluster's.
        deep_health_checks: Checks that a node passes before it takes work, ``InstanceStress`` and
            ``InstanceConnectivity``; an empty list turns them off. ``MultiNodeTrainingValidation`` exists
            in the API only. Default: what the cluster's resilience policy chooses for instance types that
            can be checked, none for others.
        training_plan_arn: Training plan whose reserved capacity the group uses. The subnet must be in the
            plan's zone. Default: on-demand capacity.
        capacity_type: ``spot`` for capacity that is cheap and can go at any time, ``on-demand`` to say the
            default in so many words. Fixed for an existing group. Default: not said, which is on demand.
        image_id: AMI such as ``ami-0123456789abcdef0``, or ``default``. Default: the current HyperPod image.
        image_release_version: Release of HyperPod's own image, such as ``1.2.3``, with EKS. Another release
            updates the nodes. Default: the latest, or that of an existing group of the same architecture.
        auto_patching: Security patches of the image when nodes are idle. Default: none.
        scheduled_update: Updates of the image at set times. Default: none.
        secondary_volume_size_gib: Size in GiB of the second EBS volume, mounted at ``/opt/sagemaker``; 0
            for none. Default: 500 for accelerated instance types, where container images would fill the
            root volume (its size cannot be chosen), and none for others.
        root_volume_kms_key: Key for the root volume. Needs continuous provisioning. Fixed for an existing
            group. Default: a key of the service.
        secondary_volume_kms_key: Key for the second EBS volume. Needs continuous provisioning. Fixed for an
            existing group. Default: a key of the service.
        slurm_node_type: What the nodes do in Slurm. Required where HyperPod configures Slurm, ignored where
            the lifecycle scripts do. Fixed for an existing group. Default: none.
        partition_names: Slurm partition of a compute group, exactly one. Default: none.
        kubernetes_labels: Labels of the nodes by key, with EKS. Default: those of HyperPod only.
        kubernetes_taints: Taints of the nodes, with EKS. Not on groups with deep health checks, which taint
            nodes themselves. Default: none.
        network_interface_type: ``efa`` for EFA interfaces with IP addresses, ``efa-only`` for those without,
            which take fewer addresses of the subnet. Needs instance types with EFA. Default: the service's.
        override_subnets: Subnets of this group instead of the cluster's, for capacity in another zone. EFA
            traffic stays within a zone, so keep all groups of a job in one. Goes with
            ``override_security_groups``; on Slurm the cluster needs subnets of its own too. Fixed for an
            existing group. Default: the cluster's.
        override_security_groups: Security groups of this group instead of the cluster's. Each must allow all
            traffic from and to itself, as ``EfaSecurityGroup`` does. Fixed for an existing group. Default:
            the cluster's.
        lifecycle_scripts: Scripts of this group. Default: the cluster's.
        runs_lifecycle_scripts: Whether nodes run lifecycle scripts, if there are any. ``False`` leaves the
            set-up to HyperPod. Default: ``True``.
        mounts_file_system: Whether HyperPod mounts the cluster's file system, if it has one and HyperPod
            configures Slurm. A change reaches only new nodes. Default: ``True``.
        lustre_mounts: An FSx for Lustre file system for this group, at most one, instead of the cluster's.
            With Slurm that HyperPod configures. A change reaches only new nodes. Default: the cluster's.
        open_zfs_mounts: An existing FSx for OpenZFS file system, at most one, under the same conditions.
            Default: none.
        unlisted_instance_type: Vouch that ``instance_type`` exists though the catalog does not list it, or
            all of ``instance_types`` do. Nothing is known of such a type: no deep health checks or second
            volume by default. Default: ``False``.

    Raises:
        InvalidInputError: With everything that is wrong with the group.
    """

    name: str
    instance_type: str | None = None
    instance_types: Sequence[str] | None = None
    instance_count: int
    min_instance_count: int | None = None
    threads_per_core: int | None = None
    execution_role: iam.IRole | None = None
    deep_health_checks: Sequence[str] | None = None
    training_plan_arn: str | None = None
    capacity_type: str | None = None
    image_id: str | None = None
    image_release_version: str | None = None
    auto_patching: AutoPatching | None = None
    scheduled_update: ScheduledUpdate | None = None
    secondary_volume_size_gib: int | None = None
    root_volume_kms_key: kms.IKey | None = None
    secondary_volume_kms_key: kms.IKey | None = None
    slurm_node_type: SlurmNodeType | None = None
    partition_names: Sequence[str] | None = None
    kubernetes_labels: Mapping[str, str] | None = field(default=None, hash=False)
    kubernetes_taints: Sequence[KubernetesTaint] | None = None
    network_interface_type: str | None = None
    override_subnets: Sequence[ec2.ISubnet] | None = None
    override_security_groups: Sequence[ec2.ISecurityGroup] | None = None
    lifecycle_scripts: ScriptLocation | None = None
    runs_lifecycle_scripts: bool = True
    mounts_file_system: bool = True
    lustre_mounts: Sequence[MountRequest] | None = None
    open_zfs_mounts: Sequence[MountRequest] | None = None
    unlisted_instance_type: bool = False

    def __post_init__(self) -> None:
        self._freeze_lists()
        self._refuse_other_kinds()
        request = known_values(self.to_request(execution_role_arn=UNKNOWN))
        faults = self._own_faults(request)
        if not faults:
            vouched = self.type_names if self.unlisted_instance_type else ()
            found = check_instance_group(request, unlisted_instance_types=vouched)
            faults = [fault for fault in group_faults(found, request) if fault.severity == "error"]
        if faults:
            raise InvalidInputError(faults)

    @property
    def is_accelerated(self) -> bool:
        """Whether an instance type of the group is known to have GPUs or Trainium."""
        found = [listed_type(name) for name in self.type_names]
        return any(one is not None and one.is_accelerated for one in found)

    @property
    def type_names(self) -> tuple[str, ...]:
        """The instance types, best first."""
        single = () if self.instance_type is None else (self.instance_type,)
        return single if self.instance_types is None else (*single, *self.instance_types)

    @property
    def rollback_alarms(self) -> tuple[cloudwatch.IAlarm, ...]:
        """The alarms that roll an update of the group's image back."""
        deployments = [
            update.deployment
            for update in (self.auto_patching, self.scheduled_update)
            if update is not None and update.deployment is not None
        ]
        return tuple(alarm for deployment in deployments for alarm in deployment.rollback_alarms)

    @property
    def secondary_volume_gib(self) -> int | None:
        """Size in GiB of the second EBS volume with the default applied; ``None`` for no volume."""
        return secondary_volume_gib(self.secondary_volume_size_gib, is_accelerated=self.is_accelerated)

    def to_request(
        self,
        *,
        execution_role_arn: Any,
        deep_health_checks: Sequence[str] = (),
        lifecycle_scripts: ScriptLocation | None = None,
        script_hook: str = "OnCreate",
        takes_node_type: bool = True,
        file_system_mount: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the group in the terms of a ``CreateCluster`` request.

        Args:
            execution_role_arn: ARN of the role if the group has none of its own.
            deep_health_checks: Checks if the group does not choose. Default: none.
            lifecycle_scripts: Scripts if the group has none of its own. Default: none.
            script_hook: Member of ``LifeCycleConfig`` that names the entry point. Default: ``OnCreate``.
            takes_node_type: Whether the service is told node type and partition. Default: ``True``.
            file_system_mount: ``FsxLustreConfig`` for groups that mount the file system. Default: no mount.
        """
        role = self.execution_role
        checks = deep_health_checks if self.deep_health_checks is None else self.deep_health_checks
        scripts = lifecycle_scripts if self.lifecycle_scripts is None else self.lifecycle_scripts
        if not self.runs_lifecycle_scripts:
            scripts = None
        mount = file_system_mount if self.mounts_file_system and not self.lustre_mounts else None
        patching, update = self.auto_patching, self.scheduled_update
        flexible = self.instance_types
        return without_absent(
            {
                "InstanceGroupName": self.name,
                "InstanceType": self.instance_type,
                "InstanceRequirements": {"InstanceTypes": list(flexible)} if flexible else None,
                "InstanceCount": self.instance_count,
                "MinInstanceCount": self.min_instance_count,
                "ThreadsPerCore": self.threads_per_core,
                "ExecutionRole": execution_role_arn if role is None else role.role_arn,
                "LifeCycleConfig": None
                if scripts is None
                else {"SourceS3Uri": scripts.source_s3_uri, script_hook: scripts.entry_point},
                "OnStartDeepHealthChecks": list(checks) if checks else None,
                "TrainingPlanArn": self.training_plan_arn,
                "CapacityRequirements": self._capacity(),
                "ImageId": self.image_id,
                "ImageReleaseVersion": self.image_release_version,
                "AutoPatchConfig": None if patching is None else patching.to_request(),
                "ScheduledUpdateConfig": None if update is None else update.to_request(),
                "InstanceStorageConfigs": self._storage(mount) or None,
                "SlurmConfig": self._slurm_config() if takes_node_type else None,
                "KubernetesConfig": self._kubernetes_config(),
                "NetworkInterface": None
                if self.network_interface_type is None
                else {"InterfaceType": self.network_interface_type},
                "OverrideVpcConfig": vpc_request(self.override_subnets, self.override_security_groups),
            }
        )

    def _freeze_lists(self) -> None:
        faults = frozen_lists(self, _LISTS)
        if isinstance(self.kubernetes_labels, Mapping):
            object.__setattr__(self, "kubernetes_labels", MappingProxyType(dict(self.kubernetes_labels)))
        elif self.kubernetes_labels is not None:
            message = f"must be a mapping of keys to values, got {self.kubernetes_labels!r}"
            faults.append(Fault(("kubernetes_labels",), message))
        self._refuse_by_prop(faults)

    def _refuse_other_kinds(self) -> None:
        faults = [
            *check_kind(self.execution_role, ROLE, ("execution_role",)),
            *check_kind(self.root_volume_kms_key, KEY, ("root_volume_kms_key",)),
            *check_kind(self.secondary_volume_kms_key, KEY, ("secondary_volume_kms_key",)),
            *check_kind(self.lifecycle_scripts, SCRIPTS, ("lifecycle_scripts",)),
            *check_kind(self.auto_patching, AUTO_PATCHING, ("auto_patching",)),
            *check_kind(self.scheduled_update, SCHEDULED_UPDATE, ("scheduled_update",)),
            *check_kinds(self.kubernetes_taints, TAINT, ("kubernetes_taints",)),
            *check_kinds(self.override_subnets, SUBNET, ("override_subnets",)),
            *check_kinds(self.override_security_groups, SECURITY_GROUP, ("override_security_groups",)),
            *check_kinds(self.lustre_mounts, LUSTRE_MOUNT, ("lustre_mounts",)),
            *check_kinds(self.open_zfs_mounts, OPEN_ZFS_MOUNT, ("open_zfs_mounts",)),
            *choice_faults(self.capacity_type, tuple(_CAPACITY), "capacity_type"),
            *(
                Fault((name,), f"must be True or False, got {getattr(self, name)!r}")
                for name in _SWITCHES
                if not isinstance(getattr(self, name), bool)
            ),
            *(fault for name in _NUMBERS for fault in number_faults(getattr(self, name), name)),
        ]
        if self.capacity_type is not None and known_values(self.capacity_type) is UNKNOWN:
            message = "decides what is deployed, so it must be known at synthesis, got a token"
            faults.append(Fault(("capacity_type",), message))
        self._refuse_by_prop(faults)

    def _refuse_by_prop(self, faults: Sequence[Fault]) -> None:
        if faults:
            label = group_label(known_values({"InstanceGroupName": self.name}))
            raise InvalidInputError(
                fault._replace(path=(label,), message=f"{dotted(fault.path)} {fault.message}")
                for fault in faults
            )

    def _own_faults(self, request: dict[str, Any]) -> list[Fault]:
        label = (group_label(request),)
        faults = []
        if self.slurm_node_type is not None and not isinstance(self.slurm_node_type, SlurmNodeType):
            faults.append(
                Fault(
                    label,
                    f"slurm_node_type must be a SlurmNodeType, got {self.slurm_node_type!r}; "
                    "use SlurmNodeType.COMPUTE or SlurmNodeType.of(...)",
                )
            )
        if self.secondary_volume_kms_key is not None and self.secondary_volume_gib is None:
            faults.append(
                Fault(
                    label,
                    "secondary_volume_kms_key needs a secondary volume; set secondary_volume_size_gib",
                )
            )
        return faults

    def _storage(self, mount: dict[str, Any] | None) -> list[dict[str, Any]]:
        volumes: list[dict[str, Any]] = []
        if self.root_volume_kms_key is not None:
            key = self.root_volume_kms_key.key_arn
            volumes.append({"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": key}})
        if self.secondary_volume_gib is not None:
            second_key = self.secondary_volume_kms_key
            volume = {
                "VolumeSizeInGB": self.secondary_volume_gib,
                "VolumeKmsKeyId": None if second_key is None else second_key.key_arn,
            }
            volumes.append({"EbsVolumeConfig": without_absent(volume)})
        if mount is not None:
            volumes.append({"FsxLustreConfig": mount})
        return volumes + mount_requests(self.lustre_mounts, self.open_zfs_mounts)

    def _capacity(self) -> dict[str, Any] | None:
        return None if self.capacity_type is None else {_CAPACITY[self.capacity_type]: {}}

    def _kubernetes_config(self) -> dict[str, Any] | None:
        labels, taints = self.kubernetes_labels, self.kubernetes_taints
        config = without_absent(
            {
                "Labels": dict(labels) if labels else None,
                "Taints": [taint.to_request() for taint in taints] if taints else None,
            }
        )
        return config if config else None

    def _slurm_config(self) -> dict[str, Any] | None:
        if self.slurm_node_type is None and not self.partition_names:
            return None
        node_type = self.slurm_node_type
        return without_absent(
            {
                "NodeType": getattr(node_type, "name", node_type),
                "PartitionNames": list(self.partition_names) if self.partition_names else None,
            }
        )
