"""Reads a page of HTML as a browser would, without one."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser
from typing import NamedTuple

_VOID = {"meta", "link", "input", "br", "img"}


class Element(NamedTuple):
    """An element with its attributes, and the names of those around it."""

    name: str
    attributes: dict[str, str]
    around: tuple[str, ...]


class Page(HTMLParser):
    """All elements and texts of a page, in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.inner: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        found = {name: "" if value is None else value for name, value in attrs}
        self.elements.append(Element(tag, found, tuple(self._open)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open[-1] == tag, (tag, self._open)
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.inner.append((self._open[-1] if self._open else "", data))

    @property
    def text(self) -> str:
        """What there is to read, with single blanks."""
        said = " ".join(data for name, data in self.inner if name not in ("style", "script"))
        return " ".join(said.split())

    def named(self, name: str) -> list[Element]:
        return [element for element in self.elements if element.name == name]

    def with_class(self, name: str) -> list[Element]:
        return [element for element in self.elements if name in element.attributes.get("class", "").split()]

    def contents(self, name: str) -> list[str]:
        """What stands in each element of a name that holds text only."""
        return [data for inside, data in self.inner if inside == name]


def policy_hash(text: str) -> str:
    """How a content security policy names a style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
