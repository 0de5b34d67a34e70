"""Deep health checks and spare nodes: what follows from the situation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.catalog.cluster_rules import replacement_waits
from hyperpod_model.checks.instance_types import listed_type, named_types
from hyperpod_model.checks.reading import is_unknown, number, quoted
from hyperpod_model.faults import Fault


def deep_health_checks() -> tuple[str, ...]:
    """Return every deep health check that CloudFormation can ask for."""
    field = instance_group().at("OnStartDeepHealthChecks").item
    return () if field is None else field.cloudformation_enum


def runs_deep_health_checks(*, spare_nodes: int, replacement_wait: str, commissioned: bool) -> bool:
    """Tell whether deep health checks run in a situation.

    With spare nodes, or where two more hours for a replacement are tolerable, they always run. Where the
    wait is to be avoided they run until the cluster is commissioned, and where it is intolerable never.
    Source: SageMaker AI developer guide, deep health checks.

    Args:
        spare_nodes: Nodes beyond what jobs need.
        replacement_wait: ``tolerable``, ``avoid`` or ``intolerable``.
        commissioned: Whether the first checks of the cluster have passed.
    """
    if spare_nodes > 0 or replacement_wait == "tolerable":
        return True
    return replacement_wait == "avoid" and not commissioned


def check_resilience(*, spare_nodes: Any, replacement_wait: Any) -> list[Fault]:
    """Check a situation by itself. ``UNKNOWN`` passes."""
    faults = []
    spares = number({"spare_nodes": spare_nodes}, "spare_nodes")
    if spares is not None and spares < 0:
        faults.append(Fault(("spare_nodes",), f"must be 0 or more, got {spares}"))
    if not is_unknown(spare_nodes) and spares is None:
        faults.append(Fault(("spare_nodes",), f"must be a whole number, got {spare_nodes!r}"))
    if not is_unknown(replacement_wait) and replacement_wait not in replacement_waits():
        faults.append(
            Fault(
                ("replacement_wait",),
                f"must be one of {quoted(replacement_waits())}, got {replacement_wait!r}",
            )
        )
    return faults


def check_spare_nodes(spare_nodes: Any, groups: Iterable[Mapping[str, Any]]) -> list[Fault]:
    """Check that spares leave accelerated nodes to work.

    Args:
        spare_nodes: Nodes of the groups that jobs leave idle. ``UNKNOWN`` passes.
        groups: Instance groups in API terms. A group whose type or count is ``UNKNOWN``, or whose type the
            catalog does not list, makes the check pass, and so does a negative count, which is a
            fault of its own.
    """
    spares = number({"spare_nodes": spare_nodes}, "spare_nodes")
    if not spares:
        return []
    nodes = 0
    for group in groups:
        types = [listed_type(name) for _, name in named_types(group)]
        count = number(group, "InstanceCount")
        if not types or None in types or count is None or count < 0:
            return []
        if any(found is not None and found.is_accelerated for found in types):
            nodes += count
    if spares < nodes:
        return []
    return [
        Fault(
            ("spare_nodes",),
            f"must be fewer than the accelerated nodes of the cluster, which are {nodes}, got {spares}; "
            "spares are part of instance_count",
        )
    ]
