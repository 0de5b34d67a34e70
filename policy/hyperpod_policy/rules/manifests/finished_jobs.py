"""A job that has ended can be read, and does not stay for ever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import integer, is_deferred, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_TIME = "ttlSecondsAfterFinished"
_CLEAN = "cleanPodPolicy"
_PATH = ("spec", "runPolicy")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge what is left of each training job when it has ended."""
    for job in training_jobs(manifests):
        yield from judged(job.manifest, _PATH, _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    written = job.run_policy.get(_TIME)
    seconds = integer(written)
    allowed = "the time in which somebody looks at a failed job, such as 86400"
    if is_deferred(written):
        yield undetermined(job.manifest, *_PATH, _TIME, found=f"{_TIME} {written}", allowed=allowed)
    elif written is None and job.is_kubeflow:
        yield failed(
            job.manifest,
            *_PATH,
            _TIME,
            found=f"no {_TIME}: finished jobs stay until somebody deletes them",
            allowed=allowed,
            severity="advice",
        )
    elif written is None or seconds == 0:
        yield failed(
            job.manifest,
            *_PATH,
            _TIME,
            found=f"{_TIME} {'missing, which is 0' if written is None else 0}: the job goes when it ends",
            allowed=allowed,
        )
    elif seconds is None or seconds < (0 if job.is_kubeflow else -1):
        yield failed(
            job.manifest,
            *_PATH,
            _TIME,
            found=f"{_TIME} {shown(written)}",
            allowed=allowed,
            severity="error",
        )
    policy = job.run_policy.get(_CLEAN)
    if policy == "All" or (policy is None and not job.is_kubeflow):
        yield failed(
            job.manifest,
            *_PATH,
            _CLEAN,
            found=f"{_CLEAN} {'missing, which is All' if policy is None else policy}: logs go with the pods",
            allowed=job.operator.default_clean_pod_policy,
            severity="advice",
        )
    elif policy == "None" and job.is_kubeflow:
        yield failed(
            job.manifest,
            *_PATH,
            _CLEAN,
            found=f"{_CLEAN} None: pods that still run when the job has ended keep their nodes",
            allowed=job.operator.default_clean_pod_policy,
            severity="advice",
        )


RULE = ManifestRule(
    id="FinishedJobs",
    title="a job that has ended can be read, and does not stay for ever",
    severity="warning",
    why=(
        "HyperPod's operator deletes a finished job at once unless it is told otherwise, and with it "
        "status, pods and logs, also of a job that failed at night. A PyTorchJob stays for ever."
    ),
    fix="set runPolicy.ttlSecondsAfterFinished, and a cleanPodPolicy that keeps what is over",
    source="PyPI hyperpod-pytorch-job-template 1.5.0; kubeflow/training-operator v1.8.1, RunPolicy",
    check=check,
)
