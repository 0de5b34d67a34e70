"""Health of nodes by the labels, annotations and conditions that HyperPod sets on them in Kubernetes.

How its API is asked: ``kubernetes_reads``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.kubernetes_reads import KubernetesReads, KubernetesUnreachableError
from hyperpod_lifecycle.operations.kubernetes_token import token_for
from hyperpod_lifecycle.operations.node_health import HealthView, NodeHealth, SeenFault
from hyperpod_model.catalog import labels
from hyperpod_model.catalog.repairs import CONDITION_REPAIRS, HEALTH_STATUS_REPAIRS

_PATH: Final = "/api/v1/nodes"
_INSTANCE: Final = re.compile(r"\bi-[0-9a-f]{8}(?:[0-9a-f]{9})?$")


def kubernetes_health(
    aws: Aws, cluster: Cluster, nodes: Sequence[Node], *, context: str | None = None
) -> HealthView:
    """Ask Kubernetes for the health of nodes.

    Args:
        aws: Clients.
        cluster: A cluster on EKS.
        nodes: Which nodes.
        context: Context of kubectl that is asked alone. Default: the API is asked directly, then the context
            that names its endpoint.

    Returns:
        What it said, or why it said nothing.
    """
    source = "Kubernetes" if context is None else f"Kubernetes (kubectl, context {context})"
    try:
        found = _kubernetes(aws, cluster, context).all(_PATH)
    except KubernetesUnreachableError as error:
        return HealthView(source=source, unreachable=str(error))
    wanted = {node.id for node in nodes}
    told = {id: row for row in found if (id := _instance(row)) in wanted and id is not None}
    if nodes and not told:
        return HealthView(
            source=source,
            unreachable=f"it has none of the nodes of {cluster.name}; is that another cluster's context?",
        )
    return HealthView(source=source, nodes={id: _health(row) for id, row in told.items()})


def _kubernetes(aws: Aws, cluster: Cluster, context: str | None) -> KubernetesReads:
    assert cluster.eks_cluster_arn is not None
    name = cluster.eks_cluster_arn.rpartition("/")[2]
    return KubernetesReads(
        name=name,
        describe=lambda: aws.call("eks", "DescribeCluster", name=name)["cluster"],
        token=lambda: token_for(aws, name),
        context=context,
    )


def _instance(row: Mapping[str, Any]) -> str | None:
    """Return the instance id that a node's name or its cloud's id of it ends with."""
    names = (str(row["metadata"]["name"]), str(row.get("spec", {}).get("providerID", "")))
    found = [match[0] for name in names if (match := _INSTANCE.search(name)) is not None]
    return found[0] if found else None


def _health(row: Mapping[str, Any]) -> NodeHealth:
    told = row["metadata"].get("labels", {})
    state = told.get(labels.NODE_HEALTH_STATUS.key)
    return NodeHealth(
        state=_readiness(row) if state is None else state,
        deep_checks=told.get(labels.DEEP_HEALTH_CHECK_STATUS.key),
        faults=tuple(_faults(row)),
        under_repair=None if state is None else HEALTH_STATUS_REPAIRS.get(state),
    )


def _readiness(row: Mapping[str, Any]) -> str:
    ready = [one["status"] for one in _conditions(row) if one.get("type") == "Ready"]
    return "Ready" if ready == ["True"] else "NotReady"


def _conditions(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = row.get("status", {}).get("conditions", [])
    return found


def _faults(row: Mapping[str, Any]) -> Iterator[SeenFault]:
    metadata = row["metadata"]
    told = metadata.get("labels", {})
    detailed = list(_detailed(metadata.get("annotations", {}).get(labels.FAULT_DETAILS_ANNOTATION)))
    yield from detailed
    kind = told.get(labels.FAULT_TYPES.key, "")
    reason = told.get(labels.FAULT_REASONS.key, "")
    if (kind or reason) and not detailed:
        yield SeenFault(kind=kind, reason=reason, source="node labels")
    for one in _conditions(row):
        if one.get("type") in CONDITION_REPAIRS and one.get("status") == "True":
            yield SeenFault(
                kind=one["type"],
                reason=one.get("reason", ""),
                message=one.get("message", ""),
                source="node condition",
            )


def _detailed(annotation: str | None) -> Iterator[SeenFault]:
    """Read the annotation leniently: the documentation names it JSON, and not its members."""
    if not annotation:
        return
    try:
        told = json.loads(annotation)
    except ValueError:
        yield SeenFault(message=annotation, source="node annotation")
        return
    rows = told.get("faults", [told]) if isinstance(told, dict) else told
    for row in rows if isinstance(rows, list) else [rows]:
        if isinstance(row, dict):
            lowered = {str(key).lower(): str(value) for key, value in row.items()}
            yield SeenFault(
                kind=lowered.get("type", ""),
                reason=lowered.get("reason", ""),
                message=lowered.get("message", "") or json.dumps(row),
                source="node annotation",
            )
        else:
            yield SeenFault(message=str(row), source="node annotation")
