"""Reads HyperPod clusters back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.narrowing import as_asked, in_order, own_tags

_SETTINGS = (
    "ClusterName",
    "VpcConfig",
    "Orchestrator",
    "NodeRecovery",
    "NodeProvisioningMode",
    "ClusterRole",
    "AutoScaling",
    "TieredStorageConfig",
)
_RENAMED = {
    "TargetCount": "InstanceCount",
    "MinCount": "MinInstanceCount",
    "DesiredImageId": "ImageId",
    "DesiredImageReleaseVersion": "ImageReleaseVersion",
}
_STATES = {
    "CurrentCount",
    "Status",
    "TargetStateCount",
    "TrainingPlanStatus",
    "CurrentImageId",
    "CurrentImageReleaseVersion",
    "ImageVersionStatus",
    "ActiveOperations",
    "SoftwareUpdateStatus",
    "ActiveSoftwareUpdateConfig",
    "InstanceTypeDetails",
}
_DESIRED = ("InstanceRequirements", "KubernetesConfig")


@reads("AWS::SageMaker::Cluster")
def cluster(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a cluster with its instance groups as they are to be."""
    sagemaker = clients.client("sagemaker")
    found = sagemaker.describe_cluster(ClusterName=physical_id)
    told = {key: found[key] for key in _SETTINGS if key in found}
    if "RestrictedInstanceGroupsConfig" in found:
        shared = found["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
        told["RestrictedInstanceGroupsConfig"] = {"SharedEnvironmentConfig": _desired(shared)}
    for member in ("InstanceGroups", "RestrictedInstanceGroups"):
        groups = [_group(group) for group in found.get(member, [])]
        if groups:
            told[member] = in_order(groups, wanted.get(member, []), key="InstanceGroupName")
    tags = sagemaker.list_tags(ResourceArn=found["ClusterArn"])["Tags"]
    narrowed = {key: as_asked(value, wanted.get(key, value)) for key, value in told.items()}
    return {**narrowed, **own_tags(tags, wanted)}


def _group(found: dict[str, Any]) -> dict[str, Any]:
    told = {_RENAMED.get(key, key): value for key, value in found.items() if key not in _STATES}
    for key in _DESIRED:
        if key in told:
            told[key] = _desired(told[key])
    if "AutoPatchConfig" in told:
        patching = told["AutoPatchConfig"]
        told["AutoPatchConfig"] = {
            **{key: value for key, value in patching.items() if not key.startswith(("Current", "Desired"))},
            **_desired(patching),
        }
    return told


def _desired(found: dict[str, Any]) -> dict[str, Any]:
    start = "Desired"
    return {key.removeprefix(start): value for key, value in found.items() if key.startswith(start)}
