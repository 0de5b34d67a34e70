"""A drawing of a trust map: who stands on the left, the nodes on the right, and every step between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from hyperpod_policy.trust_map.draft import ADMINISTRATORS, TRAINING_NODES
from hyperpod_policy.trust_map.layout import Edge, Layout, placed
from hyperpod_policy.trust_map.model import CERTAINTIES, WORDS, Ability, Node, Step, TrustMap

_COLUMN_GAP: Final = 64.0
_ROW: Final = 18.0
_TITLE: Final = 20.0
_PADDING: Final = 10.0
_LETTER: Final = 7.1
"""Width of a letter, taken wide: fonts differ."""

_WIDE: Final = 8.0
"""The same of a bold letter."""

_LONGEST: Final = 34
_MARGIN: Final = 20.0
_LEGEND: Final = 34.0

_SHORT: Final[dict[Ability, str]] = {
    "act-as": "acts as it",
    "administer-cluster": "runs pods",
    "assume": "assumes",
    "change-access": "changes its access",
    "change-bucket": "changes its policy",
    "change-chart": "replaces",
    "change-cluster": "changes",
    "change-function": "changes",
    "change-key": "changes its policy",
    "change-permissions": "widens it",
    "change-ports": "opens",
    "change-trust": "changes its trust",
    "deploy": "deploys",
    "escalate": "becomes one",
    "feed": "feeds",
    "invoke": "invokes",
    "join-group": "joins",
    "lead-to-code": "runs code",
    "open-session": "opens shells",
    "pass": "passes",
    "reach": "reaches",
    "run-as": "runs as it",
    "take-credentials": "makes credentials",
    "unknown": "has unknown policies",
    "write-objects": "writes",
}
_CLOSED: Final[dict[Ability, str]] = {
    "change-bucket": "closed to others: its policy",
    "write-objects": "closed to others: writing",
}

STYLE: Final = """
:root.tm{color-scheme:light dark;background:Canvas;color:CanvasText}
.tm{font:12px/1 system-ui,-apple-system,"Segoe UI",sans-serif}
.tm text{fill:currentColor}
.tm .title{font-weight:600}
.tm .sub,.tm .head,.tm .legend{opacity:.72;font-size:11px}
.tm .card{fill:Canvas;stroke:currentColor;stroke-opacity:.45}
.tm .outside .card{stroke-dasharray:4 3}
.tm .target .card{stroke-width:2;stroke-opacity:.8}
.tm .edge{fill:none;stroke-width:1.5}
.tm .yes{stroke:#c2410c;stroke:light-dark(#c2410c,#fb923c)}
.tm .undetermined{stroke:#6b7280;stroke:light-dark(#6b7280,#9ca3af);stroke-dasharray:5 4}
.tm .tip-yes{fill:#c2410c;fill:light-dark(#c2410c,#fb923c)}
.tm .tip-undetermined{fill:#6b7280;fill:light-dark(#6b7280,#9ca3af)}
.tm .broad{opacity:.5}
.tm .closed{fill:#15803d;fill:light-dark(#15803d,#4ade80)}
""".strip()


@dataclass(slots=True)
class _Row:
    target: str
    steps: list[Step] = field(default_factory=list)

    @property
    def certainty(self) -> str:
        return min((step.certainty for step in self.steps), key=CERTAINTIES.index)

    @property
    def words(self) -> str:
        return ", ".join(dict.fromkeys(_SHORT[step.ability] for step in self.steps))


@dataclass(slots=True)
class _Card:
    node: Node
    rows: list[_Row]
    closed: list[str]

    @property
    def title(self) -> str:
        return self.node.role or self.node.label

    @property
    def subtitle(self) -> str:
        return self.node.label if self.node.role else ""

    @property
    def lines(self) -> list[str]:
        return [*(row.words for row in self.rows), *self.closed]

    @property
    def head(self) -> float:
        return _PADDING + _TITLE + (14.0 if self.subtitle else 0.0)

    @property
    def height(self) -> float:
        return self.head + _ROW * len(self.lines) + _PADDING / 2

    def row_y(self, position: int) -> float:
        return self.head + _ROW * position + 4.0


def svg(trust_map: TrustMap) -> str:
    """Draw a map.

    Boxes with a broken line are not made by the templates; a broken edge is a step that cannot be told from
    them. Text takes the page's colour, the colours of edges follow ``color-scheme``.

    Args:
        trust_map: The map.

    Returns:
        An ``svg`` element with its styles, to be used alone or in a page.
    """
    cards = {node.id: _card(trust_map, node) for node in trust_map.nodes.values()}
    edges = [
        Edge(card.node.id, row.target, card.row_y(position), 16.0)
        for card in cards.values()
        for position, row in enumerate(card.rows)
    ]
    heights = {name: card.height for name, card in cards.items()}
    layout = placed(heights, edges, end=TRAINING_NODES)
    lefts, widths = _places(layout, cards)
    width = max((left + wide for left, wide in zip(lefts, widths, strict=True)), default=0.0) + _MARGIN
    height = layout.height + 2 * _MARGIN + _LEGEND
    rows = [row for card in cards.values() for row in card.rows]
    inner = [
        f"<style>{STYLE}</style>",
        "<title>Who can run code on the training nodes</title>",
        f"<desc>{escape(_described(trust_map))}</desc>",
        f'<g transform="translate(0 {_MARGIN:g})">',
        *(_edge(edge, row, layout, lefts, widths, trust_map) for edge, row in zip(edges, rows, strict=True)),
        *(
            _drawn(
                card,
                lefts[layout.boxes[name].column],
                layout.boxes[name].y,
                widths[layout.boxes[name].column],
            )
            for name, card in cards.items()
        ),
        "</g>",
        *_legend(height - _LEGEND / 2),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tm" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}">' + "\n".join(inner) + "</svg>"
    )


def _card(trust_map: TrustMap, node: Node) -> _Card:
    rows: dict[str, _Row] = {}
    for step in trust_map.steps:
        if step.source == node.id and step.certainty != "no":
            rows.setdefault(step.target, _Row(step.target)).steps.append(step)
    closed = [
        _CLOSED.get(step.ability, f"closed to others: {_SHORT[step.ability]}")
        for step in trust_map.steps
        if step.target == node.id and step.certainty == "no"
    ]
    return _Card(node, list(rows.values()), closed)


def _cut(words: str) -> str:
    if len(words) <= _LONGEST:
        return words
    words = words.rpartition(":role/")[2]
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 9]}…{words[-8:]}"


def _places(layout: Layout, cards: dict[str, _Card]) -> tuple[list[float], list[float]]:
    """Return the left edge and width of each column."""
    widths = []
    for column in layout.columns:
        longest = 0.0
        for name in column:
            if name in cards:
                card = cards[name]
                longest = max(
                    longest,
                    len(_cut(card.title)) * _WIDE,
                    *(len(_cut(line)) * _LETTER for line in (card.subtitle, *card.lines)),
                )
        widths.append(longest + 2 * _PADDING)
    lefts = [0.0] * len(widths)
    left = _MARGIN
    for column_number in range(len(widths) - 1, -1, -1):
        lefts[column_number] = left
        left += widths[column_number] + _COLUMN_GAP
    return lefts, widths


def _edge(
    edge: Edge,
    row: _Row,
    layout: Layout,
    lefts: Sequence[float],
    widths: Sequence[float],
    trust_map: TrustMap,
) -> str:
    source, target = layout.boxes[edge.source], layout.boxes[edge.target]
    x, y = lefts[source.column] + widths[source.column], source.y + edge.leaves
    path = [f"M{x:.1f} {y:.1f}"]
    stops: list[tuple[float, float, float]] = [
        (lefts[box.column], box.y + box.height / 2, lefts[box.column] + widths[box.column])
        for box in (layout.boxes[name] for name in edge.through)
    ]
    end, end_y = lefts[target.column], target.y + edge.enters
    for left, stop_y, right in (*stops, (end - 6, end_y, end - 6)):
        half = (left - x) / 2
        path.append(f"C{x + half:.1f} {y:.1f} {left - half:.1f} {stop_y:.1f} {left:.1f} {stop_y:.1f}")
        if right > left:
            path.append(f"H{right:.1f}")
        x, y = right, stop_y
    said = "; ".join(
        f"{trust_map.nodes[step.source].label} {WORDS[step.ability]} {trust_map.nodes[step.target].label}"
        + (f": {', '.join(step.actions)}" if step.actions else "")
        + f" ({step.certainty})"
        for step in row.steps
    )
    tip = f"M{end:.1f} {end_y:.1f}l-8 -4v8z"
    broad = ' class="broad"' if edge.source == ADMINISTRATORS else ""
    return (
        f'<g{broad} data-source="{escape(edge.source)}" data-target="{escape(edge.target)}">'
        f"<title>{escape(said)}</title>"
        f'<path class="edge {row.certainty}" d="{"".join(path)}"/>'
        f'<path class="tip-{row.certainty}" d="{tip}"/></g>'
    )


def _drawn(card: _Card, x: float, y: float, width: float) -> str:
    node = card.node
    classes = " ".join(
        name for name, is_so in (("outside", node.outside), ("target", bool(node.effect))) if is_so
    )
    parts = [
        f'<g class="{classes}" data-node="{escape(node.id)}" transform="translate({x:.1f} {y:.1f})">',
        f"<title>{escape(_told(node))}</title>",
        f'<rect class="card" width="{width:.1f}" height="{card.height:.1f}" rx="6"/>',
        _text(card.title, 22.0, "title"),
    ]
    if card.subtitle:
        parts.append(_text(card.subtitle, 37.0, "sub"))
    for position, line in enumerate(card.lines):
        is_open = position < len(card.rows)
        parts.append(_text(line, card.row_y(position) + 4.0, "" if is_open else "closed"))
    return "".join((*parts, "</g>"))


def _text(words: str, y: float, style: str) -> str:
    return f'<text class="{style}" x="{_PADDING:g}" y="{y:.1f}">{escape(_cut(words))}</text>'


def _told(node: Node) -> str:
    return "\n".join(part for part in (node.words, node.effect, node.note) if part)


def _legend(y: float) -> Iterator[str]:
    x = _MARGIN
    for certainty, words in (
        ("yes", "the templates let it"),
        ("undetermined", "cannot be told from the templates"),
    ):
        yield f'<path class="edge {certainty}" d="M{x:.1f} {y - 4:.1f}h34"/>'
        yield f'<text class="legend" x="{x + 42:.1f}" y="{y:.1f}">{words}</text>'
        x += 70 + len(words) * _LETTER
    yield (
        f'<g class="outside"><rect class="card" x="{x:.1f}" y="{y - 11:.1f}" width="30" height="14" rx="3"/>'
        "</g>"
        f'<text class="legend" x="{x + 38:.1f}" y="{y:.1f}">not made by the templates</text>'
    )


def _described(trust_map: TrustMap) -> str:
    def count(certainty: str) -> int:
        return sum(way.certainty == certainty for way in trust_map.ways)

    names: Iterable[str] = dict.fromkeys(
        trust_map.nodes[way.principal].label for way in trust_map.ways if way.certainty == "yes"
    )
    return (
        f"{count('yes')} ways are open, {count('undetermined')} cannot be told. Open to: {', '.join(names)}."
    )
