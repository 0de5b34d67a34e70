"""Only listed principals read checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.iam import S3_OBJECT_READ_ACTIONS
from hyperpod_policy.bucket_locks import judge_lock
from hyperpod_policy.buckets import guarded_buckets, objects_arn
from hyperpod_policy.iam.evaluation import Request
from hyperpod_policy.rule import Rule, Verdict
from hyperpod_policy.template import Template


def check(template: Template) -> Iterator[Verdict]:
    """Judge the denial of object reads of each checkpoint bucket."""
    for guarded in guarded_buckets(template):
        if guarded.role == "checkpoint":
            objects = objects_arn(template, guarded.bucket)
            yield from judge_lock(
                template,
                guarded,
                [Request(action, objects) for action in S3_OBJECT_READ_ACTIONS],
                what="object reads",
                listed="readers and writers",
            )


RULE = Rule(
    id="CheckpointReaders",
    title="only listed principals read checkpoints",
    severity="warning",
    why=(
        "Checkpoints are the model. Identity policies alone let every administrator and every role with "
        "s3:Get* of the account copy the weights."
    ),
    fix=(
        "add a Deny for all principals on the bucket's objects, for every action that reads objects, with "
        "ArnNotEquals aws:PrincipalArn listing readers and writers by full ARN; CheckpointBucket does"
    ),
    source="IAM user guide, policy evaluation logic and aws:PrincipalArn",
    check=check,
)
