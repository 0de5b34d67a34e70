"""Guarded buckets take TLS only."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import (
    GuardedBucket,
    bucket_arn,
    guarded_buckets,
    objects_arn,
    policies_of,
    policy_statements,
)
from hyperpod_policy.iam.evaluation import Request, refused
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template

_KEY = "aws:securetransport"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the denial of plain HTTP on each guarded bucket and its objects."""
    for guarded in guarded_buckets(template):
        yield from transport(template, guarded)


def transport(template: Template, guarded: GuardedBucket) -> Iterator[Verdict]:
    """Yield whether the policy of a bucket refuses plain HTTP."""
    bucket = guarded.bucket
    statements, complete = policy_statements(template, bucket)
    policies = policies_of(template, bucket)
    about = [
        statement
        for statement in statements
        if any(condition.key.lower() == _KEY for condition in statement.conditions)
        and not any(condition.key.lower() == "aws:principalarn" for condition in statement.conditions)
    ]
    context = {_KEY: "false"}
    answers = {
        "the bucket": refused(about, Request("s3:ListBucket", bucket_arn(template, bucket), context=context)),
        "its objects": refused(
            about, Request("s3:GetObject", objects_arn(template, bucket), context=context)
        ),
        "writes to its objects": refused(
            about, Request("s3:PutObject", objects_arn(template, bucket), context=context)
        ),
    }
    holder = policies[0] if policies else bucket
    path = ("PolicyDocument", "Statement") if policies else ()
    allowed = "the bucket policy denies every action on bucket and objects where aws:SecureTransport is false"
    missing = [what for what, answer in answers.items() if answer is False]
    unclear = [what for what, answer in answers.items() if answer is None]
    if missing and complete:
        found = f"{guarded.words} admits unencrypted requests to {' and '.join(missing)}"
        yield failed(holder, *path, found=found, allowed=allowed)
    elif missing or unclear:
        found = f"whether {guarded.words} refuses unencrypted requests depends on unresolved values"
        yield undetermined(holder, *path, found=found, allowed=allowed)
    else:
        yield passed(holder, *path)


RULE = Rule(
    id="BucketTransport",
    title="checkpoint and lifecycle-script buckets take encrypted requests only",
    severity="error",
    why="Scripts and checkpoints that travel in plain HTTP can be replaced on the way, and both run as code.",
    fix=(
        "add a Deny of s3:* for all principals on the bucket and on its objects with Bool "
        "aws:SecureTransport false; in the CDK enforce_ssl=True"
    ),
    source="S3 user guide, security best practices (enforce encryption of data in transit)",
    check=check,
)
