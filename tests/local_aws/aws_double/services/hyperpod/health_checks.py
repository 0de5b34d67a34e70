"""Deep health checks on demand: the nodes are away for a while, and all pass."""

from __future__ import annotations

from typing import Any

from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request
from aws_double.services.hyperpod.api import API, ready
from aws_double.services.hyperpod.cluster import Cluster, Group, Node

_CHECKING = "DeepHealthCheckInProgress"


@API.operation("StartClusterHealthCheck")
def start_cluster_health_check(request: Request) -> dict[str, Any]:
    found = ready(request.region, request.asked["ClusterName"])
    if any(node.progress.state == _CHECKING for _, node in found.nodes):
        raise ApiError("ValidationException", f"Deep health checks of {found.name} are in progress.")
    chosen = [
        node for asked in request.asked["DeepHealthCheckConfigurations"] for node in _chosen(found, asked)
    ]
    for group, node in chosen:
        node.progress = Progress(_CHECKING, "Running")
        found.note("Instance", "Deep health checks started", group=group.name, instance=node.id)
    return {"ClusterArn": found.arn}


def _chosen(found: Cluster, asked: dict[str, Any]) -> list[tuple[Group, Node]]:
    name = asked["InstanceGroupName"]
    group = found.groups.get(name)
    if group is None:
        raise ApiError("ValidationException", f"{found.name} has no instance group {name}.")
    nodes = {node.id: node for node in group.nodes}
    wanted = asked.get("InstanceIds", list(nodes))
    missing = [id for id in wanted if id not in nodes]
    if missing:
        raise ApiError("ValidationException", f"Instance group {name} has no nodes {', '.join(missing)}.")
    busy = [id for id in wanted if not nodes[id].progress.is_done]
    if busy:
        raise ApiError("ValidationException", f"{', '.join(busy)} cannot be checked now.")
    return [(group, nodes[id]) for id in wanted]
