"""Access logs arrive, and stay as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from hyperpod_model.catalog.iam import ACCESS_LOG_ACTION, ACCESS_LOG_SERVICE, S3_BUCKET_CONFIGURATION_ACTIONS
from hyperpod_policy.bucket_locks import judge_lock
from hyperpod_policy.buckets import (
    GuardedBucket,
    bucket_arn,
    guarded_buckets,
    log_buckets,
    policy_statements,
    write_requests,
)
from hyperpod_policy.iam.conditions import holds
from hyperpod_policy.iam.evaluation import Request
from hyperpod_policy.iam.patterns import every
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.privileges import covers
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.rules.storage.bucket_public_access import ownership, public_access, public_policy
from hyperpod_policy.rules.storage.bucket_retention import retention
from hyperpod_policy.rules.storage.bucket_transport import transport
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Anything, Pseudo, concatenated, elements, integer

_LEGACY = "LogDeliveryWrite"
_LEAST_DAYS: Final = 30
"""How long logs stay at least: an attack is noticed weeks later."""


def check(template: Template) -> Iterator[Verdict]:
    """Judge the buckets of the template to which guarded buckets log."""
    for logs in log_buckets(template):
        verdicts = [
            *_delivery(template, logs),
            *public_access(logs),
            *_acls(logs),
            *public_policy(template, logs),
            *_expiry(logs),
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
    if not complete or logs.bucket.get("AccessControl") == _LEGACY:
        return
    silent = [
        source.bucket.logical_id
        for source in guarded_buckets(template)
        if source.bucket.get("LoggingConfiguration", "DestinationBucketName") == logs.bucket.ref
        and not any(_delivers(template, statement, source.bucket, logs.bucket) for statement in statements)
    ]
    if silent:
        yield failed(
            logs.bucket,
            found=(
                f"{logs.words} admits no {ACCESS_LOG_SERVICE} on behalf of {' and '.join(silent)}, so no log "
                "arrives"
            ),
            allowed=f"a bucket policy that lets {ACCESS_LOG_SERVICE} {ACCESS_LOG_ACTION}",
        )


def _delivers(template: Template, statement: Statement, source: Resource, logs: Resource) -> bool:
    """Whether a statement lets the logs of a bucket in, as far as the template tells."""
    prefix = source.get("LoggingConfiguration", "LogFilePrefix", default="")
    written = concatenated((bucket_arn(template, logs), "/", prefix, Anything("log")))
    context = {"aws:sourcearn": bucket_arn(template, source), "aws:sourceaccount": Pseudo("AWS::AccountId")}
    return (
        statement.effect == "Allow"
        and ("Service", ACCESS_LOG_SERVICE) in statement.principals
        and covers(statement, ACCESS_LOG_ACTION)
        and any(every(pattern, written) is not False for pattern in statement.resources)
        and holds(statement.conditions, context, free=True) is not False
    )


def _acls(logs: GuardedBucket) -> Iterator[Verdict]:
    """Judge whether ACLs admit others; the older way of delivery needs one."""
    if logs.bucket.get("AccessControl") != _LEGACY:
        yield from ownership(logs)


def _expiry(logs: GuardedBucket) -> Iterator[Verdict]:
    rules, _ = elements(logs.bucket.get("LifecycleConfiguration", "Rules"))
    for position, rule in enumerate(rules):
        if not isinstance(rule, Mapping) or rule.get("Status") == "Disabled":
            continue
        days = integer(rule.get("ExpirationInDays"))
        if days is not None and days < _LEAST_DAYS:
            yield failed(
                logs.bucket,
                *("LifecycleConfiguration", "Rules", position, "ExpirationInDays"),
                found=f"{logs.words} deletes its logs after {days} days",
                allowed=f"{_LEAST_DAYS} days or more",
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
        "configuration changes and plain HTTP to everybody else; keep the logs for a month at least; "
        "LogBucket does"
    ),
    source="S3 user guide, enabling server access logging (bucket policy for the logging service)",
    check=check,
)
