"""Deep health checks on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.catalog.cluster_rules import deep_health_check_hours
from hyperpod_model.catalog.repairs import MAX_CHECKED_GROUPS, MAX_CHECKED_INSTANCES
from hyperpod_model.checks.deep_health_checks import (
    check_deep_health_checks,
    check_deep_health_checks_under,
)

DEFAULT_CHECKS: Final = ("InstanceStress",)
_CONNECTIVITY: Final = "InstanceConnectivity"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPlan:
    """Which checks are about to start.

    Attributes:
        cluster: The cluster.
        nodes: On which nodes.
        checks: Which checks.
        request: Members of ``StartClusterHealthCheck``.
        refusals: Why they are not started; empty if they may be.
        consequences: What they bring with them.
    """

    cluster: Cluster
    nodes: tuple[Node, ...]
    checks: tuple[str, ...]
    request: Mapping[str, Any]
    refusals: tuple[str, ...]
    consequences: tuple[str, ...]


def known_checks() -> tuple[str, ...]:
    """Return the checks that the API knows."""
    field = instance_group().at("OnStartDeepHealthChecks").item
    return () if field is None else field.enum


def plan_checks(
    *, cluster: Cluster, nodes: Sequence[Node], all_nodes: Sequence[Node], checks: Sequence[str]
) -> CheckPlan:
    """Say what checks would do.

    Args:
        cluster: The cluster, as it is now.
        nodes: Nodes to check.
        all_nodes: All nodes of the cluster: one check at a time is possible.
        checks: Names of the checks.
    """
    by_group: dict[str, list[Node]] = {}
    for node in nodes:
        by_group.setdefault(node.group, []).append(node)
    return CheckPlan(
        cluster=cluster,
        nodes=tuple(nodes),
        checks=tuple(checks),
        request={
            "ClusterName": cluster.arn,
            "DeepHealthCheckConfigurations": [
                {
                    "InstanceGroupName": group,
                    # The API takes so many ids, and no ids for the whole group.
                    **(
                        {"InstanceIds": [node.id for node in found]}
                        if len(found) <= MAX_CHECKED_INSTANCES
                        else {}
                    ),
                    "DeepHealthChecks": list(checks),
                }
                for group, found in by_group.items()
            ],
        },
        refusals=tuple(_refusals(cluster, by_group, all_nodes, checks)),
        consequences=(
            f"the nodes take no jobs meanwhile, about {deep_health_check_hours()} hours; what runs there is "
            "disturbed",
            "nodes that fail are rebooted or replaced by HyperPod"
            if cluster.replaces_nodes
            else "nodes that fail are marked; NodeRecovery is None, so that you must repair them",
        ),
    )


def _refusals(
    cluster: Cluster, by_group: Mapping[str, Sequence[Node]], all_nodes: Sequence[Node], checks: Sequence[str]
) -> Iterator[str]:
    if cluster.status != "InService":
        yield f"cluster {cluster.name} is {cluster.status}, not InService; wait"
    busy = [node.name for node in all_nodes if node.status == "DeepHealthCheckInProgress"]
    if busy:
        yield f"a cluster runs one check at a time, and {', '.join(busy)} are being checked; wait for them"
    if len(by_group) > MAX_CHECKED_GROUPS:
        yield f"{len(by_group)} groups are more than the {MAX_CHECKED_GROUPS} of one request; check fewer"
    for name, nodes in by_group.items():
        moving = [f"{node.name} is {node.status}" for node in nodes if node.status != "Running"]
        if moving and not busy:
            yield f"{', '.join(moving)}: only running nodes can be checked"
        whole = sum(node.group == name for node in all_nodes)
        if MAX_CHECKED_INSTANCES < len(nodes) < whole:
            yield (
                f"{len(nodes)} nodes of {name} are more than the {MAX_CHECKED_INSTANCES} of one request; "
                "name fewer, or the whole group"
            )
        if _CONNECTIVITY in checks and len(nodes) < 2:
            yield f"{_CONNECTIVITY} tests the network between nodes: name at least two of {name}"
        group = {"InstanceType": nodes[0].instance_type, "OnStartDeepHealthChecks": list(checks)}
        faults = [
            *check_deep_health_checks(group),
            *check_deep_health_checks_under(group, cluster.orchestrator),
        ]
        yield from (f"group {name}: {fault.message}" for fault in faults if fault.severity == "error")
