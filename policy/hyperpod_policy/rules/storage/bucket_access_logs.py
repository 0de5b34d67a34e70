"""Requests to guarded buckets are logged."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, same

_PATH = ("LoggingConfiguration", "DestinationBucketName")


def check(template: Template) -> Iterator[Verdict]:
    """Judge the access logging of each guarded bucket."""
    for guarded in guarded_buckets(template):
        bucket = guarded.bucket
        logging = bucket.get("LoggingConfiguration")
        destination = bucket.get(*_PATH)
        allowed = "server access logs go to another bucket"
        if isinstance(logging, Unresolved):
            yield undetermined(
                bucket, *_PATH, found=f"logging of {guarded.words} is {logging}", allowed=allowed
            )
        elif logging is None:
            yield failed(
                bucket, "LoggingConfiguration", found=f"{guarded.words} logs no requests", allowed=allowed
            )
        elif destination is None or same(destination, bucket.ref) is True:
            yield failed(bucket, *_PATH, found=f"{guarded.words} logs requests to itself", allowed=allowed)
        else:
            yield passed(bucket, *_PATH)


RULE = Rule(
    id="BucketAccessLogs",
    title="requests to checkpoint and lifecycle-script buckets are logged elsewhere",
    severity="warning",
    why=(
        "After a suspicious checkpoint the first question is who wrote it. Logs in the same bucket can be "
        "deleted by whoever wrote it, and log delivery would need an exemption from the lock."
    ),
    fix=(
        "set LoggingConfiguration.DestinationBucketName to a log bucket that the log delivery service may "
        "write"
    ),
    source="S3 user guide, logging requests with server access logging",
    check=check,
)
