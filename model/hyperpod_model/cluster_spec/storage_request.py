"""Storage of a group in the terms of a ``CreateCluster`` request, and back from the request's paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from hyperpod_model.faults import UNKNOWN, FaultPath
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

MOUNT_FIELDS: Final = {"DnsName": "dns_name", "MountName": "mount_name", "MountPath": "mount_path"}
"""Fields of a mount, by their names in the API."""

MOUNTS: Final[Mapping[str, Literal["FsxLustreConfig", "FsxOpenZfsConfig"]]] = {
    "lustre_mounts": "FsxLustreConfig",
    "open_zfs_mounts": "FsxOpenZfsConfig",
}
"""Members of ``InstanceStorageConfigs`` that are mounts, by the group's field that says them."""


class Volume(NamedTuple):
    """One item of ``InstanceStorageConfigs``.

    Attributes:
        config: The item in API terms.
        fields: The group's field that says each member, by the member's name; ``""`` for any other.
        of_cluster: Which of these members a field of the cluster's ``file_system`` says.
    """

    config: dict[str, Any]
    fields: dict[str, FaultPath]
    of_cluster: dict[str, FaultPath] = {}


def volumes_of(spec: ClusterSpec, group: Any) -> list[Volume]:
    """Return the volumes and mounts of a group.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
        group: An instance group, restricted or not.
    """
    volumes = [*_ebs(group), *_mounts(group)]
    file_system = spec.file_system
    if (
        file_system is None
        or not known(file_system)
        or getattr(group, "mounts_file_system", False) is not True
    ):
        return volumes
    if spec.orchestrator != "slurm" or not known(spec.slurm) or spec.slurm.mode != "api":
        return volumes
    if getattr(group, "lustre_mounts", ()):
        return volumes
    mount = {"DnsName": UNKNOWN, "MountName": UNKNOWN, "MountPath": file_system.mount_path}
    where: dict[str, FaultPath] = {"MountPath": ("file_system", "mount_path")}
    volumes.append(Volume({"FsxLustreConfig": mount}, {"": ("mounts_file_system",)}, where))
    return volumes


def volume_path(volume: Volume, path: FaultPath, at: FaultPath) -> FaultPath:
    """Translate a path below an item of ``InstanceStorageConfigs``.

    Args:
        volume: The item.
        path: Path in API terms.
        at: Path of the group.
    """
    for member, field in volume.of_cluster.items():
        if member in path:
            return field
    for member, field in volume.fields.items():
        if member in path:
            return (*at, *field)
    return (*at, *volume.fields[""])


def _ebs(group: Any) -> Iterator[Volume]:
    root_key = getattr(group, "root_volume_kms_key_arn", None)
    if root_key is not None:
        yield Volume(
            {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": root_key}},
            {"": ("root_volume_kms_key_arn",)},
        )
    size = group.secondary_volume_gib
    if size is not None:
        key = getattr(group, "secondary_volume_kms_key_arn", None)
        yield Volume(
            {"EbsVolumeConfig": {"VolumeSizeInGB": size} | ({} if key is None else {"VolumeKmsKeyId": key})},
            {"VolumeKmsKeyId": ("secondary_volume_kms_key_arn",), "": ("secondary_volume_size_gib",)},
        )


def _mounts(group: Any) -> Iterator[Volume]:
    for field, member in MOUNTS.items():
        said = getattr(group, field)
        for index, mount in enumerate(() if said is UNKNOWN else said):
            at = (field, index)
            if not known(mount):
                yield Volume({member: UNKNOWN}, {"": at})
                continue
            values = {name: getattr(mount, part, None) for name, part in MOUNT_FIELDS.items()}
            yield Volume(
                {member: {name: value for name, value in values.items() if value is not None}},
                {name: (*at, part) for name, part in MOUNT_FIELDS.items()} | {"": at},
            )
