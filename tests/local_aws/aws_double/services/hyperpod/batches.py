"""Nodes that are replaced, rebooted or deleted by name, each with its own outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request
from aws_double.services.hyperpod.api import API, ready
from aws_double.services.hyperpod.cluster import Cluster, Group, Node

Act = Callable[[Cluster, Group, Node], None]


@API.operation("BatchReplaceClusterNodes")
def batch_replace_cluster_nodes(request: Request) -> dict[str, Any]:
    return _each(request, _replace, code="ErrorCode", what="Instance", spares_controller=True)


@API.operation("BatchRebootClusterNodes")
def batch_reboot_cluster_nodes(request: Request) -> dict[str, Any]:
    return _each(request, _reboot, code="ErrorCode", what="Instance", spares_controller=False)


@API.operation("BatchDeleteClusterNodes")
def batch_delete_cluster_nodes(request: Request) -> dict[str, Any]:
    told = _each(request, _delete, code="Code", what="Node", spares_controller=True)
    return {key: value for key, value in told.items() if value}


def _replace(cluster: Cluster, group: Group, node: Node) -> None:
    group.nodes.remove(node)
    cluster.note("Instance", "Instance replaced", group=group.name, instance=node.id)
    cluster.add_node(group, logical_id=node.logical_id)


def _reboot(cluster: Cluster, group: Group, node: Node) -> None:
    node.progress = Progress("Pending", "Running")
    cluster.note("Instance", "Instance rebooted", group=group.name, instance=node.id)


def _delete(cluster: Cluster, group: Group, node: Node) -> None:
    group.nodes.remove(node)
    group.asked["InstanceCount"] -= 1
    cluster.note("Instance", "Instance terminated", group=group.name, instance=node.id)


def _each(request: Request, act: Act, *, code: str, what: str, spares_controller: bool) -> dict[str, Any]:
    asked = request.asked
    found = ready(request.region, asked["ClusterName"])
    if not asked.keys() & {"NodeIds", "NodeLogicalIds"}:
        raise ApiError("ValidationException", "Either NodeIds or NodeLogicalIds must be provided.")
    if "NodeLogicalIds" in asked and not found.is_continuous:
        raise ApiError("ValidationException", "NodeLogicalIds need NodeProvisioningMode Continuous.")
    told: dict[str, Any] = {"Successful": [], "Failed": []}
    kinds = [("NodeIds", "NodeId", "Successful", "Failed")]
    if "NodeLogicalIds" in asked:
        kinds.append(("NodeLogicalIds", "NodeLogicalId", "SuccessfulNodeLogicalIds", "FailedNodeLogicalIds"))
    for member, key, done, failed in kinds:
        told.setdefault(done, [])
        told.setdefault(failed, [])
        for id in asked.get(member, []):
            problem = _act_on(found, id, act, what=what, spares_controller=spares_controller)
            if problem is None:
                told[done].append(id)
            else:
                told[failed].append({key: id, code: problem[0], "Message": problem[1]})
    return {key: value for key, value in told.items() if value or not key.startswith("Successful")}


def _act_on(
    found: Cluster, id: str, act: Act, *, what: str, spares_controller: bool
) -> tuple[str, str] | None:
    for group, node in found.nodes:
        if id not in (node.id, node.logical_id):
            continue
        is_controller = group.asked.get("SlurmConfig", {}).get("NodeType") == "Controller"
        if is_controller and spares_controller:
            return f"{what}IdInUse", f"{id} is a Slurm controller node"
        if not node.progress.is_done:
            return f"Invalid{what}Status", f"{id} is {node.progress.state}"
        act(found, group, node)
        found.progress = Progress("Updating", "InService")
        return None
    return f"{what}IdNotFound", f"Cluster {found.name} has no node {id}"
