"""Reads functions of AWS Lambda and their layers back. Code is told as a digest only and stays unread."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
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
def layer_version(clients: Clients, physical_id: str, _wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a version of a layer."""
    layer, _, version = physical_id.rpartition(":")
    found = clients.client("lambda").get_layer_version(LayerName=layer, VersionNumber=int(version))
    told = copied(found, "Description", "LicenseInfo", "CompatibleRuntimes", "CompatibleArchitectures")
    return {name: value for name, value in told.items() if value not in ("", [])}
