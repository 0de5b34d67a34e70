"""What a container mounts is a volume of its pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import is_deferred, items, listed, mapping
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, hint, judged


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the mounts of each training job's pods."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            yield from judged(job.manifest, pod.at("volumes"), _faults(job.manifest, pod))


def _faults(manifest: Manifest, pod: Pod) -> Iterator[ManifestVerdict]:
    names = [name for _, name, _ in pod.volumes()]
    for container in pod.containers(init=True):
        for position, mount in items(container.body.get("volumeMounts")):
            path = (*container.path, "volumeMounts", position)
            name, where = mount.get("name"), mount.get("mountPath")
            if name not in names and not is_deferred(name):
                yield failed(
                    manifest,
                    *path,
                    "name",
                    found=f"container {container.name!r} mounts volume {name!r}{hint(name, names)}",
                    allowed=f"a volume of the pod, which has {listed(names) if names else 'none'}",
                )
            if not is_deferred(where) and not (isinstance(where, str) and where.startswith("/")):
                yield failed(
                    manifest, *path, "mountPath", found=f"mount path {where!r}", allowed="an absolute path"
                )
            yield from _of_part(manifest, path, mount)
    for path, name, body in pod.volumes():
        if mapping(body.get("persistentVolumeClaim")).get("claimName", body) in (None, ""):
            yield failed(
                manifest, *path, found=f"volume {name!r} of a claim without name", allowed="a claimName"
            )


def _of_part(manifest: Manifest, path: FaultPath, mount: Mapping[str, Any]) -> Iterator[ManifestVerdict]:
    said = [member for member in ("subPath", "subPathExpr") if mount.get(member)]
    for member in said:
        part = str(mount[member])
        if part.startswith("/") or ".." in part.split("/"):
            yield failed(
                manifest,
                *path,
                member,
                found=f"{member} {part!r}",
                allowed="a path within the volume: relative, and without ..",
            )
    if len(said) > 1:
        yield failed(manifest, *path, found="subPath and subPathExpr", allowed="one of the two")


RULE = ManifestRule(
    id="VolumeMounts",
    title="what a container mounts is a volume of its pod",
    severity="error",
    why=(
        "The job is accepted, since its schema does not compare names. The server then refuses each pod "
        "that the operator asks for, and the job stays without pods."
    ),
    fix="add the volume to the pod, or correct the name in the mount",
    source="Kubernetes API reference, VolumeMount; core validation of pods",
    check=check,
)
