"""Functions of AWS Lambda, their layers and who may call them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

from aws_double import usage
from aws_double.naming import physical_name
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 64
_SETTINGS = (
    "Description Environment Handler Layers LoggingConfig MemorySize Role Runtime Timeout TracingConfig "
    "VpcConfig EphemeralStorage"
)


@resource_type(
    "AWS::Lambda::Function",
    properties=f"FunctionName Architectures Code Tags {_SETTINGS}",
    updatable=f"Architectures Code Tags {_SETTINGS}",
)
class Function(ResourceType):
    """A function. Its network interfaces hold subnets and security groups while it is there."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        name = wanted.get("FunctionName", physical_name(resource, limit=_LONGEST_NAME))
        request = {key: wanted[key] for key in _settings(wanted)}
        request["Code"] = _code(wanted["Code"], wanted, session)
        for key in ("Architectures", "Tags"):
            if key in wanted:
                request[key] = wanted[key]
        created = session.call("lambda", "create_function", FunctionName=name, **request)
        resource.physical_id = name
        resource.attributes = {"Arn": created["FunctionArn"]}
        _hold(resource)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        name, old, new = after.physical_id, before.properties, after.properties
        gone = sorted(set(_settings(old)) - set(_settings(new)))
        if gone:
            raise ResourceFailure(f"{', '.join(gone)} cannot be taken away in this double")
        changed = {key: new[key] for key in _settings(new) if new[key] != old.get(key)}
        if changed:
            session.call("lambda", "update_function_configuration", FunctionName=name, **changed)
        if any(old.get(key) != new.get(key) for key in ("Architectures", "Code")):
            code = _code(new["Code"], new, session)
            if "Architectures" in new:
                code["Architectures"] = new["Architectures"]
            session.call("lambda", "update_function_code", FunctionName=name, **code)
        if old.get("Tags") != new.get("Tags"):
            _change_tags(session, after.attributes["Arn"], old.get("Tags", []), new.get("Tags", []))
        _hold(after)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("lambda", "delete_function", FunctionName=resource.physical_id)
        usage.release(resource.attributes["Arn"])


def _settings(properties: Mapping[str, Any]) -> list[str]:
    return [key for key in _SETTINGS.split() if key in properties]


def _hold(resource: Resource) -> None:
    network = resource.properties.get("VpcConfig", {})
    usage.hold(
        resource.attributes["Arn"],
        [*network.get("SubnetIds", []), *network.get("SecurityGroupIds", [])],
    )


def _code(code: Mapping[str, Any], properties: Mapping[str, Any], session: Session) -> dict[str, Any]:
    """Return the code as the API takes it: CloudFormation itself zips what stands in the template."""
    if "ZipFile" in code:
        if not str(properties.get("Runtime", "")).startswith("python"):
            raise ResourceFailure(f"inline code for {properties.get('Runtime')} in this double: Python only")
        return {"ZipFile": _zipped("index.py", code["ZipFile"])}
    _require_object(session, code["S3Bucket"], code["S3Key"])
    return dict(code)


def _zipped(name: str, text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return buffer.getvalue()


def _require_object(session: Session, bucket: str, key: str) -> None:
    """Read the code as the caller, as AWS Lambda does; moto would look past bucket policies."""
    session.client("s3").head_object(Bucket=bucket, Key=key)


def _change_tags(
    session: Session, arn: str, before: list[dict[str, str]], after: list[dict[str, str]]
) -> None:
    gone = sorted({tag["Key"] for tag in before} - {tag["Key"] for tag in after})
    if gone:
        session.call("lambda", "untag_resource", Resource=arn, TagKeys=gone)
    if after:
        session.call("lambda", "tag_resource", Resource=arn, Tags=after)


_LAYER = "LayerName Content Description LicenseInfo CompatibleRuntimes CompatibleArchitectures"


@resource_type("AWS::Lambda::LayerVersion", properties=_LAYER)
class LayerVersion(ResourceType):
    """A version of a layer; any change makes another."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = dict(resource.properties)
        name = wanted.pop("LayerName", physical_name(resource, limit=_LONGEST_NAME))
        _require_object(session, wanted["Content"]["S3Bucket"], wanted["Content"]["S3Key"])
        created = session.call("lambda", "publish_layer_version", LayerName=name, **wanted)
        resource.physical_id = created["LayerVersionArn"]
        resource.attributes = {"LayerVersionArn": created["LayerVersionArn"]}

    def delete(self, resource: Resource, session: Session) -> None:
        layer, _, version = resource.physical_id.rpartition(":")
        session.call("lambda", "delete_layer_version", LayerName=layer, VersionNumber=int(version))


@resource_type(
    "AWS::Lambda::Permission",
    properties="Action FunctionName Principal SourceAccount SourceArn PrincipalOrgID",
)
class Permission(ResourceType):
    """A statement in the policy of a function."""

    def create(self, resource: Resource, session: Session) -> None:
        name = physical_name(resource, limit=100)
        session.call("lambda", "add_permission", StatementId=name, **resource.properties)
        resource.physical_id = name

    def delete(self, resource: Resource, session: Session) -> None:
        session.call(
            "lambda",
            "remove_permission",
            FunctionName=resource.properties["FunctionName"],
            StatementId=resource.physical_id,
        )
