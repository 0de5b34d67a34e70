"""An account without any service, with resource types that need none, to test the stacks of the double."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aws_double.cloudformation.change_sets import ChangeSet
from aws_double.cloudformation.requests import goal_of
from aws_double.cloudformation.stack import Stack
from aws_double.cloudformation.stacks import Stacks
from aws_double.resource import TYPES, Resource, ResourceFailure, ResourceType
from aws_double.session import Session

PROPERTIES = frozenset({"Becomes", "Name", "Needs", "Size", "Text"})


class FakeAccount(Session):
    """What the fake types make, by physical id, and whom to refuse.

    Attributes:
        things: Properties by physical id.
        calls: What was done, in order, such as ``create A``.
        refused: Calls to refuse, in the same terms.
    """

    def __init__(self) -> None:
        super().__init__(endpoint="http://127.0.0.1:9", region="eu-west-1")
        self.things: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self.refused: set[str] = set()
        self.numbers = itertools.count()
        self.stacks = Stacks(self.region, endpoint=self.endpoint, pace=0.0)

    def names(self) -> list[str]:
        """Return the names of the things that exist."""
        return sorted(properties.get("Name", "") for properties in self.things.values())

    def note(self, call: str) -> None:
        self.calls.append(call)
        if call in self.refused:
            raise ResourceFailure(f"refused to {call}")

    def deploy(self, name: str, template: Mapping[str, Any], *, waits: bool = True, **request: Any) -> Stack:
        """Create or update a stack as ``CreateStack`` and ``UpdateStack`` do, and wait for it."""
        options = {key: request.pop(key) for key in ("disable_rollback",) if key in request}
        present = [stack for stack in self.stacks.all() if stack.name == name and not stack.deleted]
        stack = present[0] if present else self.stacks.add(name)
        goal, session = goal_of({"TemplateBody": _text(template), **request}, stack, self.stacks, self)
        self.stacks.deploy(stack, goal, session=session, **options)
        if waits:
            stack.wait(5)
        return stack

    def change_set(self, stack: Stack, template: Mapping[str, Any], **request: Any) -> ChangeSet:
        goal, session = goal_of({"TemplateBody": _text(template), **request}, stack, self.stacks, self)
        return ChangeSet.of(
            name="changes", stack=stack, goal=goal, session=session, exports=self.stacks.exports
        )

    def delete(self, stack: Stack, **options: Any) -> None:
        self.stacks.delete(stack, session=self, **options)
        stack.wait(5)


class FakeType(ResourceType):
    """Makes a thing; what it says it needs, by name, has to be there, declared or not."""

    name = "Fake::Thing"
    properties = PROPERTIES
    updatable = PROPERTIES - {"Name"}

    def create(self, resource: Resource, session: Session) -> None:
        assert isinstance(session, FakeAccount)
        resource.physical_id = f"{resource.logical_id}-{next(session.numbers)}"
        session.note(f"create {resource.logical_id}")
        missing = set(resource.properties.get("Needs", [])) - set(session.names())
        if missing:
            raise ResourceFailure(f"no {', '.join(sorted(missing))}")
        session.things[resource.physical_id] = dict(resource.properties)
        resource.attributes = {"Id": resource.physical_id, "Size": resource.properties.get("Size", 1)}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        assert isinstance(session, FakeAccount)
        session.note(f"update {after.logical_id} to {after.properties.get('Size')}")
        session.things[after.physical_id] = dict(after.properties)
        after.attributes["Size"] = after.properties.get("Size", 1)
        after.physical_id = after.properties.get("Becomes", after.physical_id)

    def delete(self, resource: Resource, session: Session) -> None:
        assert isinstance(session, FakeAccount)
        session.note(f"delete {resource.logical_id}")
        session.things.pop(resource.physical_id, None)


class FakeSensitiveType(FakeType):
    """The same under a name that goes first."""

    name = "Custom::Fake"


@contextmanager
def fake_types() -> Iterator[None]:
    """Let the double know the fake types and no others."""
    known = dict(TYPES)
    TYPES.clear()
    TYPES.update({kind.name: kind() for kind in (FakeType, FakeSensitiveType)})
    try:
        yield
    finally:
        TYPES.clear()
        TYPES.update(known)


def thing(name: str, /, type_name: str = "Fake::Thing", **attributes: Any) -> dict[str, Any]:
    """Return a resource of a fake type: attributes in lower case are properties, others the resource's."""
    properties = {key.title(): value for key, value in attributes.items() if key.islower()}
    beside = {key: value for key, value in attributes.items() if not key.islower()}
    return {"Type": type_name, "Properties": {"Name": name, **properties}, **beside}


def of_things(*names: str, **things: dict[str, Any]) -> dict[str, Any]:
    """Return a template of fake resources; those that are only named have nothing but their names."""
    return {"Resources": {name: thing(name) for name in names} | things}


def statuses(stack: Stack, logical_id: str | None = None) -> list[str]:
    """Return what a resource, or the stack itself, went through, in order."""
    wanted = stack.name if logical_id is None else logical_id
    return [
        event["ResourceStatus"] for event in reversed(stack.events) if event["LogicalResourceId"] == wanted
    ]


def reasons(stack: Stack) -> list[str]:
    """Return the reasons that a stack's events tell."""
    return [event["ResourceStatusReason"] for event in stack.events if "ResourceStatusReason" in event]


def physical_id(stack: Stack, logical_id: str) -> str:
    """Return the physical id of a stack's resource."""
    return stack.resources[logical_id].resource.physical_id


def _text(template: Mapping[str, Any]) -> str:
    return json.dumps(template)
