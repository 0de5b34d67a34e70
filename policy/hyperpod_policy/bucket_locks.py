"""Denials in a bucket's policy that hold whatever identity policies say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from hyperpod_policy.buckets import GuardedBucket, policies_of, policy_statements
from hyperpod_policy.iam.context import ABSENT, SOMEBODYS_ID
from hyperpod_policy.iam.evaluation import Request, denies, refused_actions
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Pseudo

STRANGER_CONTEXT: Final = {
    "aws:securetransport": "true",
    "aws:principalisawsservice": "false",
    "aws:viaawsservice": "false",
    "aws:principalaccount": Pseudo("AWS::AccountId"),
    "s3:resourceaccount": Pseudo("AWS::AccountId"),
    "aws:resourceaccount": Pseudo("AWS::AccountId"),
    "aws:userid": SOMEBODYS_ID,
    # only calls of services carry these
    "aws:principalservicename": ABSENT,
    "aws:principalservicenameslist": ABSENT,
    "aws:sourceaccount": ABSENT,
    "aws:sourcearn": ABSENT,
}
"""What a request of a principal carries that nobody listed, in the bucket's own account."""

_THROUGH_A_SERVICE: Final = {**STRANGER_CONTEXT, "aws:viaawsservice": "true"}
"""The same when a service makes the request with the principal's credentials (forward access sessions)."""

_SHOWN: Final = 4


def judge_lock(
    template: Template, guarded: GuardedBucket, requests: Iterable[Request], *, what: str, listed: str
) -> Iterator[Verdict]:
    """Judge whether a bucket's policy refuses requests of everybody but listed principals.

    Args:
        template: Template under review.
        guarded: The bucket.
        requests: What must be refused: actions on one resource.
        what: What the requests are, such as ``object writes``.
        listed: Who may be exempt, such as ``writers``.
    """
    bucket = guarded.bucket
    statements, complete = policy_statements(template, bucket)
    policies = policies_of(template, bucket)
    allowed = f"the bucket policy denies {what} to every principal but its listed {listed}"
    if not policies:
        yield failed(bucket, found=f"{guarded.words} has no bucket policy", allowed=allowed)
        return
    asked = [replace(request, context=STRANGER_CONTEXT) for request in requests]
    actions = [request.action for request in asked]
    answers = refused_actions(statements, asked[0], actions)
    if False not in answers.values():  # then through a service, such as one that writes results of queries
        answers = refused_actions(statements, replace(asked[0], context=_THROUGH_A_SERVICE), actions)
    open_actions = [action for action, answer in answers.items() if answer is False]
    unclear = [action for action, answer in answers.items() if answer is None]
    path = ("PolicyDocument", "Statement")
    holder = policies[0]
    if open_actions and complete:
        weak = _weakened(statements, asked)
        yield failed(
            holder if weak is None else weak.holder,
            *(path if weak is None else weak.path),
            found=f"{guarded.words} leaves to whoever has them in an identity policy {_some(open_actions)}"
            + ("" if weak is None else f"; the denial {_reason(weak)}"),
            allowed=allowed,
        )
    elif open_actions or unclear:
        yield undetermined(
            holder,
            *path,
            found=(
                f"whether {guarded.words} denies {_some(open_actions + unclear)} depends on unresolved values"
            ),
            allowed=allowed,
        )
    else:
        shut = _shut_for_all(statements, asked)
        if shut is None:
            yield passed(holder, *path)
        else:
            yield failed(
                shut.holder,
                *shut.path,
                found=f"{guarded.words} denies {what} to everybody, its {listed} included",
                allowed=allowed,
            )
    yield from _wide_exemptions(guarded, statements, asked, allowed)


def _shut_for_all(statements: Sequence[Statement], asked: list[Request]) -> Statement | None:
    """Return the denial that leaves out nobody, where it is all there is about a request.

    Exemptions by other keys, such as ``aws:userid`` or those of services, leave out somebody.
    """
    for statement in statements:
        if statement.effect == "Deny" and not statement.not_principal and not statement.conditions:
            everybody = any(value == "*" for _, value in statement.principals)
            if everybody and denies(statement, asked[0]):
                return statement
    return None


def exempted(statements: Iterable[Statement]) -> Iterator[tuple[Any, Statement]]:
    """Yield the principals that denials leave out, each with its statement: ARNs, patterns and accounts."""
    for statement in statements:
        if statement.effect != "Deny":
            continue
        if statement.not_principal:
            yield from ((value, statement) for kind, value in statement.principals if kind == "AWS")
        for condition in statement.conditions:
            if condition.negated and condition.key.lower() in ("aws:principalarn", "aws:principalaccount"):
                yield from ((value, statement) for value in condition.values)


def _wide_exemptions(
    guarded: GuardedBucket, statements: Sequence[Statement], asked: list[Request], allowed: str
) -> Iterator[Verdict]:
    for statement in statements:
        if statement.effect != "Deny":
            continue
        wide = [
            value
            for condition in statement.conditions
            if condition.key.lower() == "aws:principalarn"
            and ("Like" in condition.operator or "Arn" in condition.operator)
            for value in condition.values
            if wildcard(value)
        ]
        if wide and any(denies(statement, request) for request in asked):
            for value in wide:
                yield failed(
                    statement.holder,
                    *statement.path,
                    found=f"{guarded.words} exempts every principal whose ARN matches {value}",
                    allowed=f"{allowed}, each by its full ARN",
                    severity="warning",
                )


def _weakened(statements: Sequence[Statement], asked: list[Request]) -> Statement | None:
    """Return the denial that comes nearest to the lock, to point at."""
    bare = {request.action for request in asked}
    for statement in statements:
        if statement.effect == "Deny" and statement.conditions:
            plain = replace(statement, conditions=())
            if any(denies(plain, request) for request in asked if request.action in bare) and not any(
                condition.key.lower() == "aws:securetransport" for condition in statement.conditions
            ):
                return statement
    return None


def _reason(statement: Statement) -> str:
    shown = ", ".join(
        f"{condition} {' or '.join(str(value) for value in condition.values)}"
        for condition in statement.conditions
    )
    return f"holds only if {shown}"


def _some(actions: list[str]) -> str:
    more = len(actions) - _SHOWN
    return ", ".join(actions[:_SHOWN]) + (f" and {more} more actions" if more > 0 else "")
