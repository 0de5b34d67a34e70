"""Reads boxes, texts and arrows of a drawn network back from its SVG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_PLACE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")


class Box(NamedTuple):
    """A rectangle on the page."""

    kind: str
    x: float
    y: float
    width: float
    height: float

    def holds(self, other: Box) -> bool:
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.x + other.width <= self.x + self.width
            and other.y + other.height <= self.y + self.height
        )

    def overlaps(self, other: Box) -> bool:
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


class Drawing:
    """A drawing, by what there is in it."""

    def __init__(self, svg: str) -> None:
        self.root = ElementTree.fromstring(svg)
        self.boxes = list(self._boxes(self.root, 0.0, 0.0))
        self.width, self.height = (float(self.root.get(name, 0)) for name in ("width", "height"))

    def _boxes(self, element: ElementTree.Element, x: float, y: float) -> Iterator[Box]:
        match = _PLACE.fullmatch(element.get("transform", ""))
        if match:
            x, y = x + float(match[1]), y + float(match[2])
        for child in element:
            if child.tag == f"{_SVG}rect":
                sizes = (float(child.get(name, 0)) for name in ("x", "y", "width", "height"))
                left, top, width, height = sizes
                yield Box(child.get("class", ""), x + left, y + top, width, height)
            yield from self._boxes(child, x, y)

    def of(self, kind: str) -> list[Box]:
        """The boxes of a class."""
        return [box for box in self.boxes if kind in box.kind.split()]

    def texts(self, style: str | None = None) -> list[str]:
        """What is written, all or what has a class."""
        return [
            "".join(text.itertext())
            for text in self.root.iter(f"{_SVG}text")
            if style is None or style in text.get("class", "").split()
        ]

    def classes(self, name: str) -> list[set[str]]:
        """Classes of the groups that have one of them."""
        found = [set(group.get("class", "").split()) for group in self.root.iter(f"{_SVG}g")]
        return [classes for classes in found if name in classes]

    @property
    def described(self) -> str:
        """The description for those who do not see it."""
        found = self.root.find(f"{_SVG}desc")
        assert found is not None
        return found.text or ""
