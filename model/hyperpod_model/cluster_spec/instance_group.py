"""One group of instances."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.catalog.instances import InstanceType, instance_type, instance_types
from hyperpod_model.cluster_spec.file_system_mounts import LustreMountSpec, OpenZfsMountSpec
from hyperpod_model.cluster_spec.kubernetes_taint import KubernetesTaintSpec
from hyperpod_model.cluster_spec.lifecycle_scripts import GroupLifecycleScriptsSpec
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.cluster_spec.software_updates import AutoPatchingSpec, ScheduledUpdateSpec
from hyperpod_model.secondary_volume import secondary_volume_gib
from hyperpod_model.spec_files.spec_model import Items, SpecModel

NodeType = Literal["Controller", "Login", "Compute"]
CapacityType = Literal["spot", "on-demand"]
NetworkInterfaceType = Literal["efa", "efa-only"]

_GROUP = instance_group()
_EBS = _GROUP.at("InstanceStorageConfigs", "EbsVolumeConfig")
_CHECKS = _GROUP.at("OnStartDeepHealthChecks").item
_PARTITION = _GROUP.at("SlurmConfig", "PartitionNames").item


def _instance_type_keywords() -> dict[str, Any]:
    # A type newer than the catalog is the service's to judge: editors offer the known ones and accept others.
    return {"anyOf": [{"enum": list(instance_types())}, {"pattern": "^ml\\."}]}


class InstanceGroupSpec(SpecModel):
    """A group of instances of one type, or of one of several types."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["instance_type"]}, {"required": ["instance_types"]}]}
    )

    name: str = Field(
        description="Name of the group, unique in the cluster: letters, digits and hyphens.",
        json_schema_extra=schema_of(_GROUP.at("InstanceGroupName")),
    )
    node_type: NodeType | None = Field(
        default=None,
        description=(
            "Role of the nodes in Slurm: 'Controller' (one group of one instance), 'Login' (one group at "
            "most) or 'Compute'. Required in slurm.mode 'api' and fixed once the group exists. By default "
            "none."
        ),
    )
    partition_names: Items[str] = Field(
        default=(),
        description=(
            "Slurm partition of a 'Compute' group, exactly one; every compute node is in partition dev "
            "besides. By default none."
        ),
        json_schema_extra={"maxItems": 1}
        | ({} if _PARTITION is None else {"items": {"type": "string"} | schema_of(_PARTITION)}),
    )
    instance_type: str | None = Field(
        default=None,
        description=(
            "Instance type with the ml. prefix, such as ml.p5.48xlarge. Fixed once the group exists. "
            "Required unless instance_types are given."
        ),
        json_schema_extra=_instance_type_keywords(),
    )
    instance_types: Items[str] = Field(
        default=(),
        description=(
            "Instance types of a flexible group, best first, in place of instance_type: HyperPod takes what "
            "there is. Needs continuous provisioning. By default none."
        ),
        json_schema_extra={"maxItems": _GROUP.at("InstanceRequirements", "InstanceTypes").max},
    )
    instance_count: int = Field(
        description="Number of instances, spare nodes included.",
        json_schema_extra=schema_of(_GROUP.at("InstanceCount")),
    )
    min_instance_count: int | None = Field(
        default=None,
        description=(
            "Instances that must be running before the group first counts as in service; not reached within "
            "three hours, the group is rolled back. Needs continuous provisioning. By default the cluster is "
            "in service with whatever capacity came."
        ),
        json_schema_extra=schema_of(_GROUP.at("MinInstanceCount")),
    )
    threads_per_core: int | None = Field(
        default=None,
        description=(
            "Threads a CPU core: 1 turns simultaneous multithreading off. Fixed once the group exists. By "
            "default what the instance type does by itself."
        ),
        json_schema_extra=schema_of(_GROUP.at("ThreadsPerCore")),
    )
    training_plan_arn: str | None = Field(
        default=None,
        description=(
            "ARN of the training plan whose reserved capacity the group uses; the subnet must be in the "
            "plan's zone. By default on-demand capacity."
        ),
        json_schema_extra=schema_of(_GROUP.at("TrainingPlanArn")),
    )
    capacity_type: CapacityType | None = Field(
        default=None,
        description=(
            "'spot': spare capacity that AWS takes back at short notice. 'on-demand': it is yours until you "
            "give it back. Fixed once the group exists. By default nothing is sent, which means on-demand."
        ),
    )
    image_id: str | None = Field(
        default=None,
        description=(
            "ID of a custom machine image, such as ami-0123456789abcdef0. By default HyperPod's current "
            "image."
        ),
        json_schema_extra=schema_of(_GROUP.at("ImageId")),
    )
    image_release_version: str | None = Field(
        default=None,
        description=(
            "Release of HyperPod's image, such as 1.2.3 in quotes. By default the latest at creation."
        ),
        json_schema_extra=schema_of(_GROUP.at("ImageReleaseVersion")),
    )
    deep_health_checks: Items[str] | None = Field(
        default=None,
        description=(
            "Deep health checks that nodes pass before they take work: 'InstanceStress', "
            "'InstanceConnectivity'. An empty list turns them off. By default chosen from resilience, for "
            "groups with GPUs."
        ),
        json_schema_extra={} if _CHECKS is None else {"items": {"enum": list(_CHECKS.cloudformation_enum)}},
    )
    secondary_volume_size_gib: int | None = Field(
        default=None,
        description=(
            "Size in GiB of the second EBS volume, mounted at /opt/sagemaker; 0 for none. By default 500 for "
            "groups with accelerators, where container images fill the root volume, and none for others."
        ),
        json_schema_extra={"minimum": 0, "maximum": _EBS.at("VolumeSizeInGB").max},
    )
    root_volume_kms_key_arn: str | None = Field(
        default=None,
        description=(
            "ARN of the KMS key for the root volume. Needs continuous provisioning; never changes for a "
            "group. By default a key of the service's own."
        ),
    )
    secondary_volume_kms_key_arn: str | None = Field(
        default=None,
        description=(
            "ARN of the KMS key for the second EBS volume. Needs continuous provisioning; never changes for "
            "a group. By default a key of the service's own."
        ),
    )
    execution_role_arn: str | None = Field(
        default=None,
        description=(
            "ARN of an existing role for the nodes, of the same account. It is not changed, so it must "
            "already have every permission the nodes need, but for lifecycle scripts that are uploaded and "
            "the checkpoint bucket: their policies let it in. Fixed once the group exists. By default a role "
            "is made, shared by all groups without one."
        ),
        json_schema_extra=schema_of(_GROUP.at("ExecutionRole")),
    )
    lifecycle_scripts: GroupLifecycleScriptsSpec | None = Field(
        default=None,
        description="Lifecycle scripts of this group, where they differ. By default those of the cluster.",
    )
    runs_lifecycle_scripts: bool = Field(
        default=True,
        description=(
            "Whether the nodes run the cluster's lifecycle_scripts, if there are some. By default true."
        ),
    )
    mounts_file_system: bool = Field(
        default=True,
        description=(
            "Whether the nodes mount the cluster's file_system, if there is one. Slurm only; with EKS, pods "
            "mount it. By default true."
        ),
    )
    lustre_mounts: Items[LustreMountSpec] = Field(
        default=(),
        description=(
            "Existing FSx for Lustre file system that HyperPod mounts on the nodes, one at most and in place "
            "of the cluster's file_system. By default none."
        ),
    )
    open_zfs_mounts: Items[OpenZfsMountSpec] = Field(
        default=(),
        description=(
            "Existing FSx for OpenZFS file system that HyperPod mounts on the nodes, one at most. By default "
            "none."
        ),
    )
    kubernetes_labels: dict[str, str] = Field(
        default={},
        description="Labels of the nodes in Kubernetes. EKS only. By default none.",
        json_schema_extra={"maxProperties": _GROUP.at("KubernetesConfig", "Labels").max},
    )
    kubernetes_taints: Items[KubernetesTaintSpec] = Field(
        default=(),
        description=(
            "Taints of the nodes in Kubernetes; none in groups with deep health checks. EKS only. By default "
            "none."
        ),
        json_schema_extra={"maxItems": _GROUP.at("KubernetesConfig", "Taints").max},
    )
    network_interface_type: NetworkInterfaceType | None = Field(
        default=None,
        description=(
            "Kind of the EFA interfaces: 'efa' with an IP address each, 'efa-only' without, which saves "
            "addresses of the subnet. By default the service's own."
        ),
    )
    override_subnet_ids: Items[str] | None = Field(
        default=None,
        description=(
            "IDs of existing subnets for this group instead of the cluster's, with "
            "override_security_group_ids. EFA does not cross zones: the groups of one job belong in one. "
            "Fixed once the group exists. By default the cluster's."
        ),
    )
    override_security_group_ids: Items[str] | None = Field(
        default=None,
        description=(
            "IDs of existing security groups for this group, with override_subnet_ids. Each must allow all "
            "traffic from and to itself. Fixed once the group exists. By default the cluster's."
        ),
    )
    auto_patching: AutoPatchingSpec | None = Field(
        default=None,
        description="Automatic patches of the nodes' image. By default none.",
    )
    scheduled_update: ScheduledUpdateSpec | None = Field(
        default=None,
        description="Updates of the nodes' image at set times. By default none.",
    )

    @property
    def named_instance_types(self) -> tuple[str, ...]:
        """The instance type, or the instance types of a flexible group, best first."""
        if isinstance(self.instance_type, str):
            return (self.instance_type,)
        if not isinstance(self.instance_types, tuple):
            return ()
        return tuple(name for name in self.instance_types if isinstance(name, str))

    @property
    def known_instance_types(self) -> tuple[InstanceType, ...]:
        """The catalog's entries for the instance types, without those that it lacks."""
        found = (_listed(name) for name in self.named_instance_types)
        return tuple(entry for entry in found if entry is not None)

    @property
    def is_accelerated(self) -> bool:
        """Whether an instance type of the group is known to have GPUs or Trainium."""
        return any(found.is_accelerated for found in self.known_instance_types)

    @property
    def secondary_volume_gib(self) -> int | None:
        """Size in GiB of the second EBS volume with the default applied, None for no volume."""
        return secondary_volume_gib(self.secondary_volume_size_gib, is_accelerated=self.is_accelerated)


def _listed(name: str) -> InstanceType | None:
    try:
        return instance_type(name)
    except UnknownNameError:
        return None
