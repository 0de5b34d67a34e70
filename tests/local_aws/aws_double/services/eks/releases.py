"""Helm releases of EKS clusters: only kept, by those who may use the Kubernetes API and reach it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.network_view import NetworkView, Place
from aws_double.resource import ResourceFailure
from aws_double.services.eks.api import Cluster, clusters_of
from hyperpod_model.catalog.add_ons import CLUSTER_ADMIN_ACCESS_POLICY
from hyperpod_model.catalog.ports import HTTPS

Name = tuple[str, str]
"""Namespace and name of a release."""


def install_release(
    region: str,
    cluster_name: str,
    name: Name,
    *,
    role_arn: str,
    place: Place | None,
    values: Mapping[str, Any],
) -> None:
    """Install or upgrade a release.

    Args:
        region: Region of the cluster.
        cluster_name: Its name.
        name: Namespace and name of the release.
        role_arn: Role that asks.
        place: Where it asks from; None from outside of any VPC.
        values: Values of the chart.

    Raises:
        ResourceFailure: If the role may not use the Kubernetes API, or does not reach it.
    """
    found = clusters_of(region).get(cluster_name)
    if found is None:
        raise ResourceFailure(f"there is no EKS cluster {cluster_name}")
    check_access(found, role_arn, place)
    found.releases[name] = dict(values)


def uninstall_release(
    region: str, cluster_name: str, name: Name, *, role_arn: str, place: Place | None
) -> None:
    """Uninstall a release; one of a cluster that is gone is gone with it.

    Raises:
        ResourceFailure: As for the installation.
    """
    found = clusters_of(region).get(cluster_name)
    if found is None:
        return
    check_access(found, role_arn, place)
    found.releases.pop(name, None)


def check_access(found: Cluster, role_arn: str, place: Place | None) -> None:
    """Refuse a role that may not administer a cluster through its Kubernetes API, or does not reach it.

    Args:
        found: The cluster.
        role_arn: Role that asks.
        place: Where it asks from; None from outside of any VPC.

    Raises:
        ResourceFailure: With the reason.
    """
    if found.status != "ACTIVE":
        raise ResourceFailure(f"EKS cluster {found.name} is {found.status}, not ACTIVE")
    entry = found.access.get(role_arn)
    scopes = {} if entry is None else {arn.rpartition("/")[2]: one for arn, one in entry.policies.items()}
    if scopes.get(CLUSTER_ADMIN_ACCESS_POLICY, {}).get("type") != "cluster":
        raise ResourceFailure(
            f"Unauthorized: {role_arn} has no access entry of EKS cluster {found.name} with "
            f"{CLUSTER_ADMIN_ACCESS_POLICY}"
        )
    if found.asked["resourcesVpcConfig"].get("endpointPublicAccess", True):
        return
    if place is None:
        raise ResourceFailure(f"EKS cluster {found.name} is private, and its client runs outside its VPC")
    network = NetworkView(found.region)
    blocked = [f"there is no {id}" for id in network.absent(place)] or network.blocked(
        place, found.place, HTTPS
    )
    if blocked:
        raise ResourceFailure(f"Kubernetes cluster unreachable: {'; '.join(blocked)}")
