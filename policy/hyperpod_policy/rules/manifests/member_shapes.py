"""Members of a training job's pods are lists and mappings where they have to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, mapping, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_POD: Mapping[type, Sequence[str]] = {
    list: (
        *("containers", "initContainers", "volumes", "tolerations", "imagePullSecrets"),
        "topologySpreadConstraints",
    ),
    dict: ("nodeSelector", "affinity", "securityContext", "dnsConfig"),
    bool: ("hostNetwork", "hostPID", "hostIPC", "automountServiceAccountToken", "shareProcessNamespace"),
}
_CONTAINER: Mapping[type, Sequence[str]] = {
    list: ("command", "args", "env", "envFrom", "ports", "volumeMounts"),
    dict: ("resources", "securityContext", "lifecycle"),
}
_OF_TEXT = ("command", "args")
_WORDS: Mapping[type, str] = {list: "a list", dict: "a mapping", bool: "true or false, without quotes"}


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the shape of the members that other rules read."""
    for job in training_jobs(manifests):
        yield from judged(job.manifest, job.replicas_path, _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    for path, value, shape in _members(job):
        if value is None or isinstance(value, shape):
            continue
        allowed = _WORDS[shape]
        name = path[-1] if isinstance(path[-1], str) else f"entry of {path[-2]}"
        if is_deferred(value):
            yield undetermined(job.manifest, *path, found=f"{name} {shown(value)}", allowed=allowed)
        else:
            yield failed(job.manifest, *path, found=f"{name} {shown(value)}", allowed=allowed)


def _members(job: TrainingJob) -> Iterator[tuple[FaultPath, Any, type]]:
    for member in ("labels", "annotations"):
        yield ("metadata", member), job.manifest.get("metadata", member), dict
    for pod in job.pods():
        yield from _of(pod.at(), pod.spec, _POD)
        for container in pod.containers(init=True):
            yield from _of(container.path, container.body, _CONTAINER)
            resources = mapping(container.body.get("resources"))
            for kind in ("limits", "requests"):
                yield (*container.path, "resources", kind), resources.get(kind), dict
            context = mapping(container.body.get("securityContext"))
            yield (*container.path, "securityContext", "privileged"), context.get("privileged"), bool


def _of(
    path: FaultPath, body: Mapping[str, Any], shapes: Mapping[type, Sequence[str]]
) -> Iterator[tuple[FaultPath, Any, type]]:
    for shape, members in shapes.items():
        for member in members:
            value = body.get(member)
            yield (*path, member), value, shape
            if shape is list and isinstance(value, list) and member not in _OF_TEXT:
                yield from (((*path, member, position), entry, dict) for position, entry in enumerate(value))


RULE = ManifestRule(
    id="MemberShapes",
    title="what has to be a list, a mapping or a switch is one",
    severity="error",
    why=(
        "The server refuses a job in which such a member has another shape, such as a command in one text. "
        "Until then no rule can read what is in it, and a review would be silent about it."
    ),
    fix="write a list with a hyphen or in brackets, a mapping with names, a switch as true or false",
    source="Kubernetes API reference, PodSpec and Container",
    check=check,
)
