"""Guarded buckets keep old versions."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved

_PATH = ("VersioningConfiguration", "Status")


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
            yield passed(guarded.bucket, *_PATH)


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
