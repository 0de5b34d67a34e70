"""`hyperpod-nodes list`: clusters, or the nodes of one."""

from __future__ import annotations

import dataclasses
from argparse import Namespace
from collections.abc import Sequence

from hyperpod_lifecycle.operations.clusters import HyperPod, Node
from hyperpod_lifecycle.operations.command.output import (
    cluster_data,
    cluster_line,
    drawn,
    fault_lines,
    health_line,
    node_data,
    node_table,
    table,
    write,
)
from hyperpod_lifecycle.operations.command.site import Site, aws_of, site_of
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_health import HealthView, is_faulty


def run(options: Namespace) -> int:
    """List.

    Returns:
        The exit code.

    Raises:
        OperationError: If AWS refuses.
    """
    if options.cluster is None:
        return _clusters(options)
    site = site_of(options)
    health = site.health(options)
    nodes = selected(site, health, options)
    write(
        options,
        text=drawn(*parts_of(site, nodes, health, faulty=options.faulty)),
        data={
            "cluster": cluster_data(site.cluster),
            "health": {"source": health.source, "unreachable": health.unreachable},
            "nodes": [
                {
                    **node_data(node),
                    "health": None
                    if (known := health.nodes.get(node.id)) is None
                    else dataclasses.asdict(known),
                }
                for node in nodes
            ],
        },
    )
    return 0


def selected(site: Site, health: HealthView, options: Namespace) -> list[Node]:
    """Return the nodes that a user wants to see.

    Raises:
        OperationError: If there is no such group.
    """
    unknown = [name for name in options.group if site.cluster.group(name) is None]
    if unknown:
        known = ", ".join(group.name for group in site.cluster.groups)
        raise OperationError(
            "unsuitable", f"cluster {site.cluster.name} has no group {', '.join(unknown)}; it has {known}"
        )
    return [
        node
        for node in site.nodes
        if (not options.group or node.group in options.group)
        and (not options.faulty or is_faulty(node, health))
    ]


def parts_of(site: Site, nodes: Sequence[Node], health: HealthView, *, faulty: bool = False) -> list[object]:
    """Return what to draw of a cluster.

    Args:
        site: The cluster.
        nodes: Those of its nodes that are shown.
        health: What the orchestrator says.
        faulty: Whether these are the faulty ones.
    """
    parts: list[object] = [cluster_line(site.cluster, site.nodes)]
    parts += [
        f"group {group.name}: {group.current} of {group.target} nodes"
        for group in site.cluster.groups
        if group.current != group.target
    ]
    unknown = health_line(health)
    parts += [] if unknown is None else [unknown]
    parts.append(node_table(site.cluster, nodes, health) if nodes else _none(health, faulty=faulty))
    parts += fault_lines(nodes, health)
    return parts


def _none(health: HealthView, *, faulty: bool) -> str:
    if not faulty:
        return "no such node"
    if health.unreachable is None:
        return "no such node has a fault"
    # No news is no good news.
    return "all of them are Running; whether they have faults is not known"


def _clusters(options: Namespace) -> int:
    aws = aws_of(options)
    rows = sorted(HyperPod(aws).summaries(), key=lambda row: str(row["ClusterName"]))
    found = [
        {
            "name": row["ClusterName"],
            "arn": row["ClusterArn"],
            "status": row["ClusterStatus"],
            "created": row["CreationTime"],
        }
        for row in rows
    ]
    text = (
        drawn(
            table(
                ["cluster", "status", "created (UTC)", "ARN"],
                (
                    [row["name"], row["status"], f"{row['created']:%Y-%m-%d %H:%M}", row["arn"]]
                    for row in found
                ),
            )
        )
        if found
        else f"no clusters in {aws.region}; are they in another --region or --profile?\n"
    )
    write(options, text=text, data={"region": aws.region, "clusters": found})
    return 0
