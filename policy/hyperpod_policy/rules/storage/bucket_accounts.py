"""Guarded buckets admit nobody from another account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.bucket_locks import exempted
from hyperpod_policy.buckets import GuardedBucket, guarded_buckets, log_buckets, policy_statements
from hyperpod_policy.deputies import comes_for_others
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template

_ALLOWED: Final = "principals of the bucket's own account"


def check(template: Template) -> Iterator[Verdict]:
    """Judge whom the policies of each guarded bucket, and of each that takes its logs, allow or exempt."""
    for guarded in (*guarded_buckets(template), *log_buckets(template)):
        statements, _ = policy_statements(template, guarded.bucket)
        verdicts = [verdict for statement in statements for verdict in _allowed(guarded, statement)]
        for value, statement in exempted(statements):
            verdicts += _stranger(guarded, statement, value, "exempts")
        yield from verdicts if verdicts else [passed(guarded.bucket)]


def _allowed(guarded: GuardedBucket, statement: Statement) -> Iterator[Verdict]:
    if statement.effect != "Allow" or statement.not_principal:
        return  # everybody: another rule speaks about that
    for kind, value in statement.principals:
        if value == "*":
            continue
        if kind == "AWS":
            yield from _stranger(guarded, statement, value, "allows")
        elif kind == "Service":
            yield from _deputy(guarded, statement, value)
        else:
            yield failed(
                statement.holder,
                *statement.path,
                found=f"allows {kind} {value} on {guarded.words}",
                allowed=_ALLOWED,
            )


def _deputy(guarded: GuardedBucket, statement: Statement, service: Any) -> Iterator[Verdict]:
    for_others = comes_for_others(statement)
    allowed = "a condition on aws:SourceAccount or aws:SourceArn"
    if for_others:
        yield failed(
            statement.holder,
            *statement.path,
            found=f"allows service {service} on {guarded.words}, on whosever behalf it comes",
            allowed=allowed,
            fix="add the condition: a service is asked by other accounts as well",
            severity="warning",
        )
    elif for_others is None:
        found = f"allows service {service} on {guarded.words}, for accounts that may be others"
        yield undetermined(statement.holder, *statement.path, found=found, allowed=allowed)


def _stranger(guarded: GuardedBucket, statement: Statement, value: Any, verb: str) -> Iterator[Verdict]:
    where = belonging(value, statement.holder)
    found = f"{verb} {value} on {guarded.words}"
    if where == "other":
        yield failed(
            statement.holder, *statement.path, found=f"{found}, of another account", allowed=_ALLOWED
        )
    elif where == "unknown":
        found = f"{found}, whose account may be another"
        yield undetermined(statement.holder, *statement.path, found=found, allowed=_ALLOWED)


RULE = Rule(
    id="BucketAccounts",
    title="checkpoint and lifecycle-script buckets and their logs admit principals of their own account only",
    severity="error",
    why=(
        "Who may take a role of another account is decided there, by people and policies that nobody here "
        "sees. Admitted to these buckets, all of them run code on the training nodes, copy the weights, or "
        "read who does what."
    ),
    fix=(
        "name roles of the bucket's account and let others assume one of these, or copy through a bucket "
        "that holds nothing else; where the other account is meant, acknowledge the finding and say who "
        "answers for it"
    ),
    source="S3 user guide, bucket policies; IAM user guide, cross-account access and the confused deputy",
    check=check,
)
