"""The memory tier of checkpoints has its share, and a durable tier behind it."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved

_TIERED = "TieredStorageConfig"
_MODE = (_TIERED, "Mode")
_PERCENTAGE = (_TIERED, "InstanceMemoryAllocationPercentage")


def check(template: Template) -> Iterator[Verdict]:
    """Judge each cluster that keeps checkpoints in memory."""
    has_bucket = any(guarded.role == "checkpoint" for guarded in guarded_buckets(template))
    for cluster in clusters(template):
        mode = cluster.get(*_MODE)
        if isinstance(mode, Unresolved):
            allowed = "with Enable, a share of memory and a bucket"
            yield undetermined(cluster, *_MODE, found=f"is {mode}", allowed=allowed)
        elif mode == "Enable":
            verdicts = [*_judge(cluster, has_bucket)]
            yield from verdicts if verdicts else [passed(cluster, _TIERED)]


def _judge(cluster: Resource, has_bucket: bool) -> Iterator[Verdict]:
    least, most = TIERED_MEMORY_PERCENTAGE.value
    if cluster.get(*_PERCENTAGE) is None:
        yield failed(
            cluster,
            *_PERCENTAGE,
            found="is not set, and what the service takes then is undocumented",
            allowed=f"{least} to {most}",
        )
    if not has_bucket:
        yield undetermined(
            cluster,
            *_MODE,
            found="no bucket in this template is written by a role of training pods",
            allowed="a bucket for every so many checkpoints: memory does not outlive a stop of all nodes",
        )


RULE = Rule(
    id="TieredCheckpointing",
    title="checkpoints in memory have their share of it, and a bucket behind them",
    severity="error",
    why=(
        "The memory tier is lost when all nodes stop, which is when a checkpoint is needed most. Without a "
        "share that is said, jobs cannot plan with the memory that is left to them."
    ),
    fix=(
        "set InstanceMemoryAllocationPercentage, give the training pods a role that writes a checkpoint "
        "bucket (TrainingPodRole), and save to it every so many steps; enabling it does nothing until the "
        "job writes through the library"
    ),
    source="SageMaker developer guide, managed-tier-checkpointing and managed-tier-checkpointing-setup",
    check=check,
)
