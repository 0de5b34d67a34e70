"""A HyperPod cluster, its instance groups and their nodes."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moto.utilities.utils import get_partition

from aws_double import ACCOUNT
from aws_double.network_view import Place
from aws_double.progress import Progress


@dataclass
class Node:
    """A node.

    Attributes:
        group: Name of its instance group.
        number: How many nodes the cluster had before it.
        id: Id of its instance; a replaced node has another one.
        logical_id: Stays when the node is replaced.
        launched: When.
        progress: From ``Pending`` to ``Running``.
        updated: When its software was last updated.
    """

    group: str
    number: int
    id: str = field(default_factory=lambda: f"i-{secrets.token_hex(8)}0")
    logical_id: str = field(default_factory=lambda: f"node-{secrets.token_hex(6)}")
    launched: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress = field(default_factory=lambda: Progress("Pending", "Running"))
    updated: datetime | None = None


@dataclass
class Group:
    """An instance group.

    Attributes:
        asked: What the last request asked for.
        restricted: Whether it is one of ``RestrictedInstanceGroups``.
        nodes: The oldest first.
    """

    asked: dict[str, Any]
    restricted: bool
    nodes: list[Node] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.asked["InstanceGroupName"])

    @property
    def instance_types(self) -> list[str]:
        """The legal types of its nodes, the first being the one that they have."""
        if "InstanceType" in self.asked:
            return [self.asked["InstanceType"]]
        found: list[str] = self.asked["InstanceRequirements"]["InstanceTypes"]
        return found

    @property
    def running(self) -> int:
        """How many of its nodes run."""
        return sum(node.progress.state == "Running" for node in self.nodes)


@dataclass
class Event:
    """Something that happened.

    Attributes:
        kind: ``Cluster``, ``InstanceGroup`` or ``Instance``.
        description: In words.
        group: Name of the instance group, if it is about one.
        instance: Id of the instance, if it is about one.
        id: Its id.
        time: When.
    """

    kind: str
    description: str
    group: str | None = None
    instance: str | None = None
    id: str = field(default_factory=lambda: str(uuid4()))
    time: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass
class Governed:
    """Priority classes of a cluster, or the quota of a team.

    Attributes:
        asked: The request that made it, with what updates changed since.
        id: Its id.
        version: Which version it is.
        created: When.
        progress: From ``Creating`` or ``Updating`` to done.
    """

    asked: dict[str, Any]
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    version: int = 1
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress = field(default_factory=lambda: Progress("Creating", "Created"))


@dataclass
class Cluster:
    """A cluster.

    Attributes:
        region: Its region.
        asked: The request that made it, without groups and tags, with what updates changed since.
        tags: Its tags.
        groups: By name, in the order of the requests.
        id: Last part of its ARN.
        created: When.
        progress: From ``Creating`` or ``Updating`` to ``InService``, or from ``Deleting`` to gone.
        events: What happened, the oldest first.
        scheduler_configs: Its priority classes, at most one, by id.
        quotas: Quotas of its teams, by id.
    """

    region: str
    asked: dict[str, Any]
    tags: list[dict[str, str]]
    groups: dict[str, Group] = field(default_factory=dict)
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress = field(default_factory=lambda: Progress("Creating", "InService"))
    events: list[Event] = field(default_factory=list)
    scheduler_configs: dict[str, Governed] = field(default_factory=dict)
    quotas: dict[str, Governed] = field(default_factory=dict)
    _nodes_ever: int = 0

    @property
    def name(self) -> str:
        return str(self.asked["ClusterName"])

    @property
    def arn(self) -> str:
        return f"arn:{get_partition(self.region)}:sagemaker:{self.region}:{ACCOUNT}:cluster/{self.id}"

    @property
    def status(self) -> str:
        return self.progress.state

    @property
    def is_continuous(self) -> bool:
        return self.asked.get("NodeProvisioningMode") == "Continuous"

    @property
    def eks_cluster_arn(self) -> str | None:
        eks: dict[str, Any] = self.asked.get("Orchestrator", {}).get("Eks", {})
        return eks.get("ClusterArn")

    @property
    def nodes(self) -> Iterator[tuple[Group, Node]]:
        """Its nodes, group by group."""
        for group in self.groups.values():
            for node in group.nodes:
                yield group, node

    @property
    def roles(self) -> set[str]:
        """ARNs of the roles that it uses."""
        used = {str(group.asked["ExecutionRole"]) for group in self.groups.values()}
        return used | ({self.asked["ClusterRole"]} if "ClusterRole" in self.asked else set())

    def place(self, group: Group) -> Place | None:
        """Where the nodes of a group are; None in a network of HyperPod's own."""
        network = group.asked.get("OverrideVpcConfig", self.asked.get("VpcConfig"))
        if network is None:
            return None
        return Place(tuple(network["Subnets"]), tuple(network["SecurityGroupIds"]))

    def resize(self, group: Group, count: int) -> None:
        """Give a group so many nodes: new ones at the end, and the newest go first."""
        for node in group.nodes[count:]:
            self.note("Instance", "Instance terminated", group=group.name, instance=node.id)
        del group.nodes[count:]
        while len(group.nodes) < count:
            self.add_node(group)

    def add_node(self, group: Group, *, logical_id: str | None = None) -> Node:
        """Add a node to a group, in the place of another one if it gets that one's logical id."""
        node = Node(group=group.name, number=self._nodes_ever)
        if logical_id is not None:
            node.logical_id = logical_id
        self._nodes_ever += 1
        group.nodes.append(node)
        self.note("Instance", "Instance launched", group=group.name, instance=node.id)
        return node

    def note(
        self, kind: str, description: str, *, group: str | None = None, instance: str | None = None
    ) -> None:
        """Keep an event."""
        self.events.append(Event(kind, description, group, instance))
