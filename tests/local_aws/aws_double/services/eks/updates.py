"""Changes of EKS clusters: one kind at a time, each with its own record."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request
from aws_double.services.eks.api import API, Cluster, active, cluster
from aws_double.services.eks.clusters import merged_logging
from hyperpod_model.catalog.updates import KUBERNETES_MINOR_STEPS

_KINDS = {
    "logging": "LoggingUpdate",
    "accessConfig": "AccessConfigUpdate",
    "upgradePolicy": "UpgradePolicyUpdate",
    "zonalShiftConfig": "ZonalShiftConfigUpdate",
    "computeConfig": "AutoModeUpdate",
    "kubernetesNetworkConfig": "AutoModeUpdate",
    "storageConfig": "AutoModeUpdate",
    "remoteNetworkConfig": "RemoteNetworkConfigUpdate",
    "deletionProtection": "DeletionProtectionUpdate",
    "controlPlaneScalingConfig": "ControlPlaneScalingConfigUpdate",
}
_ENDPOINT = {"endpointPublicAccess", "endpointPrivateAccess", "publicAccessCidrs"}


@API.operation("UpdateClusterConfig")
def update_cluster_config(request: Request) -> dict[str, Any]:
    asked = {key: value for key, value in request.asked.items() if key != "clientRequestToken"}
    found = active(request, asked.pop("name"))
    kinds = {_kind(key, value) for key, value in asked.items()}
    if len(kinds) != 1:
        raise ApiError(
            "InvalidParameterException",
            "Only one type of update can be submitted" if kinds else "No changes needed",
        )
    _check_access(found, asked)
    if "logging" in asked:
        asked["logging"] = merged_logging(found.asked.get("logging", {}), asked["logging"])
    for key, value in asked.items():
        found.asked[key] = {**found.asked.get(key, {}), **value} if isinstance(value, dict) else value
    return {"update": _record(found, kinds.pop())}


@API.operation("UpdateClusterVersion")
def update_cluster_version(request: Request) -> dict[str, Any]:
    found = active(request, request.asked["name"])
    before, after = found.asked["version"], request.asked["version"]
    if not 0 < _minor(after) - _minor(before) <= KUBERNETES_MINOR_STEPS.value:
        raise ApiError(
            "InvalidParameterException",
            f"Unsupported Kubernetes minor version update from {before} to {after}",
        )
    found.asked["version"] = after
    return {"update": _record(found, "VersionUpdate")}


@API.operation("DescribeUpdate")
def describe_update(request: Request) -> dict[str, Any]:
    found = cluster(request.region, request.asked["name"])
    update = found.updates.get(request.asked["updateId"])
    if update is None:
        raise ApiError("ResourceNotFoundException", f"No update found for ID: {request.asked['updateId']}")
    return {"update": {**update, "status": "InProgress" if found.status == "UPDATING" else "Successful"}}


@API.operation("ListUpdates")
def list_updates(request: Request) -> dict[str, Any]:
    return {"updateIds": list(cluster(request.region, request.asked["name"]).updates)}


def _kind(key: str, value: Any) -> str:
    if key == "resourcesVpcConfig":
        return "EndpointAccessUpdate" if set(value) <= _ENDPOINT else "VpcConfigUpdate"
    if key not in _KINDS:
        raise ApiError("InvalidParameterException", f"{key}: its update is not in this double")
    return _KINDS[key]


def _check_access(found: Cluster, asked: dict[str, Any]) -> None:
    order = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
    wanted = asked.get("accessConfig", {}).get("authenticationMode")
    if wanted is not None and order.index(wanted) < order.index(found.authentication_mode):
        raise ApiError(
            "InvalidParameterException",
            f"Unsupported authentication mode update from {found.authentication_mode} to {wanted}",
        )


def _record(found: Cluster, kind: str) -> dict[str, Any]:
    found.progress = Progress("UPDATING", "ACTIVE")
    update = {"id": str(uuid4()), "type": kind, "params": [], "errors": [], "createdAt": datetime.now(UTC)}
    found.updates[str(update["id"])] = update
    return {**update, "status": "InProgress"}


def _minor(version: str) -> int:
    return int(version.split(".")[1])
