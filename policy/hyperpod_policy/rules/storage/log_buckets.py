"""Access logs arrive, and stay as they were written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hyperpod_model.catalog.iam import ACCESS_LOG_ACTION, ACCESS_LOG_SERVICE, S3_BUCKET_CONFIGURATION_ACTIONS
from hyperpod_policy.bucket_locks import judge_lock
from hyperpod_policy.buckets import (
    GuardedBucket,
    bucket_arn,
    log_buckets,
    policy_statements,
    write_requests,
)
from hyperpod_policy.iam.evaluation import Request
from hyperpod_policy.privileges import covers
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.rules.storage.bucket_public_access import public_access
from hyperpod_policy.rules.storage.bucket_retention import retention
from hyperpod_policy.rules.storage.bucket_transport import transport
from hyperpod_policy.template import Template

_LEGACY = "LogDeliveryWrite"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the buckets of the template to which guarded buckets log."""
    for logs in log_buckets(template):
        verdicts = [
            *_delivery(template, logs),
            *public_access(logs),
            *transport(template, logs),
            *retention(template, logs),
            *judge_lock(
                template,
                logs,
                write_requests(template, logs.bucket),
                what="object writes and deletes",
                listed="services",
            ),
            *judge_lock(
                template,
                logs,
                [
                    Request(action, bucket_arn(template, logs.bucket))
                    for action in S3_BUCKET_CONFIGURATION_ACTIONS
                ],
                what="changes of the bucket's configuration",
                listed="administrators",
            ),
        ]
        broken = [verdict for verdict in verdicts if verdict.outcome != "pass"]
        yield from [replace(verdict, severity=None) for verdict in broken] or [passed(logs.bucket)]


def _delivery(template: Template, logs: GuardedBucket) -> Iterator[Verdict]:
    statements, complete = policy_statements(template, logs.bucket)
    delivered = any(
        statement.effect == "Allow"
        and ("Service", ACCESS_LOG_SERVICE) in statement.principals
        and covers(statement, ACCESS_LOG_ACTION)
        for statement in statements
    )
    if complete and not delivered and logs.bucket.get("AccessControl") != _LEGACY:
        yield failed(
            logs.bucket,
            found=f"{logs.words} admits no {ACCESS_LOG_SERVICE}, so no log arrives",
            allowed=f"a bucket policy that lets {ACCESS_LOG_SERVICE} {ACCESS_LOG_ACTION}",
        )


RULE = Rule(
    id="LogBuckets",
    title="access logs arrive, and nobody changes them afterwards",
    severity="warning",
    why=(
        "Whoever replaced a checkpoint removes the line that tells so, if the bucket of the logs lets them. "
        "S3 says nothing when it may not deliver a log at all."
    ),
    fix=(
        f"let {ACCESS_LOG_SERVICE} write, for this account and bucket alone, and deny writes, deletes, "
        "configuration changes and plain HTTP to everybody else; LogBucket does"
    ),
    source="S3 user guide, enabling server access logging (bucket policy for the logging service)",
    check=check,
)
