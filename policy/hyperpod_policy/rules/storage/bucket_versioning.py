"""Guarded buckets keep old versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from hyperpod_policy.buckets import GuardedBucket, guarded_buckets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, elements, integer

_PATH = ("VersioningConfiguration", "Status")
_RULES: Final = ("LifecycleConfiguration", "Rules")
_LEAST_DAYS: Final = 7
"""A long weekend, and the days until somebody has looked."""


def check(template: Template) -> Iterator[Verdict]:
    """Judge the versioning of each guarded bucket."""
    for guarded in guarded_buckets(template):
        status = guarded.bucket.get(*_PATH, default="absent")
        if isinstance(status, Unresolved):
            yield undetermined(guarded.bucket, *_PATH, found=f"is {status}", allowed="Enabled")
        elif status != "Enabled":
            found = f"versioning of {guarded.words} is {str(status).lower()}"
            yield failed(guarded.bucket, *_PATH, found=found, allowed="Enabled")
        else:
            verdicts = [*_short_lived(guarded)]
            yield from verdicts if verdicts else [passed(guarded.bucket, *_PATH)]


def _short_lived(guarded: GuardedBucket) -> Iterator[Verdict]:
    """Judge how long old versions stay, and whether a few of the newest stay whatever their age."""
    rules, _ = elements(guarded.bucket.get(*_RULES))
    for position, rule in enumerate(rules):
        expiry = rule.get("NoncurrentVersionExpiration") if isinstance(rule, Mapping) else None
        if not isinstance(expiry, Mapping) or rule.get("Status") == "Disabled":
            continue
        days = integer(expiry.get("NoncurrentDays"))
        if days is not None and days < _LEAST_DAYS and "NewerNoncurrentVersions" not in expiry:
            yield failed(
                guarded.bucket,
                *(*_RULES, position, "NoncurrentVersionExpiration", "NoncurrentDays"),
                found=f"{guarded.words} keeps an old version for {days} days",
                allowed=f"{_LEAST_DAYS} days or more, or some versions whatever their age",
                severity="warning",
            )


RULE = Rule(
    id="BucketVersioning",
    title="checkpoint and lifecycle-script buckets keep old versions",
    severity="error",
    why=(
        "Without versions a job that overwrites or deletes the last good checkpoint, by mistake or on "
        "purpose, loses weeks of training, and nobody can tell which script a node ran."
    ),
    fix="set VersioningConfiguration.Status to Enabled, and expire noncurrent versions with a lifecycle rule",
    source="S3 user guide, retaining multiple versions of objects",
    check=check,
)
