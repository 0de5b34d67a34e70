"""One group of instances."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.catalog.instances import InstanceType, instance_type, instance_types
from hyperpod_model.cluster_spec.lifecycle_scripts import GroupLifecycleScriptsSpec
from hyperpod_model.cluster_spec.spec_model import Items, SpecModel, schema_of
from hyperpod_model.secondary_volume import secondary_volume_gib

NodeType = Literal["Controller", "Login", "Compute"]

_GROUP = instance_group()
_EBS = _GROUP.at("InstanceStorageConfigs", "EbsVolumeConfig")
_CHECKS = _GROUP.at("OnStartDeepHealthChecks").item
_PARTITION = _GROUP.at("SlurmConfig", "PartitionNames").item


def _instance_type_keywords() -> dict[str, Any]:
    # A type newer than the catalog is the service's to judge: editors offer the known ones and accept others.
    return {"anyOf": [{"enum": list(instance_types())}, {"pattern": "^ml\\."}]}


class InstanceGroupSpec(SpecModel):
    """A group of instances of one type."""

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
    instance_type: str = Field(
        description="Instance type with the ml. prefix, such as ml.p5.48xlarge. Fixed once the group exists.",
        json_schema_extra=_instance_type_keywords(),
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
    image_id: str | None = Field(
        default=None,
        description=(
            "ID of a custom machine image, such as ami-0123456789abcdef0. By default HyperPod's current "
            "image."
        ),
        json_schema_extra=schema_of(_GROUP.at("ImageId")),
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
    mounts_file_system: bool = Field(
        default=True,
        description="Whether the nodes mount the cluster's file_system, if there is one. By default true.",
    )

    @property
    def known_instance_type(self) -> InstanceType | None:
        """The catalog's entry for the instance type, None where the catalog has none."""
        if not isinstance(self.instance_type, str):
            return None
        try:
            return instance_type(self.instance_type)
        except UnknownNameError:
            return None

    @property
    def is_accelerated(self) -> bool:
        """Whether the instance type is known to have GPUs or Trainium."""
        found = self.known_instance_type
        return found is not None and found.is_accelerated

    @property
    def secondary_volume_gib(self) -> int | None:
        """Size in GiB of the second EBS volume with the default applied, None for no volume."""
        return secondary_volume_gib(self.secondary_volume_size_gib, is_accelerated=self.is_accelerated)
