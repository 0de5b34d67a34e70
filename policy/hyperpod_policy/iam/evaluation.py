"""Whether statements allow or deny a request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeAlias

from hyperpod_policy.iam import patterns
from hyperpod_policy.iam.conditions import holds
from hyperpod_policy.iam.context import SOMEBODY
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.iam.variables import with_variables
from hyperpod_policy.values import Imported, Pseudo, Reference, Text, Unresolved

_ACCOUNT_ID: Final = re.compile(r"[0-9]{12}")
_ROOT: Final = re.compile(r"arn:[^:]*:iam::(?P<account>[0-9]{12}|<>):root")

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

    def carried(self) -> Mapping[str, Any]:
        """Return the context with what follows from the principal."""
        return {"aws:principalarn": self.principal, **self.context}


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
    return _any(denies(statement, request) for statement in statements)


def permitted(
    statements: Sequence[Statement], request: Request, *, boundary: Sequence[Statement] | None = None
) -> bool | None:
    """Tell whether the statements permit some of a request: one allows and none refuses.

    Args:
        statements: Statements of identity and resource policies of one account.
        request: What somebody tries to do.
        boundary: Statements of the role's permissions boundary, which must allow it as well. By default the
            role has none.
    """
    allowed = _any(allows(statement, request) for statement in statements)
    if allowed and boundary is not None:
        allowed = _any(allows(statement, request) for statement in boundary)
    if allowed is False:
        return False
    no = refused(statements if boundary is None else [*statements, *boundary], request)
    if no:
        return False
    return True if allowed and no is False else None


def _any(answers: Iterable[bool | None]) -> bool | None:
    unclear = False
    for answer in answers:
        if answer:
            return True
        unclear = unclear or answer is None
    return None if unclear else False


def refused_actions(
    statements: Sequence[Statement], request: Request, actions: Iterable[str]
) -> dict[str, bool | None]:
    """Tell for many actions on one resource whether any of the statements refuses the whole of them.

    Args:
        statements: Statements of a policy.
        request: Resource, principal and context; its action does not matter.
        actions: Such as ``s3:PutObject``.
    """
    names = tuple(actions)
    denials = [
        (statement, covered, _listed_among(statement.actions, names, statement.not_action))
        for statement in statements
        if statement.effect == "Deny"
        and (covered := _covers(statement, request, patterns.every, free=False)) is not False
    ]
    return {
        name: _any(_together(statement, listed[number], covered) for statement, covered, listed in denials)
        for number, name in enumerate(names)
    }


@lru_cache(maxsize=1024)
def _listed_among(
    listed: tuple[Any, ...], names: tuple[str, ...], exceptions: bool
) -> tuple[bool | None, ...]:
    """Tell for each action whether patterns have it among them; templates say the same ones over and over."""
    return tuple(_lists(listed, name, exceptions) for name in names)


def _applies(statement: Statement, request: Request, match: _Match, *, free: bool) -> bool | None:
    listed = _lists(statement.actions, request.action, statement.not_action)
    if listed is False:
        return False
    return _together(statement, listed, _covers(statement, request, match, free=free))


def _lists(listed: Sequence[Any], action: str, exceptions: bool) -> bool | None:
    """Whether the actions of a statement have one among them."""
    name = action.lower()
    return _listed(listed, lambda pattern: patterns.every(pattern, name, ignore_case=True), exceptions)


def _together(statement: Statement, listed: bool | None, covered: bool | None) -> bool | None:
    if listed is False or covered is False:
        return False
    return None if listed is None or covered is None or not statement.complete else True


def _covers(statement: Statement, request: Request, match: _Match, *, free: bool) -> bool | None:
    """Whether resource, principal and conditions of a statement hold for a request."""
    answers: list[bool | None] = []
    context = request.carried()
    resources: Sequence[Any] = statement.resources
    if statement.has_variables:
        resources = [with_variables(pattern, context) for pattern in resources]
    if statement.not_resource:
        # the exceptions must leave the whole request (Deny) or some of it (Allow)
        other = patterns.some if match is patterns.every else patterns.every
        answers.append(_listed(resources, lambda pattern: other(pattern, request.resource), True))
    elif statement.resources:
        answers.append(_listed(resources, lambda pattern: match(pattern, request.resource), False))
    if False in answers:
        return False
    if statement.principals or statement.not_principal:
        answers.append(_principal(statement, request))
    answers.append(holds(statement.conditions, context, free=free))
    if False in answers:
        return False
    return None if None in answers else True


def _listed(values: Sequence[Any], match: Callable[[Any], bool | None], exceptions: bool) -> bool | None:
    found = _any(match(value) for value in values)
    return None if found is None else found != exceptions


def _principal(statement: Statement, request: Request) -> bool | None:
    found = _any(_is_meant(statement, kind, value, request) for kind, value in statement.principals)
    return None if found is None else found != statement.not_principal


def _is_meant(statement: Statement, kind: str, value: Any, request: Request) -> bool | None:
    """Whether one of the principals of a statement is the caller."""
    if value == "*" and kind in ("*", "AWS"):
        return True
    if kind != "AWS":
        return False
    account = account_of(value)
    if account is not None and statement.effect == "Deny" and not statement.not_principal:
        # a denial of an account holds for all its principals; an allowance leaves them to their own policies
        caller = request.context.get("aws:principalaccount")
        if caller is None:
            return False  # it may be anybody, anywhere
        own = statement.holder.document.account
        known = own if own is not None and isinstance(caller, Pseudo) else caller
        return patterns.equal(account, known)
    if request.principal is SOMEBODY:
        return None if isinstance(value, Unresolved) and not _names_one(value) else False
    return patterns.equal(value, request.principal)


def account_of(principal: Any) -> Any:
    """Return the account that a principal means as a whole, by its id or its root; ``None`` if one of it."""
    parts = principal.parts if isinstance(principal, Text) else (principal,)
    if len(parts) == 1:
        if isinstance(parts[0], Pseudo) and parts[0].name == "AWS::AccountId":
            return parts[0]
        if isinstance(parts[0], str) and _ACCOUNT_ID.fullmatch(parts[0]):
            return parts[0]
    head, *rest = (part if isinstance(part, str) else "<>" for part in parts)
    text = head + "".join(rest)
    match = _ROOT.fullmatch(text)
    if match is None:
        return None
    if match["account"] != "<>":
        return match["account"]
    unresolved = [part for part in parts if not isinstance(part, str)]
    return unresolved[-1]


def _names_one(value: Unresolved) -> bool:
    return isinstance(value, Reference | Imported | Text)
