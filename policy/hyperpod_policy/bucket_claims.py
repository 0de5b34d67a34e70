"""Whether somebody else can have the name of a bucket."""

from __future__ import annotations

from typing import Any, Final

from hyperpod_policy.template import Resource
from hyperpod_policy.values import Expression, Pseudo, Text, Unresolved

OWN_NAMESPACE: Final = "account-regional"
"""The namespace in which no other account can have a bucket."""


def can_be_claimed(bucket: Resource) -> bool | None:
    """Tell whether others can guess the name of a bucket of the template and take it when it is free.

    Nobody guesses a name that CloudFormation makes, or one with a part of the stack's id.
    """
    name, namespace = bucket.get("BucketName"), bucket.get("BucketNamespace", default="global")
    if name is None or namespace == OWN_NAMESPACE:
        return False
    guessed = can_be_guessed(name)
    return None if guessed and isinstance(namespace, Unresolved) else guessed


def can_be_guessed(name: Any) -> bool | None:
    """Tell whether others can guess a name; ``None`` if it holds what only deployment knows."""
    parts = name.parts if isinstance(name, Text) else (name,)
    if any(map(_is_of_stack_id, parts)):
        return False
    return True if all(isinstance(part, str | Pseudo) for part in parts) else None


def _is_of_stack_id(part: Any) -> bool:
    if isinstance(part, Pseudo):
        return part.name.startswith("AWS::StackId")
    if isinstance(part, Expression):
        return _is_of_stack_id(part.arguments)
    if isinstance(part, Text):
        return any(map(_is_of_stack_id, part.parts))
    return isinstance(part, tuple) and any(map(_is_of_stack_id, part))
