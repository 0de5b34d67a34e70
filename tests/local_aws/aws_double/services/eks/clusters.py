"""EKS clusters: made, described, listed, deleted."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from typing import Any

from aws_double import usage
from aws_double.network_view import NetworkView, Place
from aws_double.progress import Progress
from aws_double.role_view import find_role, is_trusted_by
from aws_double.service_api import ApiError, Request, page
from aws_double.services.eks.api import API, Cluster, cluster, clusters_of
from hyperpod_model.catalog.add_ons import CONTROL_PLANE_SERVICE
from hyperpod_model.catalog.versions import KUBERNETES

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_LEAST_ZONES = 2
_WRITE_ONLY = ("clientRequestToken", "bootstrapSelfManagedAddons")


@API.operation("CreateCluster")
def create_cluster(request: Request) -> dict[str, Any]:
    asked = {key: value for key, value in request.asked.items() if key not in _WRITE_ONLY}
    name = asked["name"]
    if name in clusters_of(request.region):
        raise ApiError(
            "ResourceInUseException", f"Cluster already exists with name: {name}", clusterName=name
        )
    _check_role(asked["roleArn"])
    _check_auto_mode(asked)
    network = NetworkView(request.region)
    vpc_id = _check_network(network, asked["resourcesVpcConfig"])
    made = Cluster(
        region=request.region,
        asked=asked,
        vpc_id=vpc_id,
        security_group=network.make_cluster_group(vpc_id, name),
        issuer=f"https://oidc.eks.{request.region}.amazonaws.com/id/{secrets.token_hex(16).upper()}",
    )
    newest = KUBERNETES.assuming(because="some version has to be the default of the double")[1]
    asked.setdefault("version", newest)
    clusters_of(request.region)[name] = made
    usage.hold(made.arn, [*made.place.subnets, *made.place.groups, asked["roleArn"]])
    return {"cluster": describe(made)}


@API.operation("DescribeCluster")
def describe_cluster(request: Request) -> dict[str, Any]:
    return {"cluster": describe(cluster(request.region, request.asked["name"]))}


@API.operation("ListClusters")
def list_clusters(request: Request) -> dict[str, Any]:
    names = [{"name": name} for name in sorted(clusters_of(request.region))]
    shown, more = page(names, request.asked, size=100, limit="maxResults", token="nextToken")
    return {"clusters": [one["name"] for one in shown], **more}


@API.operation("DeleteCluster")
def delete_cluster(request: Request) -> dict[str, Any]:
    found = cluster(request.region, request.asked["name"])
    if found.asked.get("deletionProtection"):
        raise ApiError("InvalidRequestException", f"Cluster '{found.name}' has deletion protection.")
    users = usage.holders(found.arn)
    if users:
        # EKS would delete it all the same and leave the HyperPod cluster without its control plane.
        raise ApiError(
            "ResourceInUseException",
            f"Cluster '{found.name}' is in use by {', '.join(users)} (a check of this double)",
            clusterName=found.name,
        )
    if found.status != "DELETING":
        found.progress = Progress("DELETING", "GONE")
        usage.release(found.arn)
        NetworkView(request.region).delete_group(found.security_group)
    return {"cluster": {**describe(found), "status": "DELETING"}}


def describe(found: Cluster) -> dict[str, Any]:
    """Say of a cluster what ``DescribeCluster`` says."""
    asked = found.asked
    access = {"bootstrapClusterCreatorAdminPermissions": True, "authenticationMode": "CONFIG_MAP"}
    return {
        **asked,
        "arn": found.arn,
        "createdAt": found.created,
        "status": found.status,
        "endpoint": f"https://{found.issuer.rpartition('/')[2]}.gr7.{found.region}.eks.amazonaws.com",
        "identity": {"oidc": {"issuer": found.issuer}},
        "certificateAuthority": {"data": base64.b64encode(found.name.encode()).decode()},
        "platformVersion": "eks.1",
        "resourcesVpcConfig": _network(found),
        "accessConfig": {**access, **asked.get("accessConfig", {})},
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": "172.20.0.0/16",
            "ipFamily": "ipv4",
            **asked.get("kubernetesNetworkConfig", {}),
        },
        "logging": merged_logging({}, asked.get("logging", {})),
        "health": {"issues": []},
        "tags": dict(found.tags),
    }


def _network(found: Cluster) -> dict[str, Any]:
    asked = found.asked["resourcesVpcConfig"]
    public = asked.get("endpointPublicAccess", True)
    return {
        "endpointPublicAccess": public,
        "endpointPrivateAccess": False,
        "securityGroupIds": [],
        "publicAccessCidrs": ["0.0.0.0/0"] if public else [],
        **asked,
        "clusterSecurityGroupId": found.security_group,
        "vpcId": found.vpc_id,
    }


def merged_logging(before: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return which kinds of logs are on after a change; those that it does not mention stay as they are.

    Args:
        before: As ``DescribeCluster`` says it, or nothing for a new cluster.
        asked: The change.
    """
    on: set[str] = set()
    for setup in (*before.get("clusterLogging", []), *asked.get("clusterLogging", [])):
        on = on | set(setup["types"]) if setup.get("enabled") else on - set(setup["types"])
    setups = [
        {"types": [kind for kind in LOG_TYPES if (kind in on) is enabled], "enabled": enabled}
        for enabled in (True, False)
    ]
    return {"clusterLogging": [setup for setup in setups if setup["types"]]}


def _check_role(role_arn: str) -> None:
    role = find_role(role_arn)
    if role is None or not is_trusted_by(role, CONTROL_PLANE_SERVICE):
        raise ApiError(
            "InvalidParameterException",
            f"Role with arn: {role_arn}, could not be assumed because it does not exist or the trusted "
            "entity is not correct",
        )


def _check_auto_mode(asked: Mapping[str, Any]) -> None:
    enabled = {
        asked.get("computeConfig", {}).get("enabled", False),
        asked.get("kubernetesNetworkConfig", {}).get("elasticLoadBalancing", {}).get("enabled", False),
        asked.get("storageConfig", {}).get("blockStorage", {}).get("enabled", False),
    }
    if len(enabled) > 1:
        raise ApiError(
            "InvalidParameterException",
            "For EKS Auto Mode, please ensure that all required configs, including computeConfig, "
            "kubernetesNetworkConfig, and blockStorage are all either fully enabled or fully disabled.",
        )


def _check_network(network: NetworkView, asked: Mapping[str, Any]) -> str:
    place = Place(tuple(asked.get("subnetIds", ())), tuple(asked.get("securityGroupIds", ())))
    absent = network.absent(place)
    if absent:
        raise ApiError("InvalidParameterException", f"These do not exist: {', '.join(absent)}")
    zones = {network.subnet(one).availability_zone for one in place.subnets}
    if len(zones) < _LEAST_ZONES:
        raise ApiError("InvalidParameterException", "Subnets specified must be in at least two different AZs")
    vpcs = network.vpcs(place)
    if len(vpcs) > 1:
        raise ApiError(
            "InvalidParameterException", f"Subnets and groups are of several VPCs: {', '.join(sorted(vpcs))}"
        )
    return vpcs.pop()
