"""Values that Kubernetes wants as text are written as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, items, mapping, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge annotations, labels, selectors, environment and process count of each training job."""
    for job in training_jobs(manifests):
        yield from judged(job.manifest, (), _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    for path, value in _texts(job):
        if value is None or isinstance(value, str):
            continue
        found = f"{shown(value)} of type {_type(value)}"
        if is_deferred(value):
            yield undetermined(job.manifest, *path, found=found, allowed="text")
        else:
            yield failed(
                job.manifest,
                *path,
                found=found,
                allowed=f'text, such as "{shown(value)}"' if not isinstance(value, dict | list) else "text",
            )


def _texts(job: TrainingJob) -> Iterator[tuple[FaultPath, Any]]:
    yield ("spec", "nprocPerNode"), job.spec.get("nprocPerNode")
    for member in ("annotations", "labels"):
        yield from _values(("metadata", member), mapping(job.manifest.get("metadata", member)))
    for pod in job.pods():
        for member, body in (("annotations", pod.annotations), ("labels", pod.labels)):
            yield from _values((*pod.path, "metadata", member), body)
        yield from _values(pod.at("nodeSelector"), mapping(pod.spec.get("nodeSelector")))
        for position, entry in items(pod.spec.get("tolerations")):
            yield pod.at("tolerations", position, "value"), entry.get("value")
        for container in pod.containers(init=True):
            for position, entry in items(container.body.get("env")):
                yield (*container.path, "env", position, "value"), entry.get("value")
            for member in ("command", "args"):
                words = container.body.get(member)
                for position, word in enumerate(words if isinstance(words, list) else ()):
                    yield (*container.path, member, position), word


def _values(path: FaultPath, body: Mapping[str, Any]) -> Iterator[tuple[FaultPath, Any]]:
    for key, value in body.items():
        yield (*path, key), value


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "mapping" if isinstance(value, Mapping) else "list"


RULE = ManifestRule(
    id="StringValues",
    title="what Kubernetes wants as text is written as text",
    severity="error",
    why=(
        "YAML reads true, 8 and 1e5 without quotes as something other than text. The server refuses such "
        "annotations, labels and environment values, and a template engine that drops the quotes turns a "
        "manifest that worked into one that does not."
    ),
    fix="put the value in quotes",
    source=(
        "Kubernetes API reference, ObjectMeta and EnvVar; AWS docs sagemaker-hyperpod-eks-resiliency; PyPI "
        "hyperpod-pytorch-job-template 1.5.0: nprocPerNode is a string"
    ),
    check=check,
)
