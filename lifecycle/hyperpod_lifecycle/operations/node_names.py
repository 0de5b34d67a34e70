"""Which nodes a user means: by instance id, name in Slurm or Kubernetes, DNS name, or group and number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.errors import OperationError

INSTANCE_ID: Final = re.compile(r"i-[0-9a-f]{8}(?:[0-9a-f]{9})?")

_LISTED: Final = 6
_NUMBERED: Final = re.compile(r"(.+)-[0-9]+")
_DIGITS: Final = re.compile(r"[0-9]+")


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
    problems = [_problem(name, owners, nodes, cluster) for name in wanted if len(owners.get(name, ())) != 1]
    if problems:
        raise OperationError(
            "unknown_node",
            f"cluster {cluster.name} in {cluster.region}: {'; '.join(problems)}; 'hyperpod-nodes list "
            f"{cluster.name} {cluster.where}' shows all",
        )
    return list({owners[name][0].id: owners[name][0] for name in wanted}.values())


def _names(node: Node) -> Iterator[str]:
    names = {node.id, node.name, node.kubernetes_name, node.logical_id, node.host, node.slurm_name}
    return (name for name in names if name is not None)


def _problem(name: str, owners: dict[str, list[Node]], nodes: Sequence[Node], cluster: Cluster) -> str:
    found = owners.get(name)
    members = [node.name for node in nodes if node.group == name]
    if not found and members:
        some = members if len(members) <= _LISTED else [*members[: _LISTED - 1], "...", members[-1]]
        return f"there is no node '{name}', which is a group: name nodes of it ({', '.join(some)})"
    if found:
        return f"'{name}' is {' and '.join(node.id for node in found)}, say which"
    if INSTANCE_ID.fullmatch(name):
        logged = f"hyperpod-nodes logs {cluster.name} {name} {cluster.where}"
        return (
            f"there is no node '{name}': it was replaced or taken away, or is of another cluster (what it "
            f"logged: '{logged}')"
        )
    numbered = _NUMBERED.fullmatch(name)
    count = 0 if numbered is None else sum(node.group == numbered[1] for node in nodes)
    if numbered is not None and count:
        return f"there is no node '{name}': group {numbered[1]} has {count} nodes"
    # Whoever takes a hint that differs in a number repairs another node.
    numbers = _DIGITS.findall(name)
    alike = sorted(owner for owner in owners if _DIGITS.findall(owner) == numbers)
    near = get_close_matches(name, alike, n=1)
    hint = f", did you mean '{near[0]}'" if near else ""
    return f"there is no node '{name}'{hint}"
