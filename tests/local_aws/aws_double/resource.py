"""Resources of a stack, and what each CloudFormation type does to create, change and delete one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from aws_double.session import Session


class ResourceFailure(Exception):
    """What CloudFormation reports as the reason why a resource failed."""


@dataclass(slots=True)
class Resource:
    """One resource of a stack with its properties resolved.

    Attributes:
        logical_id: As the template has it.
        type: CloudFormation type.
        properties: Resolved; ``AWS::NoValue`` is absent.
        stack_name: Name of the stack, for generated physical names.
        stack_id: ARN of the stack.
        deletion_policy: ``Delete``, ``Retain``, ``RetainExceptOnCreate`` or ``Snapshot``.
        physical_id: What ``Ref`` returns; set by ``create``.
        attributes: What ``Fn::GetAtt`` returns, by name; set by ``create`` and, if they change, ``update``.
    """

    logical_id: str
    type: str
    properties: dict[str, Any]
    stack_name: str
    stack_id: str
    deletion_policy: str = "Delete"
    physical_id: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


class ResourceType(ABC):
    """A CloudFormation type.

    Attributes:
        name: Such as ``AWS::EC2::VPC``.
        properties: What it applies; a template that has another property fails.
        updatable: Which of them change in place; a change of another replaces the resource.
    """

    name: ClassVar[str]
    properties: ClassVar[frozenset[str]]
    updatable: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def create(self, resource: Resource, session: Session) -> None:
        """Create it and set its physical id and attributes.

        Raises:
            ResourceFailure: If the service would refuse it.
            ClientError: If the double's API refuses it.
        """

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place; ``after`` has the physical id and attributes of ``before`` already."""
        raise ResourceFailure(f"{self.name} has no update in this double")

    @abstractmethod
    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""

    def replaces(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        """Tell whether a change of properties needs a new resource."""
        changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
        return not changed <= self.updatable

    def check(self, resource: Resource) -> None:
        """Refuse properties that it does not apply.

        Raises:
            ResourceFailure: With their names.
        """
        unknown = sorted(set(resource.properties) - self.properties)
        if unknown:
            raise ResourceFailure(
                f"{self.name} properties that this double does not apply: {', '.join(unknown)}"
            )


TYPES: dict[str, ResourceType] = {}
"""Every type the double knows, by its CloudFormation name. Modules of ``aws_double.resources`` fill it."""

_Type = TypeVar("_Type", bound=type[ResourceType])


def resource_type(name: str, *, properties: str, updatable: str = "") -> Callable[[_Type], _Type]:
    """Register a type.

    Args:
        name: Its CloudFormation name.
        properties: Properties it applies, with spaces between.
        updatable: Those that change in place; ``*`` for all.
    """

    def register(cls: _Type) -> _Type:
        cls.name = name
        cls.properties = frozenset(properties.split())
        cls.updatable = cls.properties if updatable == "*" else frozenset(updatable.split())
        if not cls.updatable <= cls.properties:
            raise ValueError(
                f"{name} updates what it does not apply: {sorted(cls.updatable - cls.properties)}"
            )
        TYPES[name] = cls()
        return cls

    return register
