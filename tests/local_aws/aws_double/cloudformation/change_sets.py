"""Change sets: what a goal would change in a stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from aws_double import ACCOUNT
from aws_double.cloudformation.plan import Plan, refuse_other_types
from aws_double.cloudformation.stack import Deployed, Goal, Stack
from aws_double.cloudformation.world import Exports, StackWorld
from aws_double.resource import TYPES
from aws_double.session import Session

KNOWN_AFTER_APPLY: Final = "{{changeSet:KNOWN_AFTER_APPLY}}"
NO_CHANGES: Final = (
    "The submitted information didn't contain changes. Submit different information to create a change set."
)


class _UnknownYet(Exception):
    """A value that only the deployment will show."""


class _FutureWorld(StackWorld):
    """A stack's world before a change: what is new or replaced has no values yet."""

    def __init__(self, stack: Stack, session: Session, exports: Exports, declared: Mapping[str, Any]) -> None:
        super().__init__(stack, stack.resources, session, exports)
        self.unknown = {name for name in declared if name not in stack.resources}

    def reference(self, logical_id: str) -> Any:
        if logical_id in self.unknown:
            raise _UnknownYet
        return super().reference(logical_id)

    def attribute(self, logical_id: str, name: str) -> Any:
        if logical_id in self.unknown:
            raise _UnknownYet
        return super().attribute(logical_id, name)


@dataclass(slots=True, kw_only=True)
class ChangeSet:
    """A change set.

    Attributes:
        name: Its name, one of a kind within the stack.
        stack: The stack it would change.
        goal: What the stack would be.
        changes: ``ResourceChange`` of the API, with the values of properties.
        empty: Whether nothing would change.
        description: What the request said of it.
    """

    name: str
    stack: Stack
    goal: Goal
    changes: list[dict[str, Any]]
    empty: bool
    description: str | None = None
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: str = ""

    def __post_init__(self) -> None:
        self.id = f"arn:aws:cloudformation:{self.stack.region}:{ACCOUNT}:changeSet/{self.name}/{uuid4()}"

    @classmethod
    def of(
        cls,
        *,
        name: str,
        stack: Stack,
        goal: Goal,
        session: Session,
        exports: Exports,
        description: str | None = None,
    ) -> ChangeSet:
        """Find out what a goal would change.

        Raises:
            Refused: If the stack could not become that.
        """
        changes = changes_to(stack, goal, session, exports)
        return cls(
            name=name,
            stack=stack,
            goal=goal,
            changes=changes,
            empty=not changes and not changes_beside_resources(stack, goal),
            description=description,
        )


def changes_beside_resources(stack: Stack, goal: Goal) -> bool:
    """Tell whether outputs, parameters or tags change."""
    old = stack.goal
    if old is None or not stack.status.endswith("_COMPLETE"):
        return True
    outputs = [one.template.section("Outputs") for one in (old, goal)]
    return outputs[0] != outputs[1] or old.parameters != goal.parameters or old.tags != goal.tags


def changes_to(stack: Stack, goal: Goal, session: Session, exports: Exports) -> list[dict[str, Any]]:
    """Return what would change, as ``ResourceChange`` of the API.

    Raises:
        Refused: If the stack could not become that.
    """
    refuse_other_types(stack, goal)
    world = _FutureWorld(stack, session, exports, goal.template.resources)
    plan = Plan.of(goal, world)
    found = {}
    for logical_id in plan.order:
        properties = _resolved(plan, logical_id)
        wanted = plan.with_properties(logical_id, stack, properties)
        present = stack.resources.get(logical_id)
        if present is None:
            found[logical_id] = _added(wanted)
            continue
        change = _modified(present, wanted)
        if change is not None:
            found[logical_id] = change
            if change["Replacement"] != "False":
                world.unknown.add(logical_id)
    declared = list(goal.template.resources)
    removed = [_removed(one) for name, one in stack.resources.items() if name not in plan.nodes]
    return removed + [found[name] for name in sorted(found, key=declared.index)]


def _resolved(plan: Plan, logical_id: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, given in plan.properties(logical_id).items():
        try:
            properties |= plan.resolver.value({name: given})
        except _UnknownYet:
            properties[name] = KNOWN_AFTER_APPLY
    return properties


def _added(wanted: Deployed) -> dict[str, Any]:
    return {
        "Action": "Add",
        "LogicalResourceId": wanted.resource.logical_id,
        "ResourceType": wanted.resource.type,
        "Scope": [],
        "Details": [],
        "AfterContext": _context(wanted),
    }


def _removed(present: Deployed) -> dict[str, Any]:
    retained = present.resource.deletion_policy.startswith("Retain")
    return {
        "Action": "Remove",
        "LogicalResourceId": present.resource.logical_id,
        "PhysicalResourceId": present.resource.physical_id,
        "ResourceType": present.resource.type,
        "PolicyAction": "Retain" if retained else "Delete",
        "Scope": [],
        "Details": [],
        "BeforeContext": _context(present),
    }


def _modified(present: Deployed, wanted: Deployed) -> dict[str, Any] | None:
    before, after = present.resource.properties, wanted.resource.properties
    names = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    kind = TYPES[wanted.resource.type]
    unknown = {name for name in names if after.get(name) == KNOWN_AFTER_APPLY}
    known = {key: before.get(key) if key in unknown else value for key, value in after.items()}
    # What is added but not known yet is not in the old properties.
    known = {key: value for key, value in known.items() if value is not None}
    replaces = bool(names) and known != before and kind.replaces(before, known)
    conditional = bool(unknown - kind.updatable)
    differences = {
        "Properties": bool(names),
        "Metadata": present.metadata != wanted.metadata,
        "DeletionPolicy": present.resource.deletion_policy != wanted.resource.deletion_policy,
        "UpdateReplacePolicy": present.replace_policy != wanted.replace_policy,
    }
    scope = [name for name, differs in differences.items() if differs]
    if not scope and not present.status.endswith("_FAILED"):
        return None
    return {
        "Action": "Modify",
        "LogicalResourceId": wanted.resource.logical_id,
        "PhysicalResourceId": present.resource.physical_id,
        "ResourceType": wanted.resource.type,
        "Replacement": "True" if replaces else "Conditional" if conditional else "False",
        "Scope": scope,
        "Details": [
            _detail(name, before, after, in_place=name in kind.updatable, known=name not in unknown)
            for name in names
        ],
        "BeforeContext": _context(present),
        "AfterContext": _context(wanted),
    }


def _detail(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any], *, in_place: bool, known: bool
) -> dict[str, Any]:
    target = {
        "Attribute": "Properties",
        "Name": name,
        "Path": f"/Properties/{name}",
        "RequiresRecreation": "Never" if in_place else "Always" if known else "Conditionally",
        "AttributeChangeType": "Add" if name not in before else "Modify" if name in after else "Remove",
    }
    if name in before:
        target["BeforeValue"] = _shown(before[name])
    if name in after:
        target["AfterValue"] = _shown(after[name])
    return {
        "Target": target,
        "Evaluation": "Static" if known else "Dynamic",
        "ChangeSource": "DirectModification" if known else "ResourceAttribute",
    }


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _context(deployed: Deployed) -> str:
    return json.dumps({"Properties": deployed.resource.properties})
