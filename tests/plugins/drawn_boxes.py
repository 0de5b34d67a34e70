"""Reads the boxes, texts and edges of a drawing back from its SVG."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_PLACE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")
_LETTER = 6.9
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")


class Card(NamedTuple):
    """A box with its place on the page and the texts in it."""

    node: str
    x: float
    y: float
    width: float
    height: float
    texts: list[tuple[str, float]]


def cards_in(drawing: str) -> list[Card]:
    """Every card of a drawing."""
    found = []
    for group in ElementTree.fromstring(drawing).iter(f"{_SVG}g"):
        node = group.get("data-node")
        match = _PLACE.fullmatch(group.get("transform", ""))
        rect = group.find(f"{_SVG}rect")
        if node is None or match is None or rect is None:
            continue
        texts = [(text.text or "", float(text.get("y", 0))) for text in group.findall(f"{_SVG}text")]
        found.append(
            Card(
                node,
                float(match[1]),
                float(match[2]),
                float(rect.get("width", 0)),
                float(rect.get("height", 0)),
                texts,
            )
        )
    return found


def overlapping(drawing: str) -> list[tuple[str, str]]:
    """Pairs of cards that overlap."""
    cards = cards_in(drawing)
    return [
        (one.node, other.node)
        for position, one in enumerate(cards)
        for other in cards[position + 1 :]
        if one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    ]


def too_long_texts(drawing: str) -> list[str]:
    """Texts that leave their card, or lie on another of it."""
    found = []
    for card in cards_in(drawing):
        heights = [y for _, y in card.texts]
        if any(below - above < 11 for above, below in pairwise(heights)):
            found.append(card.node)
        for text, y in card.texts:
            if len(text) * _LETTER + 10 > card.width or y > card.height - 2:
                found.append(text)
    return found


def passing_edges(drawing: str) -> list[tuple[str, str]]:
    """Level stretches of edges that run over a card that they neither leave nor enter."""
    cards = cards_in(drawing)
    found = []
    for group in ElementTree.fromstring(drawing).iter(f"{_SVG}g"):
        source, target = group.get("data-source"), group.get("data-target")
        if source is None or target is None:
            continue
        path = group.find(f"{_SVG}path")
        assert path is not None
        for first, last, y in _level(path.get("d", "")):
            found += [
                (f"{source} to {target}", card.node)
                for card in cards
                if card.x < last and first < card.x + card.width and card.y < y < card.y + card.height
            ]
    return found


def _level(path: str) -> list[tuple[float, float, float]]:
    """The stretches of a path that are drawn with ``H``: where each begins and ends, and how high."""
    found = []
    x = y = 0.0
    for part in re.findall(r"[MCH][^MCH]*", path):
        numbers = [float(number) for number in _NUMBERS.findall(part)]
        if part[0] == "H":
            found.append((x, numbers[0], y))
            x = numbers[0]
        else:
            x, y = numbers[-2:]
    return found
