"""Checkpoints are written to what outlives the node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import items
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_NAME = re.compile(r"(ckpt|checkpoint)s?([_-]?(dir|directory|path|root|folder|output))?$|^save[_-]dir$", re.I)
_GONE_WITH_NODE = ("emptyDir", "ephemeral", "hostPath")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge each directory that options or variables of a training container name for checkpoints."""
    for job in training_jobs(manifests):
        for pod, container in job.trainers():
            for path, directory in _directories(container):
                volume = _volume(pod, container, directory)
                allowed = "a directory on a volume that outlives the node, or a bucket"
                if volume is None:
                    yield failed(
                        job.manifest,
                        *path,
                        found=f"{directory}, which is in the container",
                        allowed=allowed,
                    )
                elif any(kind in volume for kind in _GONE_WITH_NODE):
                    kind = next(kind for kind in _GONE_WITH_NODE if kind in volume)
                    yield failed(
                        job.manifest,
                        *path,
                        found=f"{directory}, which is on a volume of type {kind}",
                        allowed=allowed,
                    )
                elif "persistentVolumeClaim" in volume or "nfs" in volume:
                    yield passed(job.manifest, *path)
                else:
                    yield undetermined(
                        job.manifest,
                        *path,
                        found=f"{directory}, on volume {volume.get('name')}",
                        allowed=allowed,
                    )


def _directories(container: Container) -> Iterator[tuple[FaultPath, str]]:
    for position, name, value in container.variables():
        if isinstance(value, str) and _NAME.search(name) and value.startswith("/"):
            yield (*container.path, "env", position), value
    for member, words in (("command", container.command), ("args", container.args)):
        for position, word in enumerate(words):
            option, equals, value = word.partition("=")
            if not option.startswith("-") or not _NAME.search(option.lstrip("-")):
                continue
            if not equals:
                value = words[position + 1] if position + 1 < len(words) else ""
            if value.startswith("/"):
                yield (*container.path, member, position), value


def _volume(pod: Pod, container: Container, directory: str) -> Mapping[str, Any] | None:
    """Return the volume that is mounted nearest above a directory."""
    parents = [str(parent) for parent in (PurePosixPath(directory), *PurePosixPath(directory).parents)]
    mounts = {
        str(mount.get("mountPath")).rstrip("/"): mount.get("name")
        for _, mount in items(container.body.get("volumeMounts"))
    }
    for parent in parents:
        if parent.rstrip("/") in mounts and parent != "/":
            wanted = mounts[parent]
            return next((body for _, name, body in pod.volumes() if name == wanted), None)
    return None


RULE = ManifestRule(
    id="CheckpointVolume",
    title="checkpoints are written to what outlives the node",
    severity="error",
    why=(
        "A replaced node takes its disks with it, and a restarted pod its container. The job then resumes "
        "from step 0, although it saved all the time."
    ),
    fix="mount the claim of the shared file system there, or write to S3",
    source="Kubernetes docs, volumes; AWS docs sagemaker-hyperpod-eks-resiliency",
    check=check,
)
