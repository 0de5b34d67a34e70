"""Training pods mount nothing of the node but what is made for them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.manifest_vocabulary import TIERED_LOG_DIRECTORY
from hyperpod_model.catalog.pod_resources import SHARED_MEMORY_PATH
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import is_deferred, mapping, shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_LOGS = TIERED_LOG_DIRECTORY.assuming(because="a mount of either is meant for the memory tier's logs")
_SYSTEM = frozenset(
    {"bin", "boot", "etc", "home", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "usr", "var"}
)
"""Directories at the top whose whole content belongs to the node."""

_WHOLE = frozenset({"/", "/dev", "/opt", "/opt/cni", "/opt/cni/bin", "/opt/ml", "/opt/ml/config"})
"""Directories of which single parts may be mounted, such as a device or a disk."""


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the volumes of each training job's pods that are directories of the node."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            yield from judged(job.manifest, pod.at("volumes"), _faults(job.manifest, pod))


def _faults(manifest: Manifest, pod: Pod) -> Iterator[ManifestVerdict]:
    for path, name, body in pod.volumes():
        if "hostPath" not in body:
            continue
        where = mapping(body.get("hostPath")).get("path")
        allowed = "a claim or an emptyDir"
        if is_deferred(where):
            yield undetermined(manifest, *path, "hostPath", found=f"{where} of the node", allowed=allowed)
            continue
        plain = _plain(where) if isinstance(where, str) and where else ""
        if plain in (SHARED_MEMORY_PATH, _LOGS["on_node"]):
            continue
        if plain == _LOGS["in_container"]:
            yield failed(
                manifest,
                *path,
                "hostPath",
                "path",
                found=f"{plain} of the node",
                allowed=f"{_LOGS['on_node']}, with the container's {_LOGS['in_container']} as mount path",
                severity="advice",
            )
            continue
        is_sensitive = bool(plain) and (
            plain in _WHOLE or plain.split("/")[1] in _SYSTEM or plain.endswith(".sock")
        )
        yield failed(
            manifest,
            *path,
            "hostPath",
            found=f"volume {name!r} is {shown(where)} of the node",
            allowed=allowed,
            severity="error" if is_sensitive else "advice",
        )


def _plain(where: str) -> str:
    """Return a path as the node resolves it: without ``..``, and with one slash at its beginning."""
    return "/" + posixpath.normpath(where).lstrip("/")


RULE = ManifestRule(
    id="HostPaths",
    title="training pods mount nothing of the node but what is made for them",
    severity="error",
    why=(
        "A directory of the node ties a pod to what lies there: a replacement node has none of it, and "
        "other jobs read and write it too. System directories and the container runtime's socket give the "
        "node away."
    ),
    fix="mount a claim of the shared file system, or an emptyDir for scratch space",
    source="Kubernetes docs, hostPath; AWS docs managed-tier-checkpointing-setup",
    check=check,
)
