"""Storage of a group: root volume, secondary volume, file systems and where they are mounted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from hyperpod_model.catalog.cluster_rules import (
    default_mount_path,
    max_storage_volumes_of_a_kind,
    secondary_volume_mount_path,
)
from hyperpod_model.checks.reading import absent, at, given, is_unknown, structures, text
from hyperpod_model.faults import Fault, FaultPath

_FILE_SYSTEMS: tuple[Literal["FsxLustreConfig", "FsxOpenZfsConfig"], ...] = (
    "FsxLustreConfig",
    "FsxOpenZfsConfig",
)
_KINDS = ("EbsVolumeConfig", *_FILE_SYSTEMS)


def check_volumes(group: Mapping[str, Any]) -> list[Fault]:
    """Check the storage configurations of one group."""
    faults: list[Fault] = []
    counts: dict[str, int] = {}
    mounts: dict[str, str] = {}
    if any(
        not _is_root(config) for _, config in structures(group, "InstanceStorageConfigs") if _has_ebs(config)
    ):
        mounts[secondary_volume_mount_path()] = "the secondary volume"
    for index, config in structures(group, "InstanceStorageConfigs"):
        path: FaultPath = ("InstanceStorageConfigs", index)
        kinds = [kind for kind in _KINDS if given(config, kind)]
        if len(kinds) > 1:
            faults.append(Fault(path, f"holds {' and '.join(kinds)}; give each its own entry"))
        if all(absent(config, kind) for kind in _KINDS):
            faults.append(Fault(path, f"is empty; give one of {', '.join(_KINDS)}"))
        if _has_ebs(config):
            faults += _check_ebs(config["EbsVolumeConfig"], (*path, "EbsVolumeConfig"))
        for what in _volumes_in(config):
            counts[what] = counts.get(what, 0) + 1
            if counts[what] == max_storage_volumes_of_a_kind() + 1:
                faults.append(Fault(path, f"is a second {what}; a group has at most one"))
        faults += _check_mounts(config, path, mounts)
    return faults


def _has_ebs(config: Mapping[str, Any]) -> bool:
    return isinstance(at(config, "EbsVolumeConfig"), Mapping)


def _is_root(config: Mapping[str, Any]) -> bool:
    root = at(config, "EbsVolumeConfig", "RootVolume")
    return root is True or is_unknown(root)


def _volumes_in(config: Mapping[str, Any]) -> list[str]:
    found = []
    if _has_ebs(config) and not is_unknown(at(config, "EbsVolumeConfig", "RootVolume")):
        found.append("root volume" if _is_root(config) else "secondary volume")
    if given(config, "FsxLustreConfig"):
        found.append("FSx for Lustre file system")
    if given(config, "FsxOpenZfsConfig"):
        found.append("FSx for OpenZFS file system")
    return found


def _check_ebs(volume: Mapping[str, Any], path: FaultPath) -> list[Fault]:
    root = at(volume, "RootVolume")
    if is_unknown(root):
        return []
    faults = []
    if root is True:
        if given(volume, "VolumeSizeInGB"):
            faults.append(
                Fault(
                    (*path, "VolumeSizeInGB"),
                    "does not go with a root volume, whose size HyperPod sets; "
                    "give the size to a secondary volume (secondary_volume_size_gib)",
                )
            )
        if absent(volume, "VolumeKmsKeyId"):
            faults.append(
                Fault((*path, "VolumeKmsKeyId"), "is required for a root volume (root_volume_kms_key)")
            )
    elif absent(volume, "VolumeSizeInGB"):
        faults.append(
            Fault((*path, "VolumeSizeInGB"), "is required for a secondary volume (secondary_volume_size_gib)")
        )
    return faults


def _check_mounts(config: Mapping[str, Any], path: FaultPath, mounts: dict[str, str]) -> list[Fault]:
    faults = []
    for kind in _FILE_SYSTEMS:
        if not given(config, kind) or is_unknown(at(config, kind, "MountPath")):
            continue
        mount_path = text(config, kind, "MountPath") or default_mount_path(kind)
        taken = mounts.get(mount_path)
        if taken is not None:
            faults.append(
                Fault((*path, kind, "MountPath"), f"{mount_path!r} is taken by {taken}; choose another")
            )
        mounts[mount_path] = "the other file system"
    return faults
