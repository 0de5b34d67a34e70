"""A stack: its resources, outputs, events and status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Condition, Event
from typing import Any
from uuid import uuid4

from aws_double import ACCOUNT
from aws_double.cloudformation.template import Template
from aws_double.resource import Resource

STACK_TYPE = "AWS::CloudFormation::Stack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a request wants a stack to be.

    Attributes:
        template: With its checks passed.
        given: Raw values of the parameters.
        parameters: What ``Ref`` of each parameter is.
        tags: Tags of the stack.
        capabilities: Those the request allowed.
        role_arn: Role that CloudFormation works as; none for the caller.
        notification_arns: Topics that AWS would tell; the double tells nobody.
    """

    template: Template
    given: Mapping[str, str]
    parameters: Mapping[str, Any]
    tags: Mapping[str, str]
    capabilities: tuple[str, ...] = ()
    role_arn: str | None = None
    notification_arns: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Deployed:
    """A resource in a stack.

    Attributes:
        resource: With the properties it has.
        depends_on: Logical ids of what it depends on, declared or by reference.
        replace_policy: ``UpdateReplacePolicy`` of the template.
        metadata: ``Metadata`` of the template.
        status: Such as ``CREATE_COMPLETE``.
        reason: Why, if it failed.
        changed_at: When the status changed.
    """

    resource: Resource
    depends_on: frozenset[str]
    replace_policy: str = "Delete"
    metadata: Any = None
    status: str = ""
    reason: str | None = None
    changed_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """An output of a stack, with the name it is exported under."""

    value: Any
    description: str | None = None
    export: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that an operation did, to undo it.

    Attributes:
        before: The resource as it was; none if it is new.
        after: The resource as it is.
        replaced: Whether ``after`` is another physical resource than ``before``.
        untouched: Whether the resource is as before, and only what the template says beside its properties
            has changed.
    """

    before: Deployed | None
    after: Deployed
    replaced: bool = False
    untouched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a stack goes back to if an update fails."""

    goal: Goal | None
    outputs: dict[str, Output]
    imports: frozenset[str]


class Stack:
    """One stack.

    While an operation goes on, ``pending`` is its goal, ``steps`` has what it did so far and ``before`` what
    to go back to; a rollback moves what it cannot delete at once to ``leftovers``.

    Args:
        name: Its name.
        region: Its region.
    """

    def __init__(self, name: str, region: str) -> None:
        self.name = name
        self.region = region
        self.id = f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/{uuid4()}"
        self.goal: Goal | None = None
        self.pending: Goal | None = None
        self.resources: dict[str, Deployed] = {}
        self.outputs: dict[str, Output] = {}
        self.imports: frozenset[str] = frozenset()
        self.events: list[dict[str, Any]] = []
        self.steps: list[Step] = []
        self.before: State | None = None
        self.leftovers: list[Deployed] = []
        self.status = ""
        self.reason: str | None = None
        self.termination_protection = False
        self.role_arn: str | None = None
        self.change_set_id: str | None = None
        self.disable_rollback = False
        self.created_at = datetime.now(UTC)
        self.updated_at: datetime | None = None
        self.deleted_at: datetime | None = None
        self.cancelled = Event()
        self._operation_id = str(uuid4())
        self._settled = Condition()

    @property
    def state(self) -> State:
        """What it is now."""
        return State(goal=self.goal, outputs=self.outputs, imports=self.imports)

    @property
    def shown_goal(self) -> Goal | None:
        """What the API tells of: of a stack in the middle of an update, what it is about to be."""
        return self.goal if self.pending is None else self.pending

    @property
    def deleted(self) -> bool:
        """Whether it is gone, though its ARN still finds it."""
        return self.status == "DELETE_COMPLETE"

    @property
    def busy(self) -> bool:
        """Whether an operation is going on."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"

    def begin_operation(self) -> None:
        """Give the events that follow an operation id of their own."""
        self._operation_id = str(uuid4())

    def set_status(self, status: str, reason: str | None = None) -> None:
        """Change its status, with an event."""
        with self._settled:
            self.status, self.reason = status, reason
            self._event(self.name, STACK_TYPE, self.id, status, reason)
            self._settled.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until no operation is going on, at most so long."""
        with self._settled:
            self._settled.wait_for(lambda: not self.busy, timeout=seconds)

    def report(self, deployed: Deployed, status: str, reason: str | None = None) -> None:
        """Change the status of a resource, with an event."""
        deployed.status, deployed.reason, deployed.changed_at = status, reason, datetime.now(UTC)
        resource = deployed.resource
        self._event(resource.logical_id, resource.type, resource.physical_id, status, reason)

    def _event(
        self, logical_id: str, type_name: str, physical_id: str, status: str, reason: str | None
    ) -> None:
        event = {
            "EventId": str(uuid4()),
            "OperationId": self._operation_id,
            "StackId": self.id,
            "StackName": self.name,
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": physical_id,
            "ResourceType": type_name,
            "ResourceStatus": status,
            "ResourceStatusReason": reason,
            "Timestamp": datetime.now(UTC),
        }
        self.events.insert(0, {key: value for key, value in event.items() if value is not None})
