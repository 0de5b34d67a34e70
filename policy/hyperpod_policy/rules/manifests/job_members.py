"""A training job has no members that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.manifest_vocabulary import members
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import items, mapping
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, hint, judged


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the members of each training job, down to those of its containers."""
    for job in training_jobs(manifests):
        yield from judged(job.manifest, ("spec",), _unread(job))


def _unread(job: TrainingJob) -> Iterator[ManifestVerdict]:
    for path, body, known, is_own in _parts(job):
        for name in body:
            if name in known:
                continue
            meant = hint(name, known)
            yield failed(
                job.manifest,
                *path,
                name,
                found=f"{name}, which nobody reads{meant}",
                allowed=f"a member of {path[-1] if isinstance(path[-1], str) else path[-2]}",
                severity="error" if is_own or meant else "warning",
            )


def _parts(job: TrainingJob) -> Iterator[tuple[FaultPath, Mapping[str, Any], tuple[str, ...], bool]]:
    """Yield path, body and known members of each part, and whether the operator alone reads it."""
    name = job.operator_name
    yield ("spec",), job.spec, members("spec", name), True
    for place, body in (("elasticPolicy", job.elastic_policy), ("runPolicy", job.run_policy)):
        yield ("spec", place), mapping(body), members(place, name), True
    if not job.is_kubeflow:
        policy = job.run_policy
        path = ("spec", "runPolicy", "restartPolicy")
        yield path, mapping(policy.get(path[-1])), members(path[-1], name), True
        path = ("spec", "runPolicy", "logMonitoringConfiguration")
        for position, entry in items(policy.get(path[-1])):
            yield (*path, position), entry, members(path[-1], name), True
    for replicas in job.replicas:
        yield replicas.path, replicas.body, members("replicas", name), True
        yield replicas.pod.at(), replicas.pod.spec, members("pod"), False
        for container in replicas.pod.containers(init=True):
            yield container.path, container.body, members("container"), False


RULE = ManifestRule(
    id="JobMembers",
    title="a training job has no members that nobody reads",
    severity="error",
    why=(
        "An unknown member is dropped in silence unless the client asks for strict validation. The job then "
        "runs with defaults where a setting was meant, such as without any retry cap."
    ),
    fix="correct or remove the member",
    source=(
        "CRD of kubeflow/training-operator v1.9.0; PyPI hyperpod-pytorch-job-template 1.5.0; Kubernetes, "
        "server-side field validation"
    ),
    check=check,
)
