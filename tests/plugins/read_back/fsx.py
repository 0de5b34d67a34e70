"""Reads FSx file systems and their links to buckets back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.narrowing import as_asked, in_order, own_tags

_SETTINGS = (
    "FileSystemType",
    "FileSystemTypeVersion",
    "KmsKeyId",
    "StorageCapacity",
    "StorageType",
    "SubnetIds",
    "LustreConfiguration",
    "OpenZFSConfiguration",
)
_LINK = (
    "FileSystemId",
    "FileSystemPath",
    "DataRepositoryPath",
    "BatchImportMetaDataOnCreate",
    "ImportedFileChunkSize",
    "S3",
)


@reads("AWS::FSx::FileSystem")
def file_system(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a file system; its security groups are those of its network interfaces."""
    (found,) = clients.client("fsx").describe_file_systems(FileSystemIds=[physical_id])["FileSystems"]
    interfaces = clients.client("ec2").describe_network_interfaces(
        NetworkInterfaceIds=found["NetworkInterfaceIds"]
    )["NetworkInterfaces"]
    told = {key: as_asked(found[key], wanted.get(key, found[key])) for key in _SETTINGS if key in found}
    groups = sorted({group["GroupId"] for interface in interfaces for group in interface["Groups"]})
    told["SecurityGroupIds"] = in_order(groups, wanted.get("SecurityGroupIds", []))
    return {**told, **own_tags(found.get("Tags", []), wanted)}


@reads("AWS::FSx::DataRepositoryAssociation")
def data_repository_association(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a link."""
    (found,) = clients.client("fsx").describe_data_repository_associations(AssociationIds=[physical_id])[
        "Associations"
    ]
    told = {key: as_asked(found[key], wanted.get(key, found[key])) for key in _LINK if key in found}
    return {**told, **own_tags(found.get("Tags", []), wanted)}
