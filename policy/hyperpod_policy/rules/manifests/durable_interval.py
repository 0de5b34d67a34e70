"""A job that recovers from memory writes durable checkpoints as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.features import checkpointless_at, durable_interval, tiered_at
from hyperpod_policy.manifests.reading import integer, shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_OFF = ("save_to_s3=false", "save-to-s3=false", "no-save-to-s3")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge each job with a memory tier or with recovery from peers."""
    for job in training_jobs(manifests):
        at = tiered_at(job)
        peers = checkpointless_at(job)
        shows = peers if at is None else at
        if shows is None:
            continue
        what = "recovers from peers" if at is None else "writes to the memory tier"
        off = job.says(*_OFF)
        interval = durable_interval(job)
        allowed = "an interval of durable checkpoints in S3, of 1 step or more"
        if off is not None:
            yield failed(
                job.manifest, *off, found=f"no durable checkpoints in a job that {what}", allowed=allowed
            )
        elif interval is None:
            yield undetermined(
                job.manifest, *shows, found=f"no interval in sight in a job that {what}", allowed=allowed
            )
        else:
            path, written = interval
            steps = integer(written)
            if steps is not None and steps >= 1:
                yield passed(job.manifest, *path)
            elif steps is None:
                yield undetermined(job.manifest, *path, found=f"interval {shown(written)}", allowed=allowed)
            else:
                yield failed(
                    job.manifest, *path, found=f"interval {steps}: no durable checkpoints", allowed=allowed
                )


RULE = ManifestRule(
    id="DurableInterval",
    title="a job that recovers from memory writes durable checkpoints as well",
    severity="error",
    why=(
        "Peers and the memory tier help as long as some nodes are left. After a stop of the whole cluster "
        "only what is in S3 is there, so its interval decides how far back a job goes in the worst case."
    ),
    fix=(
        "keep the interval in S3 that the job would have without the memory tier, and name it in the manifest"
    ),
    source="AWS docs managed-tier-checkpointing, sagemaker-eks-checkpointless",
    check=check,
)
