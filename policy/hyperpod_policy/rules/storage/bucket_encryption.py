"""Checkpoints are encrypted with a key of their own that rotates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_policy.buckets import ENCRYPTION_KEY, GuardedBucket, guarded_buckets, key_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, elements, truth

_KMS = ("aws:kms", "aws:kms:dsse")
_RULES = ("BucketEncryption", "ServerSideEncryptionConfiguration")


def check(template: Template) -> Iterator[Verdict]:
    """Judge the default encryption of each guarded bucket."""
    for guarded in guarded_buckets(template):
        yield from _judge(template, guarded)


def _judge(template: Template, guarded: GuardedBucket) -> Iterator[Verdict]:
    bucket = guarded.bucket
    allowed = "SSE-KMS with a customer managed key whose rotation is on"
    rules, complete = elements(bucket.get(*_RULES))
    path = (*_RULES, 0, "ServerSideEncryptionByDefault")
    algorithm = bucket.get(*path, "SSEAlgorithm")
    key = bucket.get(*path, "KMSMasterKeyID")
    if not complete or isinstance(algorithm, Unresolved):
        yield undetermined(
            bucket, *_RULES, found=f"{guarded.words} has an unresolved encryption", allowed=allowed
        )
    elif not rules or algorithm not in _KMS or key is None or _is_aws_managed(key):
        if guarded.role == "checkpoint":
            found = "keys of S3" if algorithm not in _KMS else "the AWS managed key of S3"
            yield failed(bucket, *_RULES, found=f"{guarded.words} is encrypted with {found}", allowed=allowed)
        else:
            yield passed(bucket, *_RULES)
    else:
        yield _rotation(template, guarded, key, allowed)


def _is_aws_managed(key: Any) -> bool:
    return isinstance(key, str) and key.endswith("alias/aws/s3")


def _rotation(template: Template, guarded: GuardedBucket, key: Any, allowed: str) -> Verdict:
    resource = key_of(template, guarded.bucket)
    if resource is None:
        return undetermined(
            guarded.bucket,
            *ENCRYPTION_KEY,
            found=f"key {key} of {guarded.words} is not in this template",
            allowed=allowed,
        )
    rotates = resource.get("EnableKeyRotation", default=False)
    if isinstance(rotates, Unresolved):
        return undetermined(resource, "EnableKeyRotation", found=f"is {rotates}", allowed="true")
    if truth(rotates) is not True:
        return failed(
            resource, "EnableKeyRotation", found=f"the key of {guarded.words} never rotates", allowed="true"
        )
    return passed(resource, "EnableKeyRotation")


RULE = Rule(
    id="BucketEncryption",
    title="checkpoints are encrypted with a customer managed key that rotates",
    severity="error",
    why=(
        "With keys of S3 whoever may read the bucket reads the weights. A key of its own is a second lock, "
        "shows every use in CloudTrail, and can be taken away at once."
    ),
    fix=(
        "encrypt with aws:kms and a KMS key of the stack, with EnableKeyRotation true and a bucket key "
        "against the cost"
    ),
    source=(
        "S3 user guide, using server-side encryption with AWS KMS keys; KMS developer guide, rotating keys"
    ),
    check=check,
)
