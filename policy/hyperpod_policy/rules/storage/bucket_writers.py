"""Only listed principals write checkpoints and lifecycle scripts."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.bucket_locks import judge_lock
from hyperpod_policy.buckets import foreign_script_locations, guarded_buckets, policies_of, write_requests
from hyperpod_policy.clusters import distinct
from hyperpod_policy.rule import Rule, Verdict, failed, undetermined
from hyperpod_policy.template import Template


def check(template: Template) -> Iterator[Verdict]:
    """Judge the denial of object writes of each guarded bucket."""
    for guarded in guarded_buckets(template):
        yield from judge_lock(
            template,
            guarded,
            write_requests(template, guarded.bucket),
            what="object writes and deletes",
            listed="writers",
        )
        policies = policies_of(template, guarded.bucket)
        for policy in policies[1:]:
            yield failed(
                policy,
                "Bucket",
                found=f"{guarded.words} has {policies[0].logical_id} as well, and S3 keeps one policy only",
                allowed="one policy with the statements of all",
            )
    for used, _ in distinct(foreign_script_locations(template)):
        yield undetermined(
            used.cluster,
            *used.path,
            found=f"the bucket of {used.value} is not in this template",
            allowed="its policy denies object writes to every principal but its listed writers",
        )


RULE = Rule(
    id="BucketWriters",
    title="only listed principals write checkpoints and lifecycle scripts",
    severity="error",
    why=(
        "Lifecycle scripts run as root on every node, and loading a checkpoint unpickles it, which runs "
        "code on every training node. Whoever writes these buckets therefore owns the cluster; identity "
        "policies alone admit every administrator and every role with s3:*."
    ),
    fix=(
        "add a Deny for all principals on the bucket's objects, for every action that changes objects, with "
        "ArnNotEquals aws:PrincipalArn listing the writers by full ARN; CheckpointBucket and "
        "LifecycleScripts do"
    ),
    source=(
        "IAM user guide, policy evaluation logic and aws:PrincipalArn; Python documentation, pickle (warning)"
    ),
    check=check,
)
