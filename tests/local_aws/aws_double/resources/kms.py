"""Keys and their aliases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_WINDOW_DAYS = 30
_KEY_CHANGES = "Description EnableKeyRotation Enabled KeyPolicy PendingWindowInDays RotationPeriodInDays Tags"


@resource_type("AWS::KMS::Key", properties=f"KeySpec KeyUsage {_KEY_CHANGES}", updatable=_KEY_CHANGES)
class Key(ResourceType):
    """A key; deletion schedules it, as a key never goes at once."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        names = ("Description", "KeySpec", "KeyUsage")
        passed: dict[str, Any] = {key: wanted[key] for key in names if key in wanted}
        if "KeyPolicy" in wanted:
            passed["Policy"] = wanted["KeyPolicy"]
        if "Tags" in wanted:
            passed["Tags"] = _kms_tags(wanted["Tags"])
        metadata = session.call("kms", "create_key", **passed)["KeyMetadata"]
        resource.physical_id = metadata["KeyId"]
        resource.attributes = {"Arn": metadata["Arn"], "KeyId": metadata["KeyId"]}
        _rotate(session, metadata["KeyId"], {}, wanted)
        _enable(session, metadata["KeyId"], {}, wanted)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        key, old, new = after.physical_id, before.properties, after.properties
        if old.get("KeyPolicy") != new.get("KeyPolicy"):
            if "KeyPolicy" not in new:
                raise ResourceFailure("a key's policy cannot be taken away, only changed")
            session.call("kms", "put_key_policy", KeyId=key, PolicyName="default", Policy=new["KeyPolicy"])
        if old.get("Description") != new.get("Description"):
            session.call("kms", "update_key_description", KeyId=key, Description=new.get("Description", ""))
        if old.get("Tags") != new.get("Tags"):
            _change_tags(session, key, old.get("Tags", []), new.get("Tags", []))
        _rotate(session, key, old, new)
        _enable(session, key, old, new)

    def delete(self, resource: Resource, session: Session) -> None:
        window = resource.properties.get("PendingWindowInDays", _LONGEST_WINDOW_DAYS)
        session.call("kms", "schedule_key_deletion", KeyId=resource.physical_id, PendingWindowInDays=window)


def _kms_tags(tags: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in tags]


def _rotate(session: Session, key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    names = ("EnableKeyRotation", "RotationPeriodInDays")
    if [before.get(name) for name in names] == [after.get(name) for name in names]:
        return
    if _true(after.get("EnableKeyRotation")):
        period = {name: after[name] for name in names[1:] if name in after}
        session.call("kms", "enable_key_rotation", KeyId=key, **period)
    else:
        session.call("kms", "disable_key_rotation", KeyId=key)


def _enable(session: Session, key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    old, new = _true(before.get("Enabled", True)), _true(after.get("Enabled", True))
    if old != new:
        session.call("kms", "enable_key" if new else "disable_key", KeyId=key)


def _true(value: Any) -> bool:
    return value is True or value == "true"


def _change_tags(
    session: Session, key: str, before: list[dict[str, str]], after: list[dict[str, str]]
) -> None:
    gone = sorted({tag["Key"] for tag in before} - {tag["Key"] for tag in after})
    if gone:
        session.call("kms", "untag_resource", KeyId=key, TagKeys=gone)
    if after:
        session.call("kms", "tag_resource", KeyId=key, Tags=_kms_tags(after))


@resource_type("AWS::KMS::Alias", properties="AliasName TargetKeyId", updatable="TargetKeyId")
class Alias(ResourceType):
    """Another name of a key."""

    def create(self, resource: Resource, session: Session) -> None:
        session.call("kms", "create_alias", **resource.properties)
        resource.physical_id = resource.properties["AliasName"]

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        session.call("kms", "update_alias", **after.properties)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("kms", "delete_alias", AliasName=resource.physical_id)
