"""The commands that notices name, for whoever reads one at night."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase

_PROGRAM: Final = "hyperpod-nodes"


def list_nodes(cluster_name: str, region: str) -> str:
    """Command that lists a cluster's nodes with their state and faults.

    Args:
        cluster_name: Name of the cluster.
        region: Its region.
    """
    return f"{_PROGRAM} list {cluster_name} --region {region}"


def advise(cluster_name: str, region: str, node: str | None = None) -> str:
    """Command that tells what to do with a node.

    Args:
        cluster_name: Name of the cluster.
        region: Its region.
        node: EC2 id of the node. Default: all nodes with a fault, and those that are missing.
    """
    which = "" if node is None else f" {node}"
    return f"{_PROGRAM} advise {cluster_name}{which} --region {region}"


def node_logs(cluster_name: str, region: str, node: str) -> str:
    """Command that shows what a node logged.

    Args:
        cluster_name: Name of the cluster.
        region: Its region.
        node: EC2 id of the node.
    """
    return f"{_PROGRAM} logs {cluster_name} {node} --region {region}"


def orchestrator_of(cluster: HyperPodClusterBase) -> str | None:
    """Return ``slurm`` or ``eks``, or None for a cluster that is imported.

    Args:
        cluster: The cluster.
    """
    # An imported cluster tells its ARN and its name alone.
    from hyperpod_constructs.hyperpod_cluster import HyperPodCluster

    return cluster.orchestrator.kind if isinstance(cluster, HyperPodCluster) else None


def all_jobs(orchestrator: str | None) -> str:
    """Command that lists jobs, those that wait and why too.

    Args:
        orchestrator: ``slurm`` or ``eks``; None where it is not known.
    """
    return _either(
        orchestrator,
        slurm="squeue --all",
        eks="kubectl get pods --all-namespaces",
    )


def pending_jobs(orchestrator: str | None) -> str:
    """Command that lists jobs that wait, with the reason.

    Args:
        orchestrator: ``slurm`` or ``eks``; None where it is not known.
    """
    return _either(
        orchestrator,
        slurm="squeue --states=PENDING --Format=JobID,UserName,Partition,SubmitTime,Reason",
        eks="kubectl get workloads --all-namespaces",
    )


def preempted_jobs(orchestrator: str | None) -> str:
    """Command that lists jobs that gave way.

    Args:
        orchestrator: ``slurm`` or ``eks``; None where it is not known.
    """
    return _either(
        orchestrator,
        slurm="sacct --allusers --state=PREEMPTED",
        eks="kubectl get events --all-namespaces --field-selector=reason=Preempted",
    )


def _either(orchestrator: str | None, *, slurm: str, eks: str) -> str:
    commands = {"slurm": slurm, "eks": eks}
    return f"{slurm} or {eks}" if orchestrator is None else commands[orchestrator]
