"""What the API says of a file system."""

from __future__ import annotations

from typing import Any

from aws_double import ACCOUNT
from aws_double.services.fsx.api import FileSystem, tagged

CONFIGURATIONS = (
    "LustreConfiguration",
    "OpenZFSConfiguration",
    "WindowsConfiguration",
    "OntapConfiguration",
)
_NOT_DESCRIBED = {
    "ImportPath",
    "ExportPath",
    "ImportedFileChunkSize",
    "AutoImportPolicy",
    "RootVolumeConfiguration",
}


def describe(found: FileSystem) -> dict[str, Any]:
    """Say of a file system what ``DescribeFileSystems`` says."""
    told = {key: value for key, value in found.asked.items() if key not in ("SecurityGroupIds", "Tags")}
    for name in CONFIGURATIONS:
        if name in told:
            told[name] = {key: value for key, value in told[name].items() if key not in _NOT_DESCRIBED}
    if found.type == "LUSTRE":
        lustre = {"DeploymentType": found.deployment_type, **told.get("LustreConfiguration", {})}
        told["LustreConfiguration"] = {**lustre, "MountName": found.mount_name}
    if found.type == "OPENZFS":
        told["OpenZFSConfiguration"] = {
            **told["OpenZFSConfiguration"],
            "RootVolumeId": f"fsvol-{found.id[3:]}",
        }
    if "KmsKeyId" in told and not told["KmsKeyId"].startswith("arn:"):
        partition = found.arn.split(":")[1]
        told["KmsKeyId"] = f"arn:{partition}:kms:{found.region}:{ACCOUNT}:key/{told['KmsKeyId']}"
    return {
        **told,
        "OwnerId": ACCOUNT,
        "CreationTime": found.created,
        "FileSystemId": found.id,
        "Lifecycle": found.lifecycle,
        "VpcId": found.vpc_id,
        "NetworkInterfaceIds": list(found.interfaces),
        "DNSName": found.dns_name,
        "ResourceARN": found.arn,
        **tagged(found.asked.get("Tags", [])),
    }
