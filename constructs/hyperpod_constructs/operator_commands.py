"""The commands that notices name, for whoever reads one at night."""

from __future__ import annotations

from typing import Final

_PROGRAM: Final = "hyperpod-nodes"


def list_nodes(cluster_name: str, region: str) -> str:
    """Command that lists a cluster's nodes with their state and faults.

    Args:
        cluster_name: Name of the cluster.
        region: Its region.
    """
    return f"{_PROGRAM} list {cluster_name} --region {region}"


def advise(cluster_name: str, region: str, node: str) -> str:
    """Command that tells what to do with a node.

    Args:
        cluster_name: Name of the cluster.
        region: Its region.
        node: EC2 id of the node.
    """
    return f"{_PROGRAM} advise {cluster_name} {node} --region {region}"


def node_logs(cluster_name: str, region: str, node: str) -> str:
    """Command that shows what a node logged.

    Args:
        cluster_name: Name of the cluster.
        region: Its region.
        node: EC2 id of the node.
    """
    return f"{_PROGRAM} logs {cluster_name} {node} --region {region}"
