"""Training pods have shared memory of their own, in memory and of a size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.manifest_vocabulary import DEFAULT_SHARED_MEMORY_MIB, EMPTY_DIR_MEDIA
from hyperpod_model.catalog.pod_resources import SHARED_MEMORY_PATH
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import is_deferred, items, mapping, quantity, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_MEMORY = "Memory"
_RAM_BACKED = tuple(medium for medium in EMPTY_DIR_MEDIA if medium)


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the shared memory of each training container with accelerators."""
    for job in training_jobs(manifests):
        for pod, container in job.trainers():
            if container.accelerators() and not pod.flag("hostIPC"):
                path = (*container.path, "volumeMounts")
                yield from judged(job.manifest, path, _faults(job, pod, container))


def _faults(job: TrainingJob, pod: Pod, container: Container) -> Iterator[ManifestVerdict]:
    name = next(
        (
            mount.get("name")
            for _, mount in items(container.body.get("volumeMounts"))
            if str(mount.get("mountPath")).rstrip("/") == SHARED_MEMORY_PATH
        ),
        None,
    )
    allowed = f"a memory-backed emptyDir with a size at {SHARED_MEMORY_PATH}"
    if name is None:
        yield failed(
            job.manifest,
            *container.path,
            "volumeMounts",
            found=f"nothing at {SHARED_MEMORY_PATH}, which leaves {DEFAULT_SHARED_MEMORY_MIB} MiB",
            allowed=allowed,
        )
        return
    for position, mount in items(container.body.get("volumeMounts")):
        if mount.get("name") == name and mount.get("readOnly") is True:
            yield failed(
                job.manifest,
                *container.path,
                "volumeMounts",
                position,
                "readOnly",
                found=f"{SHARED_MEMORY_PATH} mounted read-only",
                allowed="a mount that can be written",
            )
    for path, volume, body in pod.volumes():
        if volume == name:
            yield from _of_volume(job, container, path, body, allowed)


def _of_volume(
    job: TrainingJob, container: Container, path: FaultPath, body: Mapping[str, Any], allowed: str
) -> Iterator[ManifestVerdict]:
    source = mapping(body.get("emptyDir"))
    if "emptyDir" not in body:
        if mapping(body.get("hostPath")).get("path") != SHARED_MEMORY_PATH:
            yield failed(job.manifest, *path, found="a volume that is no emptyDir", allowed=allowed)
        else:
            yield failed(
                job.manifest,
                *path,
                "hostPath",
                found="the node's own shared memory, which no limit of the pod counts",
                allowed=allowed,
                severity="warning",
            )
        return
    if source.get("medium") not in _RAM_BACKED:
        yield failed(
            job.manifest,
            *path,
            "emptyDir",
            found=f"medium {shown(source.get('medium', ''))}, which is the node's disk",
            allowed=f"medium {_MEMORY}",
        )
    size = source.get("sizeLimit")
    amount = quantity(size)
    limit = container.amount("memory")
    if size is None:
        yield failed(
            job.manifest,
            *path,
            "emptyDir",
            found="no sizeLimit: it may grow to half of the node's memory",
            allowed="a sizeLimit below the memory that the container asks for",
            severity="warning",
        )
    elif is_deferred(size):
        yield undetermined(
            job.manifest, *path, "emptyDir", "sizeLimit", found=f"sizeLimit {size}", allowed="a quantity"
        )
    elif amount is None or amount <= 0:
        yield failed(
            job.manifest,
            *path,
            "emptyDir",
            "sizeLimit",
            found=f"sizeLimit {shown(size)}",
            allowed="a quantity such as 256Gi",
        )
    elif limit and amount >= limit:
        yield failed(
            job.manifest,
            *path,
            "emptyDir",
            "sizeLimit",
            found=f"{size} of shared memory within {shown(container.asked('memory'))} of memory",
            allowed="less: what is written there counts as the container's memory",
        )


RULE = ManifestRule(
    id="SharedMemory",
    title="training pods have shared memory of their own, in memory and of a size",
    severity="error",
    why=(
        "Data loaders and NCCL hand data over through /dev/shm. A container has 64 MiB of it by default, "
        "and the job dies with a bus error once a batch is larger. On disk it is slow, and without a size "
        "it takes the node's memory."
    ),
    fix="mount an emptyDir with medium Memory and a sizeLimit at /dev/shm",
    source="Kubernetes docs, emptyDir; NCCL user guide, shared memory; PyTorch, multi-process data loading",
    check=check,
)
