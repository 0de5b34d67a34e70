"""Nodes replaced or rebooted: refused where that can hurt, in batches, each node with its own outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from hyperpod_lifecycle.operations.clusters import Cluster, HyperPod, Node
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_health import HealthView, is_faulty
from hyperpod_lifecycle.operations.stakes import AtStake
from hyperpod_model.catalog.cluster_rules import deep_health_check_hours
from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.limits import MAX_BATCH_REPAIR_NODES
from hyperpod_model.catalog.repairs import REFUSALS, REPAIRABLE_STATUSES

Action = Literal["replace", "reboot"]

_DONE_WORDS: Final = {"replace": "replacement", "reboot": "reboot"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPlan:
    """What is about to be done.

    Attributes:
        action: What.
        cluster: Of which cluster.
        nodes: To which nodes.
        refusals: Why it is not done; empty if it may be.
        consequences: What it brings with it.
        at_stake: What a job would lose; None if nobody said where to look.
    """

    action: Action
    cluster: Cluster
    nodes: tuple[Node, ...]
    refusals: tuple[str, ...]
    consequences: tuple[str, ...]
    at_stake: AtStake | None

    @property
    def batches(self) -> list[tuple[Node, ...]]:
        """The nodes of each request."""
        rest = iter(self.nodes)
        return list(iter(lambda: tuple(islice(rest, MAX_BATCH_REPAIR_NODES)), ()))

    def in_doubt(self, told: int) -> tuple[Node, ...]:
        """Return the nodes of the request that may have been sent when an interrupt came.

        Args:
            told: How many nodes have an outcome by then.
        """
        end = -(-(told + 1) // MAX_BATCH_REPAIR_NODES) * MAX_BATCH_REPAIR_NODES
        return self.nodes[told:end]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOutcome:
    """What became of one node.

    Attributes:
        node: The node.
        taken: Whether HyperPod took it on.
        why_not: Why it did not, in words.
    """

    node: Node
    taken: bool
    why_not: str | None = None


def plan_repair(
    action: Action,
    *,
    cluster: Cluster,
    nodes: Sequence[Node],
    health: HealthView,
    at_stake: AtStake | None = None,
) -> RepairPlan:
    """Say what a repair would do, and whether it may be done now.

    Args:
        action: What to do.
        cluster: The cluster, as it is now.
        nodes: The nodes, as they are now.
        health: What the orchestrator says of them.
        at_stake: What a job would lose. Default: nobody said where to look.
    """
    return RepairPlan(
        action=action,
        cluster=cluster,
        nodes=tuple(nodes),
        refusals=tuple(_refusals(action, cluster, nodes, health)),
        consequences=tuple(_consequences(action, cluster, nodes, health)),
        at_stake=at_stake,
    )


def carry_out(hyperpod: HyperPod, plan: RepairPlan) -> Iterator[RepairOutcome]:
    """Do what a plan says, batch by batch.

    After a request that AWS refuses as a whole no other is sent; the nodes of all these are not taken.

    Args:
        hyperpod: The API.
        plan: A plan without refusals.

    Yields:
        The outcome of each node, in the order of the plan.

    Raises:
        ValueError: If the plan has refusals.
    """
    if plan.refusals:
        raise ValueError(f"a refused plan is not carried out: {'; '.join(plan.refusals)}")
    failed = False
    for batch in plan.batches:
        if failed:
            why = "not asked, since the request before failed"
            yield from (RepairOutcome(node=node, taken=False, why_not=why) for node in batch)
            continue
        try:
            answers = hyperpod.repair(plan.cluster, [node.id for node in batch], action=plan.action)
        except OperationError as error:
            failed = True
            yield from (RepairOutcome(node=node, taken=False, why_not=str(error)) for node in batch)
            continue
        for node, answer in zip(batch, answers, strict=True):
            yield RepairOutcome(
                node=node,
                taken=answer.code is None,
                why_not=None if answer.code is None else _why(answer.code, answer.message),
            )


def _refusals(action: Action, cluster: Cluster, nodes: Sequence[Node], health: HealthView) -> Iterator[str]:
    if cluster.status != "InService":
        yield (
            f"cluster {cluster.name} is {cluster.status}, not InService: HyperPod is changing it; wait, and "
            f"look with 'hyperpod-nodes watch {cluster.name} {cluster.where}'"
        )
    controllers = {group.name for group in cluster.groups if group.slurm_node_type == "Controller"}
    for node in nodes:
        if node.status not in REPAIRABLE_STATUSES:
            yield (
                f"{node.name} ({node.id}) is {node.status}: something is being done with it already; wait "
                f"until it is {' or '.join(REPAIRABLE_STATUSES)}"
            )
            continue
        known = health.nodes.get(node.id)
        if known is not None and known.under_repair is not None and cluster.replaces_nodes:
            yield (
                f"{node.name} ({node.id}) is {known.state}: HyperPod's own "
                f"{_DONE_WORDS[known.under_repair]} is in progress; wait for it"
            )
        if action == "replace" and node.group in controllers:
            yield f"{node.name} ({node.id}) is a Slurm controller, which HyperPod does not replace; reboot it"
        elif action == "replace" and _may_be_controller(cluster, node):
            yield (
                f"{node.name} ({node.id}) may be Slurm's controller, whose state would be lost: it has no "
                "accelerators, and the API does not tell, since lifecycle scripts set Slurm up; reboot it, "
                "or where it surely is none: aws sagemaker batch-replace-cluster-nodes"
            )


def _consequences(
    action: Action, cluster: Cluster, nodes: Sequence[Node], health: HealthView
) -> Iterator[str]:
    if action == "replace":
        yield "all volumes of the nodes are destroyed, root and secondary; what is not in S3 or FSx is lost"
        yield "new instances take the nodes' places, with new ids; lifecycle scripts run on them"
        if any(_checked(cluster, node) for node in nodes):
            yield f"their deep health checks run first, which takes about {deep_health_check_hours()} hours"
    else:
        yield "the nodes restart; lifecycle scripts do not run again, and local volumes stay"
    if cluster.orchestrator == "slurm" and any(_is_controller(cluster, node) for node in nodes):
        yield "Slurm's controller is away meanwhile: no job starts, and clients wait"
    for node in nodes:
        if health.unreachable is None and not is_faulty(node, health):
            yield f"no fault of {node.name} ({node.id}) is known: is it the one that you mean?"
    for group in cluster.groups:
        meant = sum(node.group == group.name for node in nodes)
        if meant and meant >= group.current and group.slurm_node_type == "Login":
            yield (
                f"group {group.name} has no other login node: sessions on it end, and nobody can log in "
                "there meanwhile; jobs go on"
            )
        elif meant > 1 and meant >= group.current:
            yield f"these are all nodes of group {group.name}: nothing is left to train on there meanwhile"
    if health.unreachable is not None:
        yield f"whether HyperPod repairs them already is not known: {health.source}: {health.unreachable}"


def _checked(cluster: Cluster, node: Node) -> bool:
    group = cluster.group(node.group)
    return group is not None and bool(group.deep_health_checks)


def _may_be_controller(cluster: Cluster, node: Node) -> bool:
    if cluster.orchestrator != "slurm" or any(group.slurm_node_type for group in cluster.groups):
        return False
    listed = instance_types().get(node.instance_type)
    return listed is not None and listed.accelerator is None


def _is_controller(cluster: Cluster, node: Node) -> bool:
    group = cluster.group(node.group)
    return group is not None and group.slurm_node_type == "Controller"


def _why(code: str, message: str) -> str:
    meaning = REFUSALS.get(code)
    return f"{code}: {message}" if meaning is None else f"{code}: {message or meaning} ({meaning})"
