"""Places the nodes of a map in columns, so that steps lead from left to right and boxes never overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

GAP: Final = 18.0
"""Between two boxes of a column, in pixels."""

_ROUNDS: Final = 12


@dataclass(slots=True)
class Box:
    """Something with a place in a column: a card, or where an edge passes a column.

    Attributes:
        name: Unique.
        height: In pixels.
        column: 0 is the rightmost.
        y: Its top.
    """

    name: str
    height: float
    column: int = 0
    y: float = 0.0


@dataclass(slots=True)
class Edge:
    """From one box to another further right.

    Attributes:
        source: Name of the box it leaves.
        target: Name of the box it enters.
        leaves: How far below the top of the source it leaves.
        enters: How far below the top of the target it enters.
        through: Names of the boxes that it passes in the columns between, from left to right.
    """

    source: str
    target: str
    leaves: float
    enters: float
    through: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes with their places, edges with the boxes that they pass.

    Attributes:
        boxes: By name.
        columns: Names of the boxes of each column, from the top; the first column is the rightmost.
    """

    boxes: Mapping[str, Box]
    columns: Sequence[Sequence[str]]

    @property
    def height(self) -> float:
        """The lowest end of a box."""
        return max((box.y + box.height for box in self.boxes.values()), default=0.0)


def placed(
    heights: Mapping[str, float], edges: Sequence[Edge], *, end: str | None = None, passing: float = 8.0
) -> Layout:
    """Place boxes by the longest way from each to the end, near what they are joined with.

    Args:
        heights: Height of each box, by name.
        edges: Which boxes are joined; a cycle is cut where it is met first.
        end: The box that has the rightmost column to itself. By default none has.
        passing: Height of the room that an edge has where it passes a column.
    """
    boxes = {name: Box(name, height) for name, height in heights.items()}
    for name, number in _columns(heights, edges).items():
        boxes[name].column = number if name == end or end not in heights else max(number, 1)
    for number, edge in enumerate(edges):
        first, last = boxes[edge.source].column, boxes[edge.target].column
        for passed in range(first - 1, last, -1):
            name = f"pass {number} {passed}"
            boxes[name] = Box(name, passing, passed)
            edge.through.append(name)
    columns: list[list[str]] = [[] for _ in range(max((box.column for box in boxes.values()), default=0) + 1)]
    for box in boxes.values():
        columns[box.column].append(box.name)
    links = _links(edges)
    for column in columns:
        _stack(boxes, column)
    for turn in range(_ROUNDS):
        for column in columns if turn % 2 == 0 else reversed(columns):
            column.sort(key=lambda name: _wanted(boxes, links, name) + boxes[name].height / 2)
            _stack(boxes, column)
    for _ in range(_ROUNDS):
        for column in (*columns, *reversed(columns)):
            _settle(boxes, column, links)
    top = min((box.y for box in boxes.values()), default=0.0)
    for box in boxes.values():
        box.y -= top
    return Layout(boxes, columns)


def _columns(names: Mapping[str, float], edges: Sequence[Edge]) -> dict[str, int]:
    leaving: dict[str, list[str]] = {}
    for edge in edges:
        leaving.setdefault(edge.source, []).append(edge.target)
    found: dict[str, int] = {}
    open_names: set[str] = set()

    def column(name: str) -> int:
        if name not in found:
            open_names.add(name)
            nexts = [column(target) for target in leaving.get(name, ()) if target not in open_names]
            open_names.discard(name)
            found[name] = max(nexts, default=-1) + 1
        return found[name]

    for name in names:
        column(name)
    return found


def _links(edges: Sequence[Edge]) -> dict[str, list[tuple[str, float, float]]]:
    """For each box: what it is joined with, with how far below each top the two ends are."""
    found: dict[str, list[tuple[str, float, float]]] = {}
    for edge in edges:
        stops = [
            (edge.source, edge.leaves),
            *((name, 4.0) for name in edge.through),
            (edge.target, edge.enters),
        ]
        for (one, here), (other, there) in pairwise(stops):
            found.setdefault(one, []).append((other, here, there))
            found.setdefault(other, []).append((one, there, here))
    return found


def _wanted(
    boxes: Mapping[str, Box], links: Mapping[str, list[tuple[str, float, float]]], name: str
) -> float:
    """Where the top of a box would be if its edges were level on average."""
    joined = links.get(name, ())
    if not joined:
        return boxes[name].y
    return sum(boxes[other].y + there - here for other, here, there in joined) / len(joined)


def _stack(boxes: Mapping[str, Box], column: Sequence[str]) -> None:
    y = 0.0
    for name in column:
        boxes[name].y = y
        y += boxes[name].height + GAP


def _settle(
    boxes: Mapping[str, Box], column: Sequence[str], links: Mapping[str, list[tuple[str, float, float]]]
) -> None:
    """Move the boxes of a column to where they want to be, in their order and without overlap."""
    groups: list[tuple[list[str], float, float]] = []  # names, wanted top of the group, height
    for name in column:
        group = ([name], _wanted(boxes, links, name), boxes[name].height)
        while groups and groups[-1][1] + groups[-1][2] + GAP > group[1]:
            names, top, height = groups.pop()
            together = [*names, *group[0]]
            offset = height + GAP
            weight, more = len(names), len(group[0])
            wanted = (top * weight + (group[1] - offset) * more) / (weight + more)
            group = (together, wanted, offset + group[2])
        groups.append(group)
    for names, top, _ in groups:
        for name in names:
            boxes[name].y = top
            top += boxes[name].height + GAP
