"""Volumes that training pods mount."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hyperpod_charts.checked_arguments import check_name
from hyperpod_charts.kubernetes_object import given
from hyperpod_model.catalog.names import MOUNT_PATH
from hyperpod_model.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVolume:
    """A PersistentVolumeClaim of the pods' namespace.

    Attributes:
        claim_name: Name of the claim.
        mount_path: Where it is in the container.
        read_only: Whether the pods only read it. Default False.
    """

    claim_name: str
    mount_path: str
    read_only: bool = False

    def faults(self) -> list[Fault]:
        """What Kubernetes would refuse."""
        return [*check_name("claim_name", self.claim_name), *_check_path("mount_path", self.mount_path)]

    def source(self) -> dict[str, Any]:
        """The volume without its name."""
        return {"persistentVolumeClaim": given(claimName=self.claim_name, readOnly=self.read_only or None)}

    def mount(self) -> dict[str, Any]:
        """The mount without the volume's name."""
        return given(mountPath=self.mount_path, readOnly=self.read_only or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFolderVolume:
    """A folder of the node, which is made where it is missing.

    The pod security standard ``baseline`` forbids such volumes: take a claim wherever one does.

    Attributes:
        path: The folder on the node.
        mount_path: Where it is in the container.
    """

    path: str
    mount_path: str

    def faults(self) -> list[Fault]:
        """What Kubernetes would refuse."""
        return [*_check_path("path", self.path), *_check_path("mount_path", self.mount_path)]

    def source(self) -> dict[str, Any]:
        """The volume without its name."""
        return {"hostPath": {"path": self.path, "type": "DirectoryOrCreate"}}

    def mount(self) -> dict[str, Any]:
        """The mount without the volume's name."""
        return {"mountPath": self.mount_path}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemoryVolume:
    """Memory that processes of a pod share. What is in it counts as the container's memory.

    Attributes:
        size: Most of it, as a Kubernetes quantity such as ``64Gi``. Without a limit it could take half of the
            node's memory, whatever the container's limit, and the pod would be killed for it.
        mount_path: Where it is in the container.
    """

    size: str
    mount_path: str

    def faults(self) -> list[Fault]:
        """What Kubernetes would refuse."""
        return _check_path("mount_path", self.mount_path)

    def source(self) -> dict[str, Any]:
        """The volume without its name."""
        return {"emptyDir": {"medium": "Memory", "sizeLimit": self.size}}

    def mount(self) -> dict[str, Any]:
        """The mount without the volume's name."""
        return {"mountPath": self.mount_path}


PodVolume = ClaimVolume | NodeFolderVolume | SharedMemoryVolume


def volumes_and_mounts(volumes: Iterable[PodVolume]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write volumes and mounts, so that each mount names a volume that is there.

    A claim that is mounted in several places is one volume.

    Args:
        volumes: The volumes.
    """
    sources: dict[str, dict[str, Any]] = {}
    mounts = []
    for volume in volumes:
        source = volume.source()
        name = next((found for found, other in sources.items() if other == source), None)
        if name is None:
            name = _name(volume, taken=sources)
            sources[name] = source
        mounts.append({"name": name, **volume.mount()})
    return [{"name": name, **source} for name, source in sources.items()], mounts


def _name(volume: PodVolume, *, taken: Iterable[str]) -> str:
    """Name of a volume: a DNS label, unlike the names of claims."""
    if isinstance(volume, SharedMemoryVolume):
        base = "dshm"
    elif isinstance(volume, NodeFolderVolume):
        base = "node-" + "-".join(part for part in volume.path.split("/") if part)
    else:
        base = volume.claim_name
    plain = "".join(sign if sign.isalnum() else "-" for sign in base.lower())[:50].strip("-")
    used = set(taken)
    numbered = (plain if number == 1 else f"{plain}-{number}" for number in range(1, len(used) + 2))
    return next(name for name in numbered if name not in used)


def _check_path(argument: str, path: str) -> list[Fault]:
    if MOUNT_PATH.matches(path) and ".." not in path.split("/"):
        return []
    return [Fault((argument,), f"must be {MOUNT_PATH.in_words}, got {path!r}")]
