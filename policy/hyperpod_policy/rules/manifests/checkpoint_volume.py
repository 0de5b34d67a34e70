"""Checkpoints are written to what outlives the node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.launching import commands_of
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import items, mapping
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_NAME = re.compile(
    r"(ckpt|checkpoint)s?([_-]?(dir|directory|path|root|folder|output))?$|^save([_-]dir)?$", re.I
)
_READS = re.compile(r"(^|[_-])(resume|load|restore|from|init|initial|pretrained)([_-]|$)", re.I)
"""Of names of what is only read."""

_GONE_WITH_NODE = ("emptyDir", "ephemeral", "hostPath")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge each directory that options or variables of a training container name for checkpoints."""
    for job in training_jobs(manifests):
        for pod, container in job.trainers():
            for path, directory in _directories(container):
                volume, is_read_only = _volume(pod, container, directory)
                allowed = "a directory on a volume that outlives the node, or a bucket"
                if volume is None:
                    yield failed(
                        job.manifest,
                        *path,
                        found=f"{directory}, which is in the container",
                        allowed=allowed,
                    )
                elif is_read_only:
                    yield failed(
                        job.manifest,
                        *path,
                        found=f"{directory}, which is mounted read-only",
                        allowed="a directory that the pod may write to",
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
        if isinstance(value, str) and _is_written(name) and value.startswith("/"):
            yield (*container.path, "env", position), value
    for words in commands_of(container):
        for position, (path, word) in enumerate(words):
            # An option, an assignment of a shell, or one of Hydra, such as trainer.checkpoint_dir=/x.
            option, equals, value = word.partition("=")
            if not _is_written(option.lstrip("-+").rpartition(".")[2]):
                continue
            if not equals and option.startswith("-"):
                value = words[position + 1][1] if position + 1 < len(words) else ""
            if value.startswith("/"):
                yield path, value


def _is_written(name: str) -> bool:
    return _NAME.search(name) is not None and _READS.search(name) is None


def _volume(pod: Pod, container: Container, directory: str) -> tuple[Mapping[str, Any] | None, bool]:
    """Return the volume that is mounted nearest above a directory, and whether it is read-only there."""
    parents = [str(parent) for parent in (PurePosixPath(directory), *PurePosixPath(directory).parents)]
    mounts = {
        str(mount.get("mountPath")).rstrip("/"): mount
        for _, mount in items(container.body.get("volumeMounts"))
    }
    for parent in parents:
        if parent.rstrip("/") in mounts and parent != "/":
            mount = mounts[parent]
            found = next((body for _, name, body in pod.volumes() if name == mount.get("name")), None)
            claim = mapping(mapping(found).get("persistentVolumeClaim"))
            return found, mount.get("readOnly") is True or claim.get("readOnly") is True
    return None, False


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
