"""Nothing in a pod is said twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import items
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the lists in each training job's pods whose entries have keys."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            yield from judged(job.manifest, pod.at(), _faults(job.manifest, pod))


def _faults(manifest: Manifest, pod: Pod) -> Iterator[ManifestVerdict]:
    for path, member, keys in _lists(pod):
        first: dict[Hashable, int] = {}
        for position, key in keys:
            if key in first:
                said = key if isinstance(key, str) else " ".join(map(str, key)) if key else ""
                yield failed(
                    manifest,
                    *path,
                    position,
                    found=f"{member} {said!r} again, first at position {first[key]}",
                    allowed="one entry",
                )
            else:
                first[key] = position


def _lists(pod: Pod) -> Iterator[tuple[FaultPath, str, Iterator[tuple[int, Any]]]]:
    yield pod.at("volumes"), "volume", _keys(pod.spec, "volumes", "name")
    for member in ("containers", "initContainers"):
        yield pod.at(member), "container", _keys(pod.spec, member, "name")
    for container in pod.containers(init=True):
        body, path = container.body, container.path
        yield (*path, "env"), "environment variable", _keys(body, "env", "name")
        yield (*path, "ports"), "port", _ports(body)
        yield (*path, "ports"), "port named", _keys(body, "ports", "name")
        yield (*path, "volumeMounts"), "mount at", _keys(body, "volumeMounts", "mountPath")


def _keys(body: Mapping[str, Any], member: str, key: str) -> Iterator[tuple[int, str]]:
    for position, entry in items(body.get(member)):
        name = entry.get(key)
        if isinstance(name, str):
            yield position, name


def _ports(body: Mapping[str, Any]) -> Iterator[tuple[int, tuple[str, ...]]]:
    for position, entry in items(body.get("ports")):
        if isinstance(entry.get("containerPort"), int | str):
            yield position, (str(entry["containerPort"]), str(entry.get("protocol", "TCP")))


RULE = ManifestRule(
    id="DuplicateEntries",
    title="nothing in a pod is said twice",
    severity="error",
    why=(
        "These lists have keys. Of two environment variables of one name the last one wins, or the server "
        "refuses the pod when it is applied server-side; volumes, ports and mounts twice are refused "
        "always."
    ),
    fix="remove one of the two",
    source="Kubernetes API reference, Container: list-map keys; measured against a Kubernetes 1.36 server",
    check=check,
)
