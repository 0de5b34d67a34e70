"""EventBridge rules."""

from __future__ import annotations

from typing import Any

from aws_double.naming import physical_name
from aws_double.property_changes import tag_changes
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 64
_OF_THE_RULE = ("Description", "EventBusName", "EventPattern", "RoleArn", "ScheduleExpression", "State")


@resource_type(
    "AWS::Events::Rule",
    properties="Name EventBusName Description EventPattern ScheduleExpression State RoleArn Tags Targets",
    updatable="Description EventPattern ScheduleExpression State RoleArn Tags Targets",
)
class Rule(ResourceType):
    """A rule and its targets, which have no life of their own."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        name = wanted.get("Name", physical_name(resource, limit=_LONGEST_NAME))
        tags = wanted.get("Tags", [])
        told = session.call("events", "put_rule", Name=name, Tags=tags, **_rule(wanted))
        resource.physical_id, resource.attributes = name, {"Arn": told["RuleArn"]}
        _target(session, name, wanted)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        name, old, new = after.physical_id, before.properties, after.properties
        session.call("events", "put_rule", Name=name, **_rule(new))
        gone = {target["Id"] for target in old.get("Targets", [])} - {
            target["Id"] for target in new.get("Targets", [])
        }
        _forget(session, name, new, gone)
        _target(session, name, new)
        tags, untagged = tag_changes(old, new)
        arn = after.attributes["Arn"]
        if tags:
            session.call("events", "tag_resource", ResourceARN=arn, Tags=tags)
        if untagged:
            session.call("events", "untag_resource", ResourceARN=arn, TagKeys=untagged)

    def delete(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        _forget(session, resource.physical_id, wanted, {target["Id"] for target in wanted.get("Targets", [])})
        session.call("events", "delete_rule", Name=resource.physical_id, **_bus(wanted))


def _rule(wanted: dict[str, Any]) -> dict[str, Any]:
    return {key: wanted[key] for key in _OF_THE_RULE if key in wanted}


def _bus(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"EventBusName": wanted["EventBusName"]} if "EventBusName" in wanted else {}


def _target(session: Session, name: str, wanted: dict[str, Any]) -> None:
    if not wanted.get("Targets"):
        return
    told = session.call("events", "put_targets", Rule=name, Targets=wanted["Targets"], **_bus(wanted))
    if told["FailedEntryCount"]:
        raise ResourceFailure(f"targets of {name}: {told['FailedEntries']}")


def _forget(session: Session, name: str, wanted: dict[str, Any], ids: set[str]) -> None:
    if ids:
        session.call("events", "remove_targets", Rule=name, Ids=sorted(ids), **_bus(wanted))
