"""Guarded buckets block public access and ACLs."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import GuardedBucket, guarded_buckets, policy_statements
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, elements, truth

_BLOCKS = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
_ENFORCED = "BucketOwnerEnforced"


def check(template: Template) -> Iterator[Verdict]:
    """Judge public-access block and object ownership of each guarded bucket."""
    for guarded in guarded_buckets(template):
        verdicts = [*public_access(guarded), *ownership(guarded), *public_policy(template, guarded)]
        yield from verdicts if verdicts else [passed(guarded.bucket, "PublicAccessBlockConfiguration")]


def public_access(guarded: GuardedBucket) -> Iterator[Verdict]:
    """Yield what a bucket lets S3 make public."""
    bucket = guarded.bucket
    if bucket.get("PublicAccessBlockConfiguration") is None:
        yield failed(
            bucket,
            "PublicAccessBlockConfiguration",
            found=f"{guarded.words} leaves it to the default of S3",
            allowed=f"{', '.join(_BLOCKS)} are true",
            severity="warning",
        )
        return
    for block in _BLOCKS:
        value = bucket.get("PublicAccessBlockConfiguration", block, default=False)
        if isinstance(value, Unresolved):
            yield undetermined(
                bucket, "PublicAccessBlockConfiguration", block, found=f"is {value}", allowed="true"
            )
        elif truth(value) is not True:
            yield failed(
                bucket,
                "PublicAccessBlockConfiguration",
                block,
                found=f"{guarded.words} has it off",
                allowed="true",
            )


def ownership(guarded: GuardedBucket) -> Iterator[Verdict]:
    """Yield whether ACLs may admit anybody to a bucket."""
    bucket = guarded.bucket
    rules, complete = elements(bucket.get("OwnershipControls", "Rules"))
    if not rules:
        if complete:
            yield failed(
                bucket,
                "OwnershipControls",
                found=f"{guarded.words} leaves it to the default of S3",
                allowed=f"ObjectOwnership is {_ENFORCED}",
                severity="warning",
            )
        else:
            yield undetermined(bucket, "OwnershipControls", found="is unresolved", allowed=_ENFORCED)
        return
    for position in range(len(rules)):
        path = ("OwnershipControls", "Rules", position, "ObjectOwnership")
        value = bucket.get(*path)
        if isinstance(value, Unresolved):
            yield undetermined(bucket, *path, found=f"is {value}", allowed=_ENFORCED)
        elif value != _ENFORCED:
            yield failed(bucket, *path, found=f"{guarded.words} has {value}", allowed=_ENFORCED)


def public_policy(template: Template, guarded: GuardedBucket) -> Iterator[Verdict]:
    """Yield the statements of a bucket's policies that admit everybody."""
    for statement in policy_statements(template, guarded.bucket)[0]:
        if statement.effect != "Allow" or not _names_everybody(statement):
            continue
        if any(condition.key.lower() != "aws:securetransport" for condition in statement.conditions):
            continue
        actions = ", ".join(map(str, statement.actions))
        allowed = f"everything but {actions}" if statement.not_action else actions
        yield failed(
            statement.holder,
            *statement.path,
            found=f"allows {allowed} on {guarded.words} to everybody, other accounts and anonymous callers "
            "included",
            allowed="principals by their ARN",
            fix="name the principals, or take the statement out: roles of the account need none",
        )


def _names_everybody(statement: Statement) -> bool:
    return statement.not_principal or any(
        value == "*" and kind in ("*", "AWS") for kind, value in statement.principals
    )


RULE = Rule(
    id="BucketPublicAccess",
    title="checkpoint and lifecycle-script buckets block public access and ACLs",
    severity="error",
    why=(
        "Public access reads model weights or writes code for the nodes. ACLs admit other accounts without "
        "a trace in the bucket policy. S3's defaults for new buckets are safe today, but nothing in the "
        "template keeps them so."
    ),
    fix=(
        "set all four members of PublicAccessBlockConfiguration to true and ObjectOwnership to "
        "BucketOwnerEnforced"
    ),
    source="S3 user guide, blocking public access and controlling ownership of objects",
    check=check,
)
