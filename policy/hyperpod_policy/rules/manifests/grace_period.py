"""Training has time for a checkpoint between SIGTERM and SIGKILL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.manifest_vocabulary import DEFAULT_GRACE_PERIOD_SECONDS
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import integer, is_deferred, shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_MEMBER = "terminationGracePeriodSeconds"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the grace period of each training job's pods."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            written = pod.spec.get(_MEMBER)
            seconds = integer(written)
            allowed = f"more than the usual {DEFAULT_GRACE_PERIOD_SECONDS} s, and than a save takes"
            if seconds is not None and seconds > DEFAULT_GRACE_PERIOD_SECONDS:
                yield passed(job.manifest, *pod.at(_MEMBER))
            elif is_deferred(written):
                yield undetermined(job.manifest, *pod.at(_MEMBER), found=f"{written} s", allowed=allowed)
            else:
                yield failed(
                    job.manifest,
                    *pod.at(_MEMBER),
                    found=f"no {_MEMBER}" if written is None else f"{_MEMBER} {shown(written)}",
                    allowed=allowed,
                )


RULE = ManifestRule(
    id="GracePeriod",
    title="training has time for a checkpoint between SIGTERM and SIGKILL",
    severity="warning",
    why=(
        "A pod that is evicted, preempted or scaled away has this long to save. A sharded checkpoint of a "
        "large model takes longer than 30 seconds, and one that is cut off is lost work."
    ),
    fix="set terminationGracePeriodSeconds to twice what a save takes, such as 120",
    source="Kubernetes docs, termination of pods",
    check=check,
)
