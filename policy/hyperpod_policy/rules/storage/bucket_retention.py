"""Guarded buckets outlive their stack."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import GuardedBucket, guarded_buckets, key_of, policies_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved

_KEEPING = {
    "DeletionPolicy": ("Retain", "RetainExceptOnCreate"),
    "UpdateReplacePolicy": ("Retain",),
}


def check(template: Template) -> Iterator[Verdict]:
    """Judge the deletion and replacement policies of each guarded bucket."""
    for guarded in guarded_buckets(template):
        yield from retention(template, guarded)


def retention(template: Template, guarded: GuardedBucket) -> Iterator[Verdict]:
    """Yield whether a bucket, and what it needs, stays when its stack goes."""
    bucket = guarded.bucket
    policies = {
        "DeletionPolicy": bucket.deletion_policy,
        "UpdateReplacePolicy": bucket.update_replace_policy,
    }
    unclear = [name for name, value in policies.items() if isinstance(value, Unresolved)]
    lost = [name for name, value in policies.items() if name not in unclear and value not in _KEEPING[name]]
    emptied = _is_emptied(template, guarded.bucket.key)
    if lost:
        found = f"{guarded.words} is deleted by its {' and its '.join(lost)}"
        yield failed(bucket, found=found, allowed="both are Retain")
    elif unclear:
        found = f"{' and '.join(unclear)} of {guarded.words} is unresolved"
        yield undetermined(bucket, found=found, allowed="both are Retain")
    elif emptied is not None:
        found = f"{guarded.words} is emptied by {emptied} when the stack goes"
        yield failed(bucket, found=found, allowed="nothing deletes its objects")
    else:
        verdicts = list(_needed(template, guarded))
        yield from verdicts if verdicts else [passed(bucket)]


def _needed(template: Template, guarded: GuardedBucket) -> Iterator[Verdict]:
    """Judge what a retained bucket needs to stay closed and readable."""
    for policy in policies_of(template, guarded.bucket):
        if not _is_kept(policy):
            yield failed(
                policy,
                found=f"{guarded.words} is retained and its policy, the lock, is deleted",
                allowed="retained with the bucket",
            )
    key = key_of(template, guarded.bucket)
    if key is not None and not _is_kept(key):
        yield failed(
            key,
            found=f"{guarded.words} is retained and its key is deleted, so nobody can read it again",
            allowed="retained with the bucket",
        )


def _is_kept(resource: Resource) -> bool:
    policies = {
        "DeletionPolicy": resource.deletion_policy,
        "UpdateReplacePolicy": resource.update_replace_policy,
    }
    return all(isinstance(value, Unresolved) or value in _KEEPING[name] for name, value in policies.items())


def _is_emptied(template: Template, key: str) -> str | None:
    for resource in template.of_type("Custom::S3AutoDeleteObjects"):
        bucket = template.resource(resource.get("BucketName"))
        if bucket is not None and bucket.key == key:
            return resource.logical_id
    return None


RULE = Rule(
    id="BucketRetention",
    title="checkpoint and lifecycle-script buckets outlive their stack",
    severity="error",
    why=(
        "A deleted or replaced stack would take the training's only durable state with it, or the scripts "
        "from which replacement nodes start. Kept without its policy the bucket is open, without its key "
        "unreadable."
    ),
    fix=(
        "set DeletionPolicy and UpdateReplacePolicy to Retain (in the CDK removal_policy=RETAIN) on the "
        "bucket, its policy and its key"
    ),
    source="CloudFormation user guide, DeletionPolicy and UpdateReplacePolicy attributes",
    check=check,
)
