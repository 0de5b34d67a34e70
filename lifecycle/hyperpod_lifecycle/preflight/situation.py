"""A wanted cluster in an account: what several checks want to know of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_lifecycle.operations.kubernetes_reads import KubernetesReads
from hyperpod_lifecycle.preflight.reads import Reads
from hyperpod_lifecycle.preflight.wanted import Wanted, WantedGroup

UNKNOWN_TYPE: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesThere:
    """Nodes of a group of a cluster that exists.

    Attributes:
        group: Name of the group.
        instance_type: Their type; ``UNKNOWN_TYPE`` of nodes to come in a group that names none.
        count: How many the group has, or is to have.
        is_reserved: Whether they are of a training plan or spare capacity.
        is_spot: Whether they are spare capacity.
        plan_arn: The training plan.
    """

    group: str
    instance_type: str
    count: int
    is_reserved: bool
    is_spot: bool
    plan_arn: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterThere:
    """A cluster that exists.

    Attributes:
        name: Its name.
        status: Such as ``InService``.
        nodes: Its nodes, by group and type.
    """

    name: str
    status: str
    nodes: tuple[NodesThere, ...]

    def count_of(self, group: str) -> int:
        """How many nodes a group has."""
        return sum(nodes.count for nodes in self.nodes if nodes.group == group)


@dataclass(frozen=True)
class Situation:
    """A wanted cluster in an account.

    Attributes:
        wanted: The cluster.
        account: Id of the account.
        reads: Asks AWS.
        kubernetes: Asks Kubernetes; None if no EKS cluster exists.
    """

    wanted: Wanted
    account: str
    reads: Reads
    kubernetes: KubernetesReads | None = None

    def summaries(self) -> list[Mapping[str, Any]]:
        """What the API says of every cluster of the region.

        Raises:
            OperationError: If AWS refuses.
        """
        return self.reads.all("sagemaker", "ListClusters")

    def clusters(self) -> list[ClusterThere]:
        """Every cluster of the region, with its nodes.

        Raises:
            OperationError: If AWS refuses.
        """
        return [self._cluster(str(row["ClusterArn"])) for row in self.summaries()]

    def same_cluster(self) -> ClusterThere | None:
        """The cluster of the wanted one's name, which a deployment updates; None if there is none.

        Raises:
            OperationError: If AWS refuses.
        """
        arns = [row["ClusterArn"] for row in self.summaries() if row["ClusterName"] == self.wanted.name]
        return self._cluster(arns[0]) if arns else None

    def subnets(self) -> dict[str, Mapping[str, Any]]:
        """The existing subnets that the wanted cluster names, by id, without those that there are not.

        Raises:
            OperationError: If AWS refuses.
        """
        ids = self.wanted.subnet_ids
        if not ids:
            return {}
        # By filter, since a list of ids fails as a whole where one is unknown.
        filters = [{"Name": "subnet-id", "Values": list(ids)}]
        return {row["SubnetId"]: row for row in self.reads.all("ec2", "DescribeSubnets", Filters=filters)}

    def zones_of(self, group: WantedGroup) -> tuple[str, ...]:
        """Ids of the zones in which a group may stand; none where nobody says it.

        Args:
            group: The group.

        Raises:
            OperationError: If AWS refuses.
        """
        if group.subnet_ids is None:
            zone = self.wanted.spec.network.availability_zone_id
            return () if zone is None else (zone,)
        there = self.subnets()
        zones = [str(there[id]["AvailabilityZoneId"]) for id in group.subnet_ids if id in there]
        return tuple(dict.fromkeys(zones))

    def eks_cluster(self) -> Mapping[str, Any]:
        """What EKS says of the existing EKS cluster.

        Raises:
            OperationError: If AWS refuses, or there is none of the name.
        """
        name = self.wanted.existing_eks_name
        found: Mapping[str, Any] = self.reads.one("eks", "DescribeCluster", name=name)["cluster"]
        return found

    def _cluster(self, arn: str) -> ClusterThere:
        told = self.reads.one("sagemaker", "DescribeCluster", ClusterName=arn)
        rows = [*told.get("InstanceGroups", ()), *told.get("RestrictedInstanceGroups", ())]
        return ClusterThere(
            name=told["ClusterName"],
            status=told["ClusterStatus"],
            nodes=tuple(nodes for row in rows for nodes in _nodes(row)),
        )


def _nodes(row: Mapping[str, Any]) -> Iterator[NodesThere]:
    """Count what a group is to have, too: the quota must hold that."""
    count = max(row.get("CurrentCount", 0), row.get("TargetCount", 0))
    by_type = {
        each["InstanceType"]: each.get("CurrentCount", 0) for each in row.get("InstanceTypeDetails", ())
    }
    if "InstanceType" in row:
        by_type = {row["InstanceType"]: count}
    else:
        types = row.get("InstanceRequirements", {}).get("CurrentInstanceTypes", ())
        missing = count - sum(by_type.values())
        if missing > 0:
            best = types[0] if types else UNKNOWN_TYPE
            by_type[best] = by_type.get(best, 0) + missing
    plan = row.get("TrainingPlanArn") or None
    is_spot = "Spot" in row.get("CapacityRequirements", {})
    for instance_type, number in by_type.items():
        yield NodesThere(
            group=row["InstanceGroupName"],
            instance_type=instance_type,
            count=number,
            is_reserved=plan is not None or is_spot,
            is_spot=is_spot,
            plan_arn=plan,
        )
