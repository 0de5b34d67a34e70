"""Ways over the steps of a map, from principals to what leads to code."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import Final

from hyperpod_policy.trust_map.draft import ADMINISTRATORS, TRAINING_NODES
from hyperpod_policy.trust_map.model import CERTAINTIES, Node, Step, Way

_RANK: Final = {certainty: position for position, certainty in enumerate(CERTAINTIES)}


def ways_over(nodes: Mapping[str, Node], steps: Iterable[Step]) -> tuple[Way, ...]:
    """Return, for each principal and each of its first steps, the best way to each target it leads to.

    The best is the one whose least certain step is surest, and of those the shortest.
    """
    leaving: dict[str, list[Step]] = {}
    for step in steps:
        leaving.setdefault(step.source, []).append(step)
    found: list[Way] = []
    for node in nodes.values():
        if node.is_principal:
            for first in leaving.get(node.id, ()):
                found += _ways_from(node.id, first, nodes, leaving)
    found.sort(key=lambda way: (_RANK[way.certainty], _position(nodes, way.principal), len(way.steps)))
    return tuple(found)


def _position(nodes: Mapping[str, Node], principal: str) -> tuple[bool, str]:
    return nodes[principal].outside, principal


def _is_target(node: Node) -> bool:
    return bool(node.effect) or node.id in (TRAINING_NODES, ADMINISTRATORS)


def _ways_from(
    principal: str, first: Step, nodes: Mapping[str, Node], leaving: Mapping[str, list[Step]]
) -> list[Way]:
    if first.certainty == "no":
        return [Way(principal, first.target, "no", (first,))]
    best: dict[str, Way] = {}
    queue: list[tuple[int, int, int, tuple[Step, ...]]] = [(_RANK[first.certainty], 1, 0, (first,))]
    settled: set[str] = {principal}
    count = 0
    while queue:
        rank, length, _, path = heapq.heappop(queue)
        here = path[-1].target
        if here in settled:
            continue
        settled.add(here)
        if _is_target(nodes[here]):
            best[here] = Way(principal, here, CERTAINTIES[rank], path)
            continue
        for step in leaving.get(here, ()):
            if step.certainty != "no" and step.target not in settled:
                count += 1
                heapq.heappush(queue, (max(rank, _RANK[step.certainty]), length + 1, count, (*path, step)))
    return list(best.values())
