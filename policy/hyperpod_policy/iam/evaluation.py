"""Whether statements allow or deny a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hyperpod_policy.iam import patterns
from hyperpod_policy.iam.conditions import SOMEBODY, holds
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.values import Imported, Reference, Text, Unresolved

_Match: TypeAlias = Callable[[Any, Any], "bool | None"]


@dataclass(frozen=True, slots=True)
class Request:
    """Something that somebody tries to do.

    Attributes:
        action: Such as ``s3:PutObject``.
        resource: ARN, with `Anything` for what the caller may choose.
        principal: ARN of the caller; `SOMEBODY` for one that no statement names.
        context: Condition keys in lower case; the caller chooses keys that are not here.
    """

    action: str
    resource: Any
    principal: Any = SOMEBODY
    context: Mapping[str, Any] = field(default_factory=dict)


def denies(statement: Statement, request: Request) -> bool | None:
    """Tell whether a ``Deny`` refuses the whole of a request, whatever the caller chooses."""
    if statement.effect != "Deny":
        return False
    return _applies(statement, request, patterns.every, free=False)


def allows(statement: Statement, request: Request) -> bool | None:
    """Tell whether an ``Allow`` permits some of a request, if the caller chooses well."""
    if statement.effect != "Allow":
        return False
    return _applies(statement, request, patterns.some, free=True)


def refused(statements: Sequence[Statement], request: Request) -> bool | None:
    """Tell whether any of the statements refuses the whole of a request."""
    answers = {denies(statement, request) for statement in statements}
    if True in answers:
        return True
    return None if None in answers else False


def permitted(statements: Sequence[Statement], request: Request) -> bool | None:
    """Tell whether the statements permit some of a request: one allows and none refuses."""
    answers = {allows(statement, request) for statement in statements}
    if True not in answers and None not in answers:
        return False
    no = refused(statements, request)
    if no:
        return False
    return True if True in answers and no is False else None


def denials_about(statements: Sequence[Statement], request: Request) -> list[Statement]:
    """Return the denials that may refuse a request whatever its action is.

    To ask for many actions on one resource, ask only these.
    """
    return [
        statement
        for statement in statements
        if statement.effect == "Deny" and _covers(statement, request, patterns.every, free=False) is not False
    ]


def _applies(statement: Statement, request: Request, match: _Match, *, free: bool) -> bool | None:
    action = request.action.lower()
    answer = _listed(
        statement.actions,
        lambda pattern: patterns.every(pattern, action, ignore_case=True),
        statement.not_action,
    )
    if answer is False:
        return False
    covered = _covers(statement, request, match, free=free)
    if covered is False:
        return False
    return None if answer is None or covered is None or not statement.complete else True


def _covers(statement: Statement, request: Request, match: _Match, *, free: bool) -> bool | None:
    """Whether resource, principal and conditions of a statement hold for a request."""
    answers: list[bool | None] = []
    if statement.not_resource:
        # the exceptions must leave the whole request (Deny) or some of it (Allow)
        other = patterns.some if match is patterns.every else patterns.every
        answers.append(_listed(statement.resources, lambda pattern: other(pattern, request.resource), True))
    elif statement.resources:
        answers.append(_listed(statement.resources, lambda pattern: match(pattern, request.resource), False))
    if False in answers:
        return False
    if statement.principals or statement.not_principal:
        answers.append(_principal(statement, request))
    context = {"aws:principalarn": request.principal, **request.context}
    answers.append(holds(statement.conditions, context, free=free))
    if False in answers:
        return False
    return None if None in answers else True


def _listed(values: Sequence[Any], match: Callable[[Any], bool | None], exceptions: bool) -> bool | None:
    answers = {match(value) for value in values}
    found: bool | None = True if True in answers else (None if None in answers else False)
    if found is None:
        return None
    return found != exceptions


def _principal(statement: Statement, request: Request) -> bool | None:
    answers: set[bool | None] = set()
    for kind, value in statement.principals:
        if value == "*" and kind in ("*", "AWS"):
            answers.add(True)
        elif kind != "AWS":
            answers.add(False)
        elif request.principal is SOMEBODY:
            answers.add(None if isinstance(value, Unresolved) and not _names_one(value) else False)
        else:
            answers.add(patterns.equal(value, request.principal))
    found: bool | None = True if True in answers else (None if None in answers else False)
    return None if found is None else found != statement.not_principal


def _names_one(value: Unresolved) -> bool:
    return isinstance(value, Reference | Imported | Text)
