"""One group of equal instances in a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms

from hyperpod_constructs.argument_kinds import KEY, ROLE, SCRIPTS, check_kind
from hyperpod_constructs.cluster_properties import known_values, without_absent
from hyperpod_constructs.fault_words import group_faults, group_label
from hyperpod_constructs.slurm_node_type import SlurmNodeType
from hyperpod_model.checks.instance_group import check_instance_group
from hyperpod_model.checks.instance_types import listed_type
from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError, dotted
from hyperpod_model.secondary_volume import secondary_volume_gib

_NUMBERS = ("instance_count", "min_instance_count", "threads_per_core", "secondary_volume_size_gib")


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
    """Instances of one type that share everything but their number: a plain value, not a construct.

    The service fixes much of a group when it is created, although CloudFormation's schema calls it
    changeable and an update then fails. Such a change is a *new group name*: the old group goes, the new
    one comes. Fixed are ``instance_type``, ``execution_role``, ``threads_per_core``, ``slurm_node_type``,
    and the KMS keys of the volumes. Changeable are the counts, the lifecycle scripts and the deep health
    checks. Sources: SageMaker AI developer guide, sagemaker-hyperpod-operate-slurm-cli-command,
    smcluster-cmk and HyperPod Slurm pages.

    Args:
        name: Name in the cluster, 1 to 63 letters, digits and hyphens. Another name makes another group.
        instance_type: Such as ``ml.p5.48xlarge``. Fixed for an existing group.
        instance_count: Instances wanted, spare nodes included.
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
        image_id: AMI such as ``ami-0123456789abcdef0``. Default: the current HyperPod image.
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
        lifecycle_scripts: Scripts of this group. Default: the cluster's.
        mounts_file_system: Whether HyperPod mounts the cluster's file system, if it has one and HyperPod
            configures Slurm. A change reaches only new nodes. Default: ``True``.
        unlisted_instance_type: Vouch that ``instance_type`` exists though the catalog does not list it.
            Nothing is known of such a type: no deep health checks or second volume by default. Default:
            ``False``.

    Raises:
        InvalidInputError: With everything that is wrong with the group.
    """

    name: str
    instance_type: str
    instance_count: int
    min_instance_count: int | None = None
    threads_per_core: int | None = None
    execution_role: iam.IRole | None = None
    deep_health_checks: Sequence[str] | None = None
    training_plan_arn: str | None = None
    image_id: str | None = None
    secondary_volume_size_gib: int | None = None
    root_volume_kms_key: kms.IKey | None = None
    secondary_volume_kms_key: kms.IKey | None = None
    slurm_node_type: SlurmNodeType | None = None
    partition_names: Sequence[str] | None = None
    lifecycle_scripts: ScriptLocation | None = None
    mounts_file_system: bool = True
    unlisted_instance_type: bool = False

    def __post_init__(self) -> None:
        self._freeze_lists()
        self._refuse_other_kinds()
        request = known_values(self.to_request(execution_role_arn=UNKNOWN))
        faults = self._own_faults(request)
        if not faults:
            vouched = [self.instance_type] if self.unlisted_instance_type else []
            found = check_instance_group(request, unlisted_instance_types=vouched)
            faults = [fault for fault in group_faults(found, request) if fault.severity == "error"]
        if faults:
            raise InvalidInputError(faults)

    @property
    def is_accelerated(self) -> bool:
        """Whether the instance type is known to have GPUs or Trainium."""
        found = listed_type(self.instance_type)
        return found is not None and found.is_accelerated

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
        mount = file_system_mount if self.mounts_file_system else None
        return without_absent(
            {
                "InstanceGroupName": self.name,
                "InstanceType": self.instance_type,
                "InstanceCount": self.instance_count,
                "MinInstanceCount": self.min_instance_count,
                "ThreadsPerCore": self.threads_per_core,
                "ExecutionRole": execution_role_arn if role is None else role.role_arn,
                "LifeCycleConfig": None
                if scripts is None
                else {"SourceS3Uri": scripts.source_s3_uri, script_hook: scripts.entry_point},
                "OnStartDeepHealthChecks": list(checks) if checks else None,
                "TrainingPlanArn": self.training_plan_arn,
                "ImageId": self.image_id,
                "InstanceStorageConfigs": self._storage(mount) or None,
                "SlurmConfig": self._slurm_config() if takes_node_type else None,
            }
        )

    def _freeze_lists(self) -> None:
        faults = []
        for name in ("deep_health_checks", "partition_names"):
            values = getattr(self, name)
            if isinstance(values, (list, tuple)):
                object.__setattr__(self, name, tuple(values))
            elif values is not None:
                label = group_label(known_values({"InstanceGroupName": self.name}))
                faults.append(Fault((label,), f"{name} must be a list, got {values!r}"))
        if faults:
            raise InvalidInputError(faults)

    def _refuse_other_kinds(self) -> None:
        faults = [
            *check_kind(self.execution_role, ROLE, ("execution_role",)),
            *check_kind(self.root_volume_kms_key, KEY, ("root_volume_kms_key",)),
            *check_kind(self.secondary_volume_kms_key, KEY, ("secondary_volume_kms_key",)),
            *check_kind(self.lifecycle_scripts, SCRIPTS, ("lifecycle_scripts",)),
            *(
                Fault((name,), f"must be True or False, got {getattr(self, name)!r}")
                for name in ("mounts_file_system", "unlisted_instance_type")
                if not isinstance(getattr(self, name), bool)
            ),
            *(fault for name in _NUMBERS for fault in _check_number(getattr(self, name), name)),
        ]
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
        return volumes

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


def _check_number(value: Any, name: str) -> list[Fault]:
    if isinstance(value, (int, float)) or known_values(value) is not UNKNOWN:
        return []
    return [
        Fault(
            (name,),
            "must be a number, got a token of another kind; use value_as_number of a CfnParameter, or "
            "Token.as_number(...)",
        )
    ]
