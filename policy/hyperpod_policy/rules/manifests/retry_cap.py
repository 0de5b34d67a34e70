"""A job that fails again and again ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperpod_model.catalog.jobs import AUTO_RESUME_ANNOTATION, RETRIES_ANNOTATION
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import integer, is_deferred, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_RUN_POLICY = ("spec", "runPolicy")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the retry caps of each training job."""
    for job in training_jobs(manifests):
        yield from judged(job.manifest, _RUN_POLICY, _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    for path, written, required in _caps(job):
        count = integer(written)
        name = path[-1]
        allowed = f"{name} of 1 or more"
        if is_deferred(written):
            yield undetermined(job.manifest, *path, found=f"{name} {written}", allowed=allowed)
        elif written is None:
            if required:
                yield failed(job.manifest, *path, found=f"no {name}", allowed=allowed, severity="warning")
        elif count is None or count < 0:
            yield failed(job.manifest, *path, found=f"{name} {shown(written)}", allowed=allowed)
        elif count == 0:
            yield failed(
                job.manifest,
                *path,
                found=f"{name} 0: the first failure ends the job",
                allowed=allowed,
                severity="warning",
            )


def _caps(job: TrainingJob) -> Iterator[tuple[FaultPath, Any, bool]]:
    policy = job.run_policy
    if job.is_kubeflow:
        annotations = job.annotations
        path: FaultPath = ("metadata", "annotations", RETRIES_ANNOTATION)
        yield path, annotations.get(RETRIES_ANNOTATION), AUTO_RESUME_ANNOTATION in annotations
        yield (*_RUN_POLICY, "backoffLimit"), policy.get("backoffLimit"), True
    else:
        yield (*_RUN_POLICY, "jobMaxRetryCount"), policy.get("jobMaxRetryCount"), True


RULE = ManifestRule(
    id="RetryCap",
    title="a job that fails again and again ends",
    severity="error",
    why=(
        "A batch that always gives NaN, or a bug after the checkpoint, looks like a crash. Without a cap "
        "the job restarts from the same checkpoint for ever, and holds all its nodes meanwhile. A pod that "
        "fails once the others are done restarts for ever too: torchrun waits for pods that do not come back."
    ),
    fix=(
        "set the annotation job-max-retry-count and runPolicy.backoffLimit of a PyTorchJob, or "
        "runPolicy.jobMaxRetryCount of a HyperPodPyTorchJob"
    ),
    source=(
        "AWS docs sagemaker-hyperpod-eks-resiliency, auto-resume; PyPI hyperpod-pytorch-job-template 1.5.0; "
        "kubeflow/training-operator v1.8.1, RunPolicy; tests of this project with torchrun of PyTorch 2.13"
    ),
    check=check,
)
