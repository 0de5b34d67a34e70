"""Reads functions of AWS Lambda and their layers back."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from read_back import Clients, reads
from read_back.narrowing import as_asked
from read_back.parts import copied, in_order_of, tags

_SETTINGS = (
    "FunctionName",
    "Architectures",
    "Description",
    "Environment",
    "Handler",
    "LoggingConfig",
    "MemorySize",
    "Role",
    "Runtime",
    "Timeout",
)


@reads("AWS::Lambda::Function")
def function(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a function."""
    found = clients.client("lambda").get_function(FunctionName=physical_id)
    configuration = found["Configuration"]
    told = copied(configuration, *_SETTINGS)
    told = {name: value for name, value in told.items() if value not in ("", {})}
    told |= _code("Code", clients, configuration["CodeSha256"], wanted)
    if "LoggingConfig" in told:
        told["LoggingConfig"] = as_asked(told["LoggingConfig"], wanted.get("LoggingConfig"))
    if configuration.get("Layers"):
        told["Layers"] = [layer["Arn"] for layer in configuration["Layers"]]
    network = configuration.get("VpcConfig", {})
    if network.get("SubnetIds"):
        asked = wanted.get("VpcConfig", {})
        told["VpcConfig"] = {
            name: in_order_of(asked.get(name, []), network[name])
            for name in ("SecurityGroupIds", "SubnetIds")
        }
    return told | tags(found.get("Tags", {}).items(), wanted)


@reads("AWS::Lambda::LayerVersion")
def layer_version(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a version of a layer."""
    layer, _, version = physical_id.rpartition(":")
    found = clients.client("lambda").get_layer_version(LayerName=layer, VersionNumber=int(version))
    told = copied(found, "Description", "LicenseInfo", "CompatibleRuntimes", "CompatibleArchitectures")
    told = {name: value for name, value in told.items() if value not in ("", [])}
    return told | _code("Content", clients, found["Content"]["CodeSha256"], wanted)


def _code(name: str, clients: Clients, digest: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return where code came from, if the digest that is told is that of the object there.

    Inline code goes into an archive of CloudFormation's own, whose digest nobody else can work out.
    """
    place = wanted.get(name, {})
    if "S3Key" not in place:
        return {}
    body = clients.client("s3").get_object(Bucket=place["S3Bucket"], Key=place["S3Key"])["Body"].read()
    same = base64.b64encode(hashlib.sha256(body).digest()).decode() == digest
    return {name: place} if same else {name: digest}
