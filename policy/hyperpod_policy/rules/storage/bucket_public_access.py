"""Guarded buckets block public access and ACLs."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import GuardedBucket, guarded_buckets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, elements, truth

_BLOCKS = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
_ENFORCED = "BucketOwnerEnforced"


def check(template: Template) -> Iterator[Verdict]:
    """Judge public-access block and object ownership of each guarded bucket."""
    for guarded in guarded_buckets(template):
        verdicts = [*_public_access(guarded), *_ownership(guarded)]
        yield from verdicts if verdicts else [passed(guarded.bucket, "PublicAccessBlockConfiguration")]


def _public_access(guarded: GuardedBucket) -> Iterator[Verdict]:
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


def _ownership(guarded: GuardedBucket) -> Iterator[Verdict]:
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
