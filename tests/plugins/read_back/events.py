"""Reads EventBridge rules back."""

from __future__ import annotations

import json
from typing import Any

from read_back import Clients, reads
from read_back.narrowing import in_order, own_tags
from read_back.parts import copied


@reads("AWS::Events::Rule")
def rule(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a rule with its targets."""
    events = clients.client("events")
    found = events.describe_rule(Name=physical_id)
    told = copied(found, "Name", "Description", "State", "ScheduleExpression", "RoleArn", "EventBusName")
    if "EventPattern" in found:
        told["EventPattern"] = json.loads(found["EventPattern"])
    told |= own_tags(events.list_tags_for_resource(ResourceARN=found["Arn"])["Tags"], wanted)
    targets = events.list_targets_by_rule(Rule=physical_id)["Targets"]
    return told | {"Targets": in_order(targets, wanted.get("Targets", []), key="Id")}
