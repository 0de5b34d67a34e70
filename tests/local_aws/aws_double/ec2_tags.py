"""Tags of EC2 resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.resource import Resource
from aws_double.session import Session


def tags_at_creation(resource: Resource, kind: str) -> dict[str, Any]:
    """Return the parameter with which EC2 tags what it creates; none without tags.

    Args:
        resource: The resource.
        kind: EC2's word for it, such as ``vpc``.
    """
    tags = resource.properties.get("Tags", [])
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": tags}]} if tags else {}


def change_tags(before: Resource, after: Resource, session: Session, *, tagged: str | None = None) -> None:
    """Give a resource its tags of now in place of those of before.

    Args:
        before: With the tags that it has.
        after: With those that it gets.
        session: Who asks.
        tagged: Id that the tags belong to. Default the physical id.
    """
    old, new = _by_key(before.properties), _by_key(after.properties)
    ids = [after.physical_id if tagged is None else tagged]
    gone = [{"Key": key} for key in old if key not in new]
    changed = [{"Key": key, "Value": value} for key, value in new.items() if old.get(key) != value]
    if gone:
        session.call("ec2", "delete_tags", Resources=ids, Tags=gone)
    if changed:
        session.call("ec2", "create_tags", Resources=ids, Tags=changed)


def _by_key(properties: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
