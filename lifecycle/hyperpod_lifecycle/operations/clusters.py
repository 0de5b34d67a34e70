"""HyperPod's API: a cluster, its groups and its nodes as values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, Final, Literal

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_model.catalog.repairs import NODE_NAME_PREFIX

Orchestrator = Literal["eks", "slurm"]

_ARN: Final = re.compile(r"arn:[\w-]+:sagemaker:(?P<region>[a-z0-9-]+):\d{12}:cluster/[a-z0-9]{12}")
_LISTED: Final = 8
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """An instance group.

    Attributes:
        name: Its name.
        instance_type: Of its nodes; several, with commas, where it may have more than one.
        current: Nodes that it has.
        target: Nodes that it should have.
        status: Such as ``InService``.
        software_status: Of the last update of software, where there was one.
        image_version: Release of HyperPod's image on it, where known.
        image_status: Such as ``UpdateAvailable``, where known.
        slurm_node_type: ``Controller``, ``Login`` or ``Compute`` where the API configures Slurm.
        own_image: Id of the image of one's own on it, if it has one.
        deep_health_checks: Deep health checks of new nodes.
        scripts: Where its lifecycle scripts are and which one is run; None if it has none.
    """

    name: str
    instance_type: str
    current: int
    target: int
    status: str | None
    software_status: str | None
    image_version: str | None
    image_status: str | None
    slurm_node_type: str | None
    own_image: str | None
    deep_health_checks: tuple[str, ...]
    scripts: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A cluster.

    Attributes:
        name: Its name.
        arn: Its ARN.
        region: Its region.
        status: Such as ``InService``.
        failure: Why it failed, where it did.
        orchestrator: ``eks`` or ``slurm``.
        eks_cluster_arn: ARN of the EKS cluster, with that orchestrator.
        continuous: Whether nodes are provisioned continuously.
        replaces_nodes: Whether HyperPod repairs nodes by itself (``NodeRecovery``).
        groups: Its groups, restricted ones included.
        profile: Profile of the AWS configuration that a user named to ask for it. Default: none.
    """

    name: str
    arn: str
    region: str
    status: str
    failure: str | None
    orchestrator: Orchestrator
    eks_cluster_arn: str | None
    continuous: bool
    replaces_nodes: bool
    groups: tuple[Group, ...]
    profile: str | None = None

    @property
    def where(self) -> str:
        """Options by which a printed command finds it again, whatever the environment of its reader says."""
        named = "" if self.profile is None else f" --profile {shlex.quote(self.profile)}"
        return f"--region {self.region}{named}"

    @property
    def id(self) -> str:
        """The 12 characters at the end of the ARN."""
        return self.arn.rpartition("/")[2]

    def group(self, name: str) -> Group | None:
        """Return a group; None if there is none of that name."""
        return next((group for group in self.groups if group.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node.

    Attributes:
        group: Name of its instance group.
        number: Which of its group, the oldest being 1. It changes when an older one is replaced.
        id: Id of its EC2 instance.
        logical_id: Stays when the node is replaced; with continuous provisioning only.
        instance_type: Its type.
        status: Such as ``Running``.
        message: What HyperPod says of that.
        launched: When.
        host: Private DNS name, where known.
        image_version: Release of HyperPod's image, where known.
        image_status: Such as ``UpdateAvailable``, where known.
    """

    group: str
    number: int
    id: str
    logical_id: str | None
    instance_type: str
    status: str
    message: str
    launched: datetime
    host: str | None
    image_version: str | None
    image_status: str | None

    @property
    def name(self) -> str:
        """Group and number, such as ``workers-3``."""
        return f"{self.group}-{self.number}"

    @property
    def slurm_name(self) -> str | None:
        """First part of the private DNS name, which Slurm calls it by; None where unknown."""
        return None if self.host is None else self.host.partition(".")[0]

    @property
    def kubernetes_name(self) -> str:
        """What Kubernetes calls it."""
        return f"{NODE_NAME_PREFIX}{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairAnswer:
    """What HyperPod answered for one node.

    Attributes:
        id: Of the instance.
        code: Error code; None if HyperPod took it.
        message: What it said.
    """

    id: str
    code: str | None
    message: str


class HyperPod:
    """HyperPod's API.

    Args:
        aws: Clients.
    """

    def __init__(self, aws: Aws) -> None:
        self.aws = aws

    def summaries(self) -> list[Mapping[str, Any]]:
        """Return what the API says of every cluster of the region."""
        return list(self.aws.pages("sagemaker", "ListClusters", "ClusterSummaries"))

    def cluster(self, name: str) -> Cluster:
        """Describe a cluster.

        Args:
            name: Name or ARN.

        Raises:
            OperationError: If there is none, or AWS refuses.
        """
        try:
            told = self.aws.call("sagemaker", "DescribeCluster", ClusterName=name)
        except OperationError as error:
            if code_of(error.__cause__) in ("ResourceNotFound", "ResourceNotFoundException"):
                raise OperationError(
                    "unknown_cluster", f"there is no cluster '{name}' in {self.aws.region}; {self._others()}"
                ) from error
            raise
        return _cluster(told, region=self.aws.region, profile=self.aws.profile)

    def nodes(self, cluster: Cluster, *, hosts: bool = True) -> list[Node]:
        """List the nodes of a cluster, group by group, the oldest first.

        Args:
            cluster: The cluster.
            hosts: Whether to ask for private DNS names that the list does not tell, node by node.

        Raises:
            OperationError: If AWS refuses.
        """
        request: dict[str, Any] = {"IncludeNodeLogicalIds": True} if cluster.continuous else {}
        told = self.aws.pages(
            "sagemaker", "ListClusterNodes", "ClusterNodeSummaries", ClusterName=cluster.arn, **request
        )
        nodes = _numbered(told)
        return self._with_hosts(cluster, nodes) if hosts else nodes

    def repair(
        self, cluster: Cluster, ids: Sequence[str], *, action: Literal["replace", "reboot"]
    ) -> list[RepairAnswer]:
        """Replace or reboot nodes, in one request.

        Args:
            cluster: The cluster.
            ids: Ids of at most 25 instances.
            action: What to do.

        Raises:
            OperationError: If AWS refuses the request as a whole.
        """
        operation = "BatchReplaceClusterNodes" if action == "replace" else "BatchRebootClusterNodes"
        told = self.aws.call("sagemaker", operation, ClusterName=cluster.arn, NodeIds=list(ids))
        failed = {
            row["NodeId"]: RepairAnswer(id=row["NodeId"], code=row["ErrorCode"], message=row["Message"])
            for row in told.get("Failed", ())
        }
        taken = set(told.get("Successful", ()))
        return [
            failed.get(
                id,
                RepairAnswer(id=id, code=None, message="")
                if id in taken
                else RepairAnswer(id=id, code="NotAnswered", message="the answer does not name the node"),
            )
            for id in ids
        ]

    def update_software(self, request: Mapping[str, Any]) -> None:
        """Update the software of groups.

        Args:
            request: Members of ``UpdateClusterSoftware``.

        Raises:
            OperationError: If AWS refuses.
        """
        self.aws.call("sagemaker", "UpdateClusterSoftware", **request)

    def start_checks(self, request: Mapping[str, Any]) -> None:
        """Start deep health checks.

        Args:
            request: Members of ``StartClusterHealthCheck``.

        Raises:
            OperationError: If AWS refuses.
        """
        self.aws.call("sagemaker", "StartClusterHealthCheck", **request)

    def _with_hosts(self, cluster: Cluster, nodes: list[Node]) -> list[Node]:
        unnamed = [node.id for node in nodes if node.host is None and node.status == "Running"]
        if not unnamed:
            return nodes

        def host(id: str) -> str | None:
            try:
                told = self.aws.call("sagemaker", "DescribeClusterNode", ClusterName=cluster.arn, NodeId=id)
            except OperationError as error:
                if code_of(error.__cause__).startswith("ResourceNotFound"):
                    return None  # replaced since it was listed
                raise
            found: str | None = told["NodeDetails"].get("PrivateDnsHostname")
            return found

        self.aws.client("sagemaker")
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            hosts = dict(zip(unnamed, pool.map(host, unnamed), strict=True))
        return [replace(node, host=hosts.get(node.id, node.host)) for node in nodes]

    def _others(self) -> str:
        try:
            names = sorted(str(row["ClusterName"]) for row in self.summaries())
        except OperationError:
            return "is it in another region or account? say --region or --profile"
        if not names:
            return "that region has none; say another --region or --profile"
        more = "" if len(names) <= _LISTED else f" and {len(names) - _LISTED} more"
        return f"there are {', '.join(names[:_LISTED])}{more}; is it in another --region or --profile?"


def region_of(name: str) -> str | None:
    """Return the region of a cluster's ARN; None for a name."""
    found = _ARN.fullmatch(name)
    return None if found is None else found["region"]


def _cluster(told: Mapping[str, Any], *, region: str, profile: str | None) -> Cluster:
    eks = told.get("Orchestrator", {}).get("Eks")
    groups = [*told.get("InstanceGroups", ()), *told.get("RestrictedInstanceGroups", ())]
    return Cluster(
        name=told["ClusterName"],
        arn=told["ClusterArn"],
        region=region,
        status=told["ClusterStatus"],
        failure=told.get("FailureMessage") or None,
        orchestrator="slurm" if eks is None else "eks",
        eks_cluster_arn=None if eks is None else eks["ClusterArn"],
        continuous=told.get("NodeProvisioningMode") == "Continuous",
        replaces_nodes=told.get("NodeRecovery") != "None",
        groups=tuple(_group(row) for row in groups),
        profile=profile,
    )


def _group(told: Mapping[str, Any]) -> Group:
    image = told.get("CurrentImageId")
    return Group(
        name=told["InstanceGroupName"],
        instance_type=", ".join(_types(told)),
        current=told.get("CurrentCount", 0),
        target=told.get("TargetCount", 0),
        status=told.get("Status"),
        software_status=told.get("SoftwareUpdateStatus"),
        image_version=told.get("CurrentImageReleaseVersion"),
        image_status=told.get("ImageVersionStatus"),
        slurm_node_type=told.get("SlurmConfig", {}).get("NodeType"),
        own_image=image if image is not None and image.startswith("ami-") else None,
        deep_health_checks=tuple(told.get("OnStartDeepHealthChecks", ())),
        scripts=_scripts(told.get("LifeCycleConfig", {})),
    )


def _scripts(told: Mapping[str, Any]) -> str | None:
    place = told.get("SourceS3Uri")
    entry = told.get("OnCreate", told.get("OnInitComplete"))
    return None if place is None or entry is None else f"{place.rstrip('/')}/{entry}"


def _types(told: Mapping[str, Any]) -> Iterator[str]:
    if "InstanceType" in told:
        yield told["InstanceType"]
    else:
        yield from told.get("InstanceRequirements", {}).get("CurrentInstanceTypes", ())


def _numbered(told: Iterable[Mapping[str, Any]]) -> list[Node]:
    rows = sorted(told, key=lambda row: (row["InstanceGroupName"], row["LaunchTime"], row["InstanceId"]))
    return [
        _node(row, number)
        for _, group in groupby(rows, key=lambda row: row["InstanceGroupName"])
        for number, row in enumerate(group, 1)
    ]


def _node(told: Mapping[str, Any], number: int) -> Node:
    return Node(
        group=told["InstanceGroupName"],
        number=number,
        id=told["InstanceId"],
        logical_id=told.get("NodeLogicalId"),
        instance_type=told["InstanceType"],
        status=told["InstanceStatus"]["Status"],
        message=told["InstanceStatus"].get("Message", ""),
        launched=told["LaunchTime"],
        host=told.get("PrivateDnsHostname"),
        image_version=told.get("CurrentImageReleaseVersion"),
        image_status=told.get("ImageVersionStatus"),
    )
