"""Draws who may reach which ports: on the left whoever is admitted, on the right the security groups."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from hyperpod_policy.reports.html.network import svg
from hyperpod_policy.reports.html.network.marks import HEIGHT as MARK
from hyperpod_policy.reports.html.network.marks import Marks, mark
from hyperpod_policy.reports.html.network.model import Admission, Group, Network, Source
from hyperpod_policy.reports.html.network.plan import badges

_LEFT: Final = 280.0
_BETWEEN: Final = 150.0
_RIGHT: Final = 360.0
_GAP: Final = 16.0
_PAD: Final = 14.0
_ROW: Final = 22.0
_MARGIN: Final = 10.0
_SOURCE: Final = 46.0
_HEAD: Final = 48.0


@dataclass(frozen=True, slots=True)
class _Target:
    group: Group
    rows: Sequence[Admission]

    @property
    def closing(self) -> str:
        return "" if self.rows else "admits nobody"

    @property
    def height(self) -> float:
        return _HEAD + _ROW * (len(self.rows) + bool(self.closing)) + 6


def ports(network: Network, marks: Marks, name: str) -> Markup:
    """Draw who reaches what.

    Args:
        network: What to draw.
        marks: Findings to show on it.
        name: Unique on the page.
    """
    targets = [
        _Target(group, [one for one in network.admissions if one.target == group.key])
        for group in network.groups
    ]
    tops = _stacked([target.height for target in targets])
    row_y: dict[Admission, float] = {}
    for target, top in zip(targets, tops, strict=True):
        for number, row in enumerate(target.rows):
            row_y[row] = top + _HEAD + _ROW * (number + 0.5) - 2
    sources = _ordered(network.sources, row_y)
    places = _settled(sources, row_y)
    right = _MARGIN + _LEFT + _BETWEEN
    low = max((top + target.height for target, top in zip(targets, tops, strict=True)), default=0.0)
    low = max([low, *(y + _SOURCE for y in places.values())])
    parts = [
        *(_edge(row, places[row.source] + _SOURCE / 2, y, right) for row, y in row_y.items()),
        *(_source(source, places[source.key]) for source in sources),
        *(_drawn(target, marks, right, top) for target, top in zip(targets, tops, strict=True)),
    ]
    return svg.drawing(
        name,
        "Who may reach which ports",
        _described(network),
        right + _RIGHT + _MARGIN,
        low + _MARGIN,
        parts,
    )


def _described(network: Network) -> str:
    return " ".join(
        f"{network.source(one.source).label} may reach {network.group(one.target).label}: {one.traffic}."
        for one in network.admissions
    )


def _stacked(heights: Sequence[float]) -> list[float]:
    tops = []
    y = _MARGIN
    for height in heights:
        tops.append(y)
        y += height + _GAP
    return tops


def _ordered(sources: Sequence[Source], row_y: dict[Admission, float]) -> list[Source]:
    """Order sources by where on the right they lead on average."""

    def middle(source: Source) -> float:
        found = [y for row, y in row_y.items() if row.source == source.key]
        return sum(found) / len(found)

    return sorted(sources, key=middle)


def _settled(sources: Sequence[Source], row_y: dict[Admission, float]) -> dict[Hashable, float]:
    """Place sources near what they lead to, in their order and without overlap."""
    found: dict[Hashable, float] = {}
    y = _MARGIN
    for source in sources:
        levels = [level for row, level in row_y.items() if row.source == source.key]
        y = max(y, sum(levels) / len(levels) - _SOURCE / 2)
        found[source.key] = y
        y += _SOURCE + _GAP
    return found


def _edge(row: Admission, from_y: float, y: float, right: float) -> Markup:
    x, end = _MARGIN + _LEFT, right - 8
    half = (end - x) / 2
    return svg.element(
        "g",
        svg.element(
            "path", d=f"M{x:g} {from_y:g}C{x + half:g} {from_y:g} {end - half:g} {y:g} {end:g} {y:g}"
        ),
        svg.element("path", d=f"M{right:g} {y:g}l-9 -4.5v9z", class_="tip"),
        class_=_style("way", row),
    )


def _style(what: str, row: Admission) -> str:
    return f"{what} {row.breadth}" if row.is_certain else f"{what} {row.breadth} unclear"


def _source(source: Source, y: float) -> Markup:
    numbers = [] if source.number is None else [source.number]
    room = _LEFT - 2 * _PAD - (24 if numbers else 0)
    parts = [
        svg.element("title", f"{source.label}: {source.detail}"),
        svg.element("rect", width=_LEFT, height=_SOURCE, rx=6, class_="card"),
        svg.text(source.label, _PAD, 20, style="strong", room=room, letter=svg.BOLD),
        svg.text(source.detail, _PAD, 36, style="sub", room=room, letter=svg.SMALL),
        *badges(numbers, _LEFT - _PAD - 4, _SOURCE / 2),
    ]
    outside = "" if numbers else " outside"
    return svg.element(
        "g", *parts, class_=f"source {source.breadth}{outside}", transform=f"translate({_MARGIN:g} {y:g})"
    )


def _drawn(target: _Target, marks: Marks, x: float, y: float) -> Markup:
    group = target.group
    room = _RIGHT - 2 * _PAD
    behind = f"in front of {', '.join(group.members)}"
    rows = [
        svg.text(
            row.traffic,
            _PAD,
            _HEAD + _ROW * (number + 0.5) + 2,
            style=_style("traffic", row),
            room=room,
        )
        for number, row in enumerate(target.rows)
    ]
    if target.closing:
        rows.append(
            svg.text(
                target.closing,
                _PAD,
                _HEAD + _ROW * (len(rows) + 0.5) + 2,
                style="closed",
                room=room,
            )
        )
    return svg.element(
        "g",
        svg.element("title", f"security group {group.number}: {group.label}, {behind}"),
        svg.element("rect", width=_RIGHT, height=target.height, rx=6, class_="card"),
        svg.text(group.label, _PAD, 20, style="strong", room=room - 24, letter=svg.BOLD),
        svg.text(behind, _PAD, 36, style="sub", room=room, letter=svg.SMALL),
        *badges([group.number], _RIGHT - _PAD - 4, 17),
        *rows,
        mark(marks.about(group.spots), _RIGHT - 6, target.height - MARK / 2),
        class_="guard",
        transform=f"translate({x:g} {y:g})",
    )
