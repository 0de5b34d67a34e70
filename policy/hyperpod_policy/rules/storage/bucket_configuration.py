"""Only listed administrators change the configuration of guarded buckets."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.iam import S3_BUCKET_CONFIGURATION_ACTIONS
from hyperpod_policy.bucket_locks import judge_lock
from hyperpod_policy.buckets import bucket_arn, guarded_buckets
from hyperpod_policy.iam.evaluation import Request
from hyperpod_policy.rule import Rule, Verdict
from hyperpod_policy.template import Template


def check(template: Template) -> Iterator[Verdict]:
    """Judge the denial of configuration changes of each guarded bucket."""
    for guarded in guarded_buckets(template):
        arn = bucket_arn(template, guarded.bucket)
        yield from judge_lock(
            template,
            guarded,
            [Request(action, arn) for action in S3_BUCKET_CONFIGURATION_ACTIONS],
            what=(
                "changes of the bucket's policy, versioning, encryption, lifecycle, replication and deletion"
            ),
            listed="administrators",
        )


RULE = Rule(
    id="BucketConfiguration",
    title="only listed administrators change the configuration of checkpoint and lifecycle-script buckets",
    severity="error",
    why=(
        "A lock that its own victims can take off is none: whoever may put the bucket policy, replicate the "
        "bucket or shorten its lifecycle reads, replaces or loses checkpoints in spite of the denial of "
        "writes."
    ),
    fix=(
        "add a Deny for all principals on the bucket, for every configuration action, with ArnNotEquals "
        "aws:PrincipalArn listing the administrators by full ARN, the CloudFormation execution role among "
        "them"
    ),
    source="S3 user guide, bucket policies; Service Authorization Reference, Amazon S3",
    check=check,
)
