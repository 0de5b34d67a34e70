"""Writes what was found: text or JSON."""

from __future__ import annotations

import dataclasses
import io
import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.node_health import HealthView
from hyperpod_model.command_line.output import columns, emit

_PIPE_COLUMNS: Final = 400
_LEAST_COLUMNS: Final = 80
"""A terminal that has less breaks lines itself, which is easier to read than columns of a letter each."""
_ORCHESTRATORS: Final = {"eks": "EKS", "slurm": "Slurm"}


def write(options: Namespace, *, text: str, data: Mapping[str, Any]) -> None:
    """Write a result in the way that the user asked for.

    Args:
        options: With ``format``.
        text: For people.
        data: For programs.
    """
    emit(as_json(data) if options.format == "json" else text)


def as_json(data: Mapping[str, Any]) -> str:
    """Return JSON, times in ISO 8601."""
    return f"{json.dumps(data, indent=2, default=_plain)}\n"


def cluster_data(cluster: Cluster) -> dict[str, Any]:
    """Return what is said of a cluster."""
    return {
        "name": cluster.name,
        "arn": cluster.arn,
        "region": cluster.region,
        "status": cluster.status,
        "failure": cluster.failure,
        "orchestrator": cluster.orchestrator,
        "groups": [dataclasses.asdict(group) for group in cluster.groups],
    }


def node_data(node: Node) -> dict[str, Any]:
    """Return what is said of a node."""
    return {"name": node.name, **dataclasses.asdict(node)}


def cluster_line(cluster: Cluster, nodes: Sequence[Node]) -> str:
    """Return a line about a cluster and the states of its nodes."""
    counts: dict[str, int] = {}
    for node in nodes:
        counts[node.status] = counts.get(node.status, 0) + 1
    states = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "none"
    failure = "" if cluster.failure is None else f" ({cluster.failure})"
    return (
        f"{cluster.name} ({cluster.id}) in {cluster.region}, {_ORCHESTRATORS[cluster.orchestrator]}: "
        f"{cluster.status}{failure}; nodes: {states}"
    )


def node_table(cluster: Cluster, nodes: Sequence[Node], health: HealthView) -> Any:
    """Return a table of nodes; without what the orchestrator knows of them, where it could not be asked."""
    named = "in Kubernetes" if cluster.orchestrator == "eks" else "in Slurm"
    heads = ["node", "instance", "type", "status", named, "launched (UTC)"]
    known = ["health", "deep checks"] if health.unreachable is None else []
    rows = (_row(cluster, node, health)[: len(heads) + len(known)] for node in nodes)
    return table([*heads, *known], rows, whole=2)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, whole: int = 1) -> Any:
    """Return a table.

    Args:
        heads: Heads of the columns.
        rows: Cells.
        whole: How many columns, from the left, are never broken: they are copied into commands.
    """
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for number, head in enumerate(heads):
        made.add_column(head, overflow="fold", no_wrap=number < whole)
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def drawn(*parts: Any) -> str:
    """Draw tables and lines as plain text, as wide as the terminal or, in a pipe, as needed."""
    from rich.console import Console

    width = columns(sys.stdout)
    out = io.StringIO()
    console = Console(
        file=out,
        width=_PIPE_COLUMNS if width is None else max(width, _LEAST_COLUMNS),
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def fault_lines(nodes: Sequence[Node], health: HealthView) -> list[str]:
    """Return a line for each fault that the orchestrator tells of nodes."""
    return [
        f"{node.name}: {fault.text} ({fault.source})"
        for node in nodes
        if (known := health.nodes.get(node.id)) is not None
        for fault in known.faults
    ]


def health_line(health: HealthView) -> str | None:
    """Return a line where the orchestrator could not be asked; None where it answered."""
    if health.unreachable is None:
        return None
    return f"Faults and deep checks are not known: {health.source}: {health.unreachable}"


def _row(cluster: Cluster, node: Node, health: HealthView) -> list[str]:
    known = health.nodes.get(node.id)
    name = node.kubernetes_name if cluster.orchestrator == "eks" else node.slurm_name
    status = f"{node.status}: {node.message}" if node.message else node.status
    return [
        node.name,
        node.id,
        node.instance_type,
        status,
        "?" if name is None else name,
        f"{node.launched:%Y-%m-%d %H:%M}",
        "?" if known is None else known.state,
        "?" if known is None else ("-" if known.deep_checks is None else known.deep_checks),
    ]


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
