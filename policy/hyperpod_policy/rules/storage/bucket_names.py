"""Nobody else can have the name of a guarded bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_policy.bucket_claims import OWN_NAMESPACE, can_be_claimed
from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template

_ALLOWED: Final = f"a name that CloudFormation makes, or BucketNamespace {OWN_NAMESPACE}"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the name of each guarded bucket."""
    for guarded in guarded_buckets(template):
        bucket, name = guarded.bucket, guarded.bucket.get("BucketName")
        claimed = can_be_claimed(bucket)
        if claimed is None:
            found = f"{guarded.words} has the name {name}, which may be one that others can guess"
            yield undetermined(bucket, "BucketName", found=found, allowed=_ALLOWED)
        elif claimed:
            found = f"{guarded.words} has a name that others can guess and claim, {name}"
            yield failed(bucket, "BucketName", found=found, allowed=_ALLOWED)
        else:
            yield passed(bucket, "BucketName")


RULE = Rule(
    id="BucketNames",
    title="nobody else can claim the name of a checkpoint or lifecycle-script bucket",
    severity="warning",
    why=(
        "Bucket names are one space for all accounts. Whoever guesses a name and takes it first, in a region "
        "to come or after a deletion, gets the checkpoints that jobs still write there, and hands nodes "
        "scripts that run as root."
    ),
    fix=(
        f"leave BucketName out, or set BucketNamespace to {OWN_NAMESPACE} with a BucketNamePrefix; where the "
        "name must stay, let every role that uses it ask for s3:ResourceAccount"
    ),
    source="S3 user guide, bucket naming rules and account regional namespaces; bucket owner condition",
    check=check,
)
