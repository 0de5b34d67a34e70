"""Principals that policies of resources name: bucket policies, key policies and trust policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hyperpod_policy.bucket_locks import STRANGER_CONTEXT
from hyperpod_policy.iam.context import SOMEBODY
from hyperpod_policy.iam.evaluation import Request, account_of, allows
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.arns import Arns
from hyperpod_policy.trust_map.asking import Asking
from hyperpod_policy.trust_map.draft import Draft, is_of_another_account
from hyperpod_policy.values import Dynamic, Expression, Imported, Parameter


@dataclass(frozen=True, slots=True)
class Named:
    """A principal outside the templates that a statement lets do something.

    Attributes:
        kind: As in the statement, such as ``AWS``.
        value: As in the statement, resolved.
        actions: What it may do.
        certain: Whether it certainly may.
        statement: The statement.
    """

    kind: str
    value: Any
    actions: tuple[str, ...]
    certain: bool
    statement: Statement


def outsiders(
    draft: Draft, policy: Sequence[Statement], actions: Iterable[str], arns: Arns, holder: Resource
) -> Iterator[Named]:
    """Yield the principals outside the templates that a policy lets do things, its denials considered.

    The account of the resource is none of them: naming it leaves all to identity policies.
    """
    asked = tuple(actions)
    for statement in policy:
        if statement.effect != "Allow":
            continue
        anybody = replace(statement, principals=(), not_principal=False)
        allowed = [action for action in asked if _allowed(anybody, action, arns)]
        if not allowed:
            continue
        named = (("*", "*"),) if statement.not_principal else statement.principals
        for kind, value in named:
            if draft.actor_of(kind, value) is not None or draft.owns(value, holder):
                continue
            answers = {action: _refused(policy, action, arns, kind, value, holder) for action in allowed}
            open_actions = tuple(action for action, answer in answers.items() if answer is not True)
            if not open_actions:
                continue
            certain = (
                any(answers[action] is False for action in open_actions)
                and not _is_unknown(value)
                and not (value == "*" and statement.conditions)
                and statement.complete
            )
            yield Named(kind, value, open_actions, certain, statement)


def left_to_account(
    draft: Draft, policy: Sequence[Statement], actions: Iterable[str], arns: Arns, holder: Resource
) -> tuple[dict[str, bool | None], list[Statement]]:
    """Tell which actions a policy leaves to the identity policies of its account, and by which statements."""
    found: dict[str, bool | None] = dict.fromkeys(actions, False)
    by: list[Statement] = []
    for statement in policy:
        if statement.effect != "Allow" or not any(
            draft.owns(value, holder) or (value == "*" and kind in ("*", "AWS"))
            for kind, value in statement.principals
        ):
            continue
        anybody = replace(statement, principals=())
        for action in found:
            answer = _allowed(anybody, action, arns)
            if answer is not False and found[action] is not True:
                found[action] = answer
                by.append(statement)
    return found, list(dict.fromkeys(by))


def open_to_account(
    policy: Sequence[Statement], actions: Iterable[str], arns: Arns
) -> dict[str, bool | None]:
    """Tell of each action whether no denial keeps principals from it that nobody listed."""
    found: dict[str, bool | None] = {}
    asking = Asking(arns, SOMEBODY, STRANGER_CONTEXT)
    for action in actions:
        refused = asking.refused(policy, action)
        found[action] = None if refused is None else not refused
    return found


def exemptions(
    policy: Sequence[Statement], actions: Iterable[str], arns: Arns
) -> Iterator[tuple[Any, Statement]]:
    """Yield the ARNs that a policy's denials of actions leave out, each with the denial."""
    asked = tuple(actions)
    strangers = Asking(arns, SOMEBODY, STRANGER_CONTEXT)
    for statement in policy:
        if statement.effect != "Deny":
            continue
        if all(strangers.refused([statement], action) is False for action in asked):
            continue
        if statement.not_principal:
            for kind, value in statement.principals:
                if kind == "AWS":
                    yield value, statement
        for condition in statement.conditions:
            if condition.key.lower() == "aws:principalarn" and condition.negated:
                for value in condition.values:
                    yield value, statement


def is_refused(policy: Sequence[Statement], action: str, arns: Arns, principal: Any) -> bool | None:
    """Tell whether a policy keeps a principal of its own account from an action."""
    asked = SOMEBODY if wildcard(principal) else principal
    return Asking(arns, asked, _context_of_named()).refused(policy, action)


def _context_of_named() -> Mapping[str, Any]:
    return {key: value for key, value in STRANGER_CONTEXT.items() if key != "aws:userid"}


def _allowed(statement: Statement, action: str, arns: Arns) -> bool | None:
    answers = {allows(statement, Request(action, arn)) for arn in arns.exact}
    return True if True in answers else (None if None in answers else False)


def _refused(
    policy: Sequence[Statement], action: str, arns: Arns, kind: str, value: Any, holder: Resource
) -> bool | None:
    context = dict(_context_of_named())
    principal = value if kind == "AWS" and account_of(value) is None and value != "*" else SOMEBODY
    if kind == "Service":
        context = {
            key: item for key, item in context.items() if key in ("aws:securetransport", "s3:resourceaccount")
        }
        context |= {"aws:principalisawsservice": "true", "aws:principalservicename": value}
    elif value == "*" or account_of(value) is not None or is_of_another_account(value, holder):
        del context["aws:principalaccount"]
        account = account_of(value)
        if account is not None:
            context["aws:principalaccount"] = account
    return Asking(arns, principal, context).refused(policy, action)


def _is_unknown(value: Any) -> bool:
    """Whether only deployment can tell whom a principal means."""
    return isinstance(value, Parameter | Imported | Dynamic | Expression)
