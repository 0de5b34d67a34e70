"""The shared file system."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.cluster_spec.data_repository import DataRepositorySpec
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import SpecModel

FileSystemRemoval = Literal["final-backup", "retain"]

_MOUNT_PATH = instance_group().at("InstanceStorageConfigs", "FsxLustreConfig", "MountPath")


class FileSystemSpec(SpecModel):
    """An FSx for Lustre file system (PERSISTENT_2, SSD), made for the cluster and mounted on its nodes."""

    storage_capacity_gib: int = Field(
        default=4800,
        description="Storage capacity in GiB: 1200, 2400, or a multiple of 2400. By default 4800.",
    )
    throughput_mbps_per_tib: int = Field(
        default=250,
        description="Throughput in MB/s for each TiB of storage: 125, 250, 500 or 1000. By default 250.",
    )
    mount_path: str = Field(
        default="/fsx",
        description="Where the nodes mount it. By default /fsx.",
        json_schema_extra=schema_of(_MOUNT_PATH),
    )
    removal: FileSystemRemoval = Field(
        default="final-backup",
        description=(
            "What happens to the data when the file system leaves the stack. 'final-backup': the file system "
            "is deleted and a backup is kept. 'retain': it is kept, with the network and key it needs. By "
            "default 'final-backup'."
        ),
    )
    efa_enabled: bool = Field(
        default=False,
        description=(
            "Whether clients reach the file system over EFA. It is fixed at creation and asks for a larger "
            "file system. By default false."
        ),
    )
    data_repository: DataRepositorySpec | None = Field(
        default=None,
        description="Data in S3 that the file system shows as files. By default none.",
    )
