"""What an update of a HyperPod cluster cannot change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_double.service_api import ApiError
from aws_double.services.hyperpod.cluster import Cluster, Group
from hyperpod_model.catalog.updates import FIXED_GROUP_SETTINGS


def check_changes(
    found: Cluster, wanted: Mapping[str, Group], gone: Sequence[str], asked: Mapping[str, Any]
) -> None:
    """Refuse changes that the service documents as impossible.

    Args:
        found: The cluster as it is.
        wanted: Groups that are changed or new.
        gone: Names of groups to delete.
        asked: The other members of the request.

    Raises:
        ApiError: With all that is wrong.
    """
    faults = [f"there is no instance group {name} to delete" for name in gone if name not in found.groups]
    faults += [f"instance group {name} is changed and deleted" for name in gone if name in wanted]
    for name, group in wanted.items():
        if name in found.groups:
            faults += _fixed_settings(found.groups[name], group)
    eks = asked.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn", found.eks_cluster_arn)
    if eks != found.eks_cluster_arn:
        faults.append("Orchestrator.Eks cannot change")
    scales = found.asked.get("AutoScaling", {}).get("Mode") == "Enable"
    role = found.asked.get("ClusterRole")
    if (
        scales
        and asked.get("AutoScaling", {}).get("Mode", "Enable") == "Enable"
        and asked.get("ClusterRole", role) != role
    ):
        faults.append("ClusterRole cannot change while AutoScaling is enabled")
    if faults:
        raise ApiError("ValidationException", f"UpdateCluster of {found.name}: {'; '.join(faults)}")


def _fixed_settings(before: Group, after: Group) -> list[str]:
    faults = []
    for setting in FIXED_GROUP_SETTINGS:
        old, new = _at(before.asked, setting.path), _at(after.asked, setting.path)
        # The service keeps the Slurm configuration of a group whose update does not mention it.
        if old != new and not (setting.path[0] == "SlurmConfig" and "SlurmConfig" not in after.asked):
            faults.append(f"{setting.words} of instance group {after.name} cannot change from {old} to {new}")
    if _volume_keys(before) != _volume_keys(after):
        faults.append(f"the KMS keys of the volumes of instance group {after.name} cannot change")
    return faults


def _at(asked: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = asked
    for step in path:
        found = None if found is None else found.get(step)
    return found


def _volume_keys(group: Group) -> set[str]:
    volumes = [one.get("EbsVolumeConfig", {}) for one in group.asked.get("InstanceStorageConfigs", [])]
    return {volume["VolumeKmsKeyId"] for volume in volumes if "VolumeKmsKeyId" in volume}
