"""Whether a policy lets a service do something, and what is in the way otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.iam.conditions import holds
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.privileges import covers
from hyperpod_policy.template import Resource
from hyperpod_policy.values import Unresolved, same


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something between a service and whom it means to tell.

    Attributes:
        resource: What would have to change.
        path: The property of it.
        words: What is there.
        certain: Whether it certainly is in the way; otherwise only deployment can tell.
    """

    resource: Resource
    path: FaultPath
    words: str
    certain: bool = True


def allowed_to(
    statements: Sequence[Statement], service: str, action: str, context: Mapping[str, Any]
) -> bool | None:
    """Tell whether some statement allows a service an action, whatever it is that only the service can tell.

    Args:
        statements: Of a policy of the resource.
        service: Service principal, such as ``events.amazonaws.com``.
        action: Such as ``sns:Publish``.
        context: Condition keys in lower case with what the service tells.

    Returns:
        ``None`` if only deployment can tell.
    """
    answers: set[bool | None] = set()
    for statement in statements:
        if statement.effect != "Allow" or not covers(statement, action):
            continue
        means = _means(statement, service)
        if means is not False:
            kept = holds(statement.conditions, context, free=True)
            answers.add(False if kept is False else (True if means and kept else None))
    return True if True in answers else (None if None in answers else False)


def _means(statement: Statement, service: str) -> bool | None:
    if statement.not_principal:
        return None
    unclear = False
    for kind, value in statement.principals:
        if value == "*" and kind in ("*", "AWS"):
            return True
        if kind == "Service":
            equal = same(value, service)
            if equal:
                return True
            unclear = unclear or (equal is None and isinstance(value, Unresolved))
    return None if unclear else False
