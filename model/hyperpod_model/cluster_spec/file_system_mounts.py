"""File systems that exist already and that HyperPod mounts on the nodes of a group."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import SpecModel

_LUSTRE = instance_group().at("InstanceStorageConfigs", "FsxLustreConfig")
_OPEN_ZFS = instance_group().at("InstanceStorageConfigs", "FsxOpenZfsConfig")


class OpenZfsMountSpec(SpecModel):
    """An existing FSx for OpenZFS file system."""

    dns_name: str = Field(
        description="DNS name of the file system, such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com.",
        json_schema_extra=schema_of(_OPEN_ZFS.at("DnsName")),
    )
    mount_path: str | None = Field(
        default=None,
        description="Where the nodes mount it. By default /home.",
        json_schema_extra=schema_of(_OPEN_ZFS.at("MountPath")),
    )


class LustreMountSpec(SpecModel):
    """An existing FSx for Lustre file system."""

    dns_name: str = Field(
        description="DNS name of the file system, such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com.",
        json_schema_extra=schema_of(_LUSTRE.at("DnsName")),
    )
    mount_name: str = Field(
        description="Mount name of the file system, as FSx shows it.",
        json_schema_extra=schema_of(_LUSTRE.at("MountName")),
    )
    mount_path: str | None = Field(
        default=None,
        description="Where the nodes mount it. By default /fsx.",
        json_schema_extra=schema_of(_LUSTRE.at("MountPath")),
    )
