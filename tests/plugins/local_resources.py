"""Creates resources of the double outside a stack."""

from __future__ import annotations

import uuid
from typing import Any

from aws_double.resource import TYPES, Resource
from aws_double.session import Session


def resource(kind: str, logical_id: str = "Thing", **properties: Any) -> Resource:
    """A resource of a type, not created yet."""
    stack_id = f"arn:aws:cloudformation:us-west-2:111122223333:stack/team/{uuid.uuid4()}"
    return Resource(
        logical_id=logical_id, type=kind, properties=properties, stack_name="team", stack_id=stack_id
    )


def create(session: Session, kind: str, logical_id: str = "Thing", **properties: Any) -> Resource:
    """Create one as the engine does."""
    made = resource(kind, logical_id, **properties)
    TYPES[kind].check(made)
    TYPES[kind].create(made, session)
    return made


def update(session: Session, before: Resource, **properties: Any) -> Resource:
    """Change one in place, or fail if its type would replace it."""
    after = resource(before.type, before.logical_id, **properties)
    after.physical_id, after.attributes = before.physical_id, dict(before.attributes)
    TYPES[before.type].check(after)
    assert not TYPES[before.type].replaces(before.properties, properties)
    TYPES[before.type].update(before, after, session)
    return after


def delete(session: Session, made: Resource) -> None:
    """Delete one."""
    TYPES[made.type].delete(made, session)
