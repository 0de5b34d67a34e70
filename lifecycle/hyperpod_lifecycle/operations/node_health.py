"""What the orchestrator knows of a node's health, which the API does not tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_model.catalog.labels import NODE_HEALTH_STATUS
from hyperpod_model.catalog.xids import Repair

DeepChecks = Literal["InProgress", "Passed", "Failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFault:
    """A fault that something said a node has.

    Attributes:
        kind: Such as ``NvidiaErrorReboot``; empty where none is named.
        reason: Such as ``XidHardwareFailure``; empty where none is named.
        message: In words; empty where there are none.
        source: Who said so.
    """

    kind: str = ""
    reason: str = ""
    message: str = ""
    source: str

    @property
    def text(self) -> str:
        """All of it in one line."""
        return ": ".join(part for part in (self.kind, self.reason, self.message) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHealth:
    """The health of one node.

    Attributes:
        state: As the orchestrator says it: a node's health status on EKS, its state in Slurm.
        deep_checks: State of its deep health checks; None if it has none.
        faults: What is wrong with it.
        under_repair: The repair that it waits for or goes through; None if none.
    """

    state: str
    deep_checks: DeepChecks | None = None
    faults: tuple[SeenFault, ...] = ()
    under_repair: Repair | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthView:
    """What an orchestrator said.

    Attributes:
        source: Who was asked.
        nodes: By instance id, those that it knows.
        unreachable: Why it could not be asked, and how to change that; None if it answered.
    """

    source: str
    nodes: Mapping[str, NodeHealth] = field(default_factory=dict)
    unreachable: str | None = None


def health_of(
    aws: Aws, cluster: Cluster, nodes: Sequence[Node], *, kube_context: str | None = None
) -> HealthView:
    """Ask the orchestrator of a cluster for the health of nodes.

    Args:
        aws: Clients.
        cluster: The cluster.
        nodes: Which nodes.
        kube_context: Context of kubectl to ask through. Default: the API of the EKS cluster is asked, with
            the AWS credentials.

    Returns:
        What it said, or why it said nothing.
    """
    if cluster.orchestrator == "eks":
        from hyperpod_lifecycle.operations.kubernetes_health import kubernetes_health

        return kubernetes_health(aws, cluster, nodes, context=kube_context)
    from hyperpod_lifecycle.operations.slurm_health import slurm_health

    return slurm_health(cluster, nodes)


def is_faulty(node: Node, health: HealthView) -> bool:
    """Tell whether a node does not run, or something is wrong with it.

    Args:
        node: The node.
        health: What the orchestrator says.
    """
    known = health.nodes.get(node.id)
    if node.status != "Running" or known is None:
        return node.status != "Running"
    labelled = known.state in (NODE_HEALTH_STATUS.values or ())
    bad = known.state != "Schedulable" if labelled else _is_bad(known.state)
    return bad or bool(known.faults) or known.deep_checks == "Failed" or known.under_repair is not None


def _is_bad(state: str) -> bool:
    """Tell whether a state of Slurm, or of a node without HyperPod's label, is none to run jobs in."""
    return any(word in state for word in ("DOWN", "FAIL", "DRAIN", "NOT_RESPONDING", "NotReady", "*"))
