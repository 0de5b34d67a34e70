"""The names that a training job's pods will get are legal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import JOB_NAME, POD_NAME_CHARACTERS
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred
from hyperpod_policy.manifests.training_jobs import Replicas, TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_GENERATED_CHARACTERS = 5
_SOME_NUMBER = 100


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the name of each training job, and of its pods."""
    for job in training_jobs(manifests):
        yield from judged(job.manifest, ("metadata", "name"), _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    generates = job.manifest.get("metadata", "name") is None
    path = ("metadata", "generateName" if generates else "name")
    name = job.manifest.name
    if is_deferred(name):
        yield undetermined(
            job.manifest, *path, found=f"name {name}", allowed=f"{JOB_NAME.in_words}, short enough for pods"
        )
        return
    if not name:
        yield failed(job.manifest, "metadata", found="no name", allowed="a name, after which pods are named")
        return
    if generates:
        name += "x" * _GENERATED_CHARACTERS
    if not JOB_NAME.matches(name[: JOB_NAME.max_length]):
        yield failed(job.manifest, *path, found=f"name {job.manifest.name!r}", allowed=f"{JOB_NAME.in_words}")
    for replicas in job.replicas:
        longest = _longest(name, replicas)
        if len(longest) > POD_NAME_CHARACTERS:
            yield failed(
                job.manifest,
                *path,
                found=f"a pod would be named {longest!r}, with {len(longest)} characters",
                allowed=f"{POD_NAME_CHARACTERS} characters at most, so a job name of "
                f"{POD_NAME_CHARACTERS - len(longest) + len(name)}",
            )


def _longest(name: str, replicas: Replicas) -> str:
    count = replicas.count
    last = (_SOME_NUMBER if count is None else max(count, 1)) - 1
    return f"{name}-{replicas.name.lower()}-{last}"


RULE = ManifestRule(
    id="PodNames",
    title="the names of a job's pods and services are legal",
    severity="error",
    why=(
        "Pods are named after job and replica, and so are the services by which they find each other. The "
        "job is accepted with a longer name than fits, and then no pod is ever created."
    ),
    fix="shorten the job's name, and begin it with a letter",
    source="Kubernetes, object names: DNS labels; kubeflow/training-operator v1.8.1, replicaName",
    check=check,
)
