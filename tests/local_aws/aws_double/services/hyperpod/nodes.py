"""Nodes: listed and described."""

from __future__ import annotations

from typing import Any

from aws_double.service_api import ApiError, Request, page
from aws_double.services.hyperpod.api import API, cluster
from aws_double.services.hyperpod.description import node_details, node_summary


@API.operation("ListClusterNodes")
def list_cluster_nodes(request: Request) -> dict[str, Any]:
    asked = request.asked
    found = cluster(request.region, asked["ClusterName"])
    nodes = [
        (group, node)
        for group, node in found.nodes
        if asked.get("InstanceGroupNameContains", "") in group.name
        and asked.get("CreationTimeAfter", 0) <= node.launched.timestamp()
        and node.launched.timestamp() <= asked.get("CreationTimeBefore", node.launched.timestamp())
    ]
    by_name = asked.get("SortBy") == "NAME"
    nodes.sort(
        key=lambda one: (one[0].name if by_name else "", one[1].number),
        reverse=asked.get("SortOrder") == "Descending",
    )
    with_logical_id = asked.get("IncludeNodeLogicalIds", False)
    summaries = [node_summary(found, group, node, logical_id=with_logical_id) for group, node in nodes]
    shown, more = page(summaries, asked, size=100, limit="MaxResults", token="NextToken")
    return {"ClusterNodeSummaries": shown, **more}


@API.operation("DescribeClusterNode")
def describe_cluster_node(request: Request) -> dict[str, Any]:
    asked = request.asked
    found = cluster(request.region, asked["ClusterName"])
    if ("NodeId" in asked) == ("NodeLogicalId" in asked):
        raise ApiError("ValidationException", "Specify one of NodeId and NodeLogicalId.")
    for group, node in found.nodes:
        if asked.get("NodeId") == node.id or asked.get("NodeLogicalId") == node.logical_id:
            return {"NodeDetails": node_details(found, group, node)}
    wanted = asked.get("NodeId", asked.get("NodeLogicalId"))
    raise ApiError("ResourceNotFound", f"Cluster {found.name} has no node {wanted}.")
