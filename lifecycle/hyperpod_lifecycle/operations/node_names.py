"""Which nodes a user means: by instance id, name in Slurm or Kubernetes, DNS name, or group and number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.errors import OperationError

_LISTED: Final = 6


def named(nodes: Sequence[Node], wanted: Sequence[str], *, cluster: Cluster) -> list[Node]:
    """Return the nodes that a user means, in that order, each once.

    Args:
        nodes: All nodes of the cluster.
        wanted: Names.
        cluster: The cluster, for the message.

    Raises:
        OperationError: With every name that is unknown, or that several nodes have.
    """
    owners: dict[str, list[Node]] = {}
    for node in nodes:
        for name in _names(node):
            owners.setdefault(name, []).append(node)
    problems = [_problem(name, owners, nodes) for name in wanted if len(owners.get(name, ())) != 1]
    if problems:
        raise OperationError(
            "unknown_node",
            f"cluster {cluster.name} in {cluster.region}: {'; '.join(problems)}; 'hyperpod-nodes list "
            f"{cluster.name}' shows all",
        )
    return list({owners[name][0].id: owners[name][0] for name in wanted}.values())


def _names(node: Node) -> Iterator[str]:
    names = {node.id, node.name, node.kubernetes_name, node.logical_id, node.host, node.slurm_name}
    return (name for name in names if name is not None)


def _problem(name: str, owners: dict[str, list[Node]], nodes: Sequence[Node]) -> str:
    found = owners.get(name)
    members = [node.name for node in nodes if node.group == name]
    if not found and members:
        some = members if len(members) <= _LISTED else [*members[: _LISTED - 1], "...", members[-1]]
        return f"there is no node '{name}', which is a group: name nodes of it ({', '.join(some)})"
    if found:
        return f"'{name}' is {' and '.join(node.id for node in found)}, say which"
    near = get_close_matches(name, sorted(owners), n=1)
    hint = f", did you mean '{near[0]}'" if near else ""
    return f"there is no node '{name}'{hint}"
