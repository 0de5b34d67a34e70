"""What the operations of EKS share: the API and what is kept of a region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from moto.eks import urls
from moto.eks.models import eks_backends
from moto.utilities.utils import get_partition

from aws_double import ACCOUNT, RELEASES_TAG
from aws_double.network_view import Place
from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request, ServiceApi, state_of

API = ServiceApi("eks", invalid="InvalidParameterException")

NODES_TAG: Final = "aws-double:nodes"
"""Tag of an EKS cluster: how many nodes it has that are none of HyperPod. A stand-in of this double."""


@dataclass
class AddOn:
    """An add-on of a cluster.

    Attributes:
        asked: The request that made it, with what updates changed since.
        associations: Ids of the pod identity associations that came with it.
        created: When.
        progress: From ``CREATING`` to ready.
    """

    asked: dict[str, Any]
    associations: list[str] = field(default_factory=list)
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress = field(default_factory=lambda: Progress("CREATING", "ACTIVE"))


@dataclass
class AccessEntry:
    """Who may use the Kubernetes API.

    Attributes:
        asked: The request that made it, with what updates changed since.
        policies: Scope of each associated access policy, by its ARN.
        created: When.
    """

    asked: dict[str, Any]
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass
class Cluster:
    """An EKS cluster.

    Attributes:
        region: Its region.
        asked: The request that made it, with what updates changed since.
        vpc_id: VPC of its subnets.
        security_group: Id of the group that EKS made for it.
        issuer: OpenID Connect issuer, with ``https://``.
        created: When.
        progress: From ``CREATING`` or ``UPDATING`` to ``ACTIVE``, or from ``DELETING`` to gone.
        add_ons: By name.
        access: Access entries by ARN of the principal.
        associations: Pod identity associations by id, as ``DescribePodIdentityAssociation`` tells them.
        updates: By id, as ``DescribeUpdate`` tells them, but for the status.
        releases: Helm releases by namespace and name, with their values.
        objects: Kubernetes objects of manifests, by kind, namespace and name.
        node_counts: What counts the nodes that each HyperPod cluster has in it, by that cluster's ARN.
    """

    region: str
    asked: dict[str, Any]
    vpc_id: str
    security_group: str
    issuer: str
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress = field(default_factory=lambda: Progress("CREATING", "ACTIVE"))
    add_ons: dict[str, AddOn] = field(default_factory=dict)
    access: dict[str, AccessEntry] = field(default_factory=dict)
    associations: dict[str, dict[str, Any]] = field(default_factory=dict)
    updates: dict[str, dict[str, Any]] = field(default_factory=dict)
    releases: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    objects: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    node_counts: dict[str, Callable[[], int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.asked["name"])

    @property
    def arn(self) -> str:
        return arn(self.region, f"cluster/{self.name}")

    @property
    def status(self) -> str:
        return self.progress.state

    @property
    def authentication_mode(self) -> str:
        return str(self.asked.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP"))

    @property
    def place(self) -> Place:
        """Where the network interfaces of its control plane are."""
        network = self.asked["resourcesVpcConfig"]
        groups = (*network.get("securityGroupIds", ()), self.security_group)
        return Place(tuple(network["subnetIds"]), groups)

    @property
    def tags(self) -> dict[str, str]:
        found: dict[str, str] = self.asked.setdefault("tags", {})
        return found

    @property
    def node_count(self) -> int:
        return int(self.tags.get(NODES_TAG, "0")) + sum(count() for count in self.node_counts.values())

    def has_release(self, namespace: str, name: str) -> bool:
        """Tell whether a Helm chart is installed."""
        tagged = self.tags.get(RELEASES_TAG, "").split()
        return (namespace, name) in self.releases or f"{namespace}/{name}" in tagged


def clusters_of(region: str) -> dict[str, Cluster]:
    """Return the clusters of a region, by name, those on their way out included."""
    found: dict[str, Cluster] = state_of(eks_backends, region, dict)
    for name in [name for name, cluster in found.items() if cluster.status == "GONE"]:
        del found[name]
    return found


def cluster(region: str, name: str) -> Cluster:
    """Return a cluster.

    Raises:
        ApiError: If there is none.
    """
    found = clusters_of(region).get(name)
    if found is None:
        raise ApiError("ResourceNotFoundException", f"No cluster found for name: {name}.", clusterName=name)
    return found


def active(request: Request, name: str) -> Cluster:
    """Return a cluster that can be changed.

    Raises:
        ApiError: If there is none, or it is not active.
    """
    found = cluster(request.region, name)
    if found.status != "ACTIVE":
        raise ApiError(
            "ResourceInUseException" if found.status == "UPDATING" else "InvalidRequestException",
            f"Cluster '{name}' is not in ACTIVE status but in {found.status}",
            clusterName=name,
        )
    return found


def with_api_access(request: Request, name: str) -> Cluster:
    """Return an active cluster that takes access entries.

    Raises:
        ApiError: If there is none, it is not active, or takes none.
    """
    found = active(request, name)
    if found.authentication_mode == "CONFIG_MAP":
        raise ApiError(
            "InvalidRequestException",
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform "
            "this operation.",
            clusterName=name,
        )
    return found


def arn(region: str, resource: str) -> str:
    """Return the ARN of a resource of EKS."""
    return f"arn:{get_partition(region)}:eks:{region}:{ACCOUNT}:{resource}"


def take_over() -> None:
    """Let the API answer at moto's addresses of EKS, whatever the path."""
    urls.url_paths.clear()
    urls.url_paths["{0}/(?P<path>.+)$"] = API.answer
