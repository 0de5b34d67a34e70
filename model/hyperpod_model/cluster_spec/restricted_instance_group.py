"""Restricted instance groups, which train models such as Amazon Nova, and what they share."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.catalog.cluster_request import RequestField, cluster_request
from hyperpod_model.cluster_spec.file_system_mounts import LustreMountSpec, OpenZfsMountSpec
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import Items, SpecModel

DeletionPolicy = Literal["DeleteIfNotUsed", "Keep"]

_GROUP: RequestField = cluster_request().at("RestrictedInstanceGroups")
_LUSTRE = _GROUP.at("EnvironmentConfig", "FSxLustreConfig")


class RestrictedFileSystemSpec(SpecModel):
    """An FSx for Lustre file system that the service makes for restricted groups."""

    storage_capacity_gib: int = Field(
        description="Storage capacity in GiB (SizeInGiB).",
        json_schema_extra=schema_of(_LUSTRE.at("SizeInGiB")),
    )
    throughput_mbps_per_tib: int = Field(
        description="Throughput in MB/s for each TiB of storage (PerUnitStorageThroughput).",
        json_schema_extra=schema_of(_LUSTRE.at("PerUnitStorageThroughput")),
    )


class RestrictedEnvironmentSpec(SpecModel):
    """What the restricted instance groups share."""

    file_system: RestrictedFileSystemSpec = Field(
        description="The file system that the restricted groups share. (The API requires it.)"
    )
    deletion_policy: DeletionPolicy = Field(
        default="Keep",
        description=(
            "What happens to the file system after the last restricted group: 'Keep', or 'DeleteIfNotUsed' "
            "with its data. By default 'Keep'."
        ),
    )


class RestrictedInstanceGroupSpec(SpecModel):
    """A restricted instance group: the service runs its jobs, and nobody logs in. EKS only."""

    name: str = Field(
        description="Name of the group, unique in the cluster: letters, digits and hyphens.",
        json_schema_extra=schema_of(_GROUP.at("InstanceGroupName")),
    )
    instance_type: str = Field(
        description="Instance type with the ml. prefix, such as ml.p5.48xlarge. Fixed once the group exists.",
        json_schema_extra={"pattern": "^ml\\."},
    )
    instance_count: int = Field(
        description="Number of instances.", json_schema_extra=schema_of(_GROUP.at("InstanceCount"))
    )
    execution_role_arn: str | None = Field(
        default=None,
        description="ARN of an existing role for the nodes. By default the role that all groups share.",
        json_schema_extra=schema_of(_GROUP.at("ExecutionRole")),
    )
    threads_per_core: int | None = Field(
        default=None,
        description="Threads a CPU core, 1 or 2. By default what the instance type does by itself.",
        json_schema_extra=schema_of(_GROUP.at("ThreadsPerCore")),
    )
    training_plan_arn: str | None = Field(
        default=None,
        description="ARN of the training plan whose capacity is used. By default on-demand capacity.",
        json_schema_extra=schema_of(_GROUP.at("TrainingPlanArn")),
    )
    deep_health_checks: Items[str] = Field(
        default=(),
        description=(
            "Deep health checks that nodes pass before they take work: 'InstanceStress', "
            "'InstanceConnectivity'. By default none."
        ),
    )
    secondary_volume_size_gib: int | None = Field(
        default=None,
        description=(
            "Size in GiB of a second EBS volume, with a key of the service's own: restricted groups take no "
            "other. By default none."
        ),
        json_schema_extra=schema_of(_GROUP.at("InstanceStorageConfigs", "EbsVolumeConfig", "VolumeSizeInGB")),
    )
    lustre_mounts: Items[LustreMountSpec] = Field(
        default=(),
        description="Existing FSx for Lustre file system to mount, one at most. By default none.",
    )
    open_zfs_mounts: Items[OpenZfsMountSpec] = Field(
        default=(),
        description="Existing FSx for OpenZFS file system to mount, one at most. By default none.",
    )
    override_subnet_ids: Items[str] | None = Field(
        default=None,
        description="IDs of subnets for this group instead of the cluster's. By default the cluster's.",
    )
    override_security_group_ids: Items[str] | None = Field(
        default=None,
        description="IDs of security groups, with override_subnet_ids. By default the cluster's.",
    )
    file_system: RestrictedFileSystemSpec | None = Field(
        default=None,
        description="A file system that the service makes for this group. By default none.",
    )

    @property
    def secondary_volume_gib(self) -> int | None:
        """Size in GiB of the second EBS volume, None for no volume."""
        return self.secondary_volume_size_gib
