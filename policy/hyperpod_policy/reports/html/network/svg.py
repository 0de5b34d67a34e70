"""Writes SVG. Everything that comes from a template is escaped here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup, escape

from hyperpod_policy.reports.printable import printable

LETTER: Final = 7.0
"""Width of a letter of 12 pixels, taken wide: fonts differ."""

BOLD: Final = 7.7
SMALL: Final = 6.3
"""Of 11 pixels."""

SMALL_BOLD: Final = 7.0


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Write an element.

    Args:
        name: Such as ``rect``.
        children: What stands in it, in order; text is escaped, elements stay.
        attributes: By name, with ``_`` for ``-`` and a trailing one taken off; ``None`` for none.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_written(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(child if isinstance(child, Markup) else escape(printable(child)) for child in children)
    return Markup(f"<{name}{said}>{inner}</{name}>")


def text(words: str, x: float, y: float, *, style: str = "", room: float, letter: float = LETTER) -> Markup:
    """Write a line of text, cut in its middle where there is no room for all of it.

    Args:
        words: What to write.
        x: Where it begins.
        y: Its base line.
        style: Class. By default none.
        room: Width there is.
        letter: Width of a letter.
    """
    shown = cut(words, int(room / letter))
    children = [Markup(escape(printable(shown)))]
    if shown != words:
        children.insert(0, element("title", words))
    return element("text", *children, x=x, y=y, class_=style if style else None)


def cut(words: str, letters: int) -> str:
    """Cut words in their middle to a number of letters."""
    if len(words) <= letters:
        return words
    end = max(letters // 3, 1)
    return f"{words[: letters - end - 1]}…{words[-end:]}"


def drawing(
    name: str, title: str, description: str, width: float, height: float, parts: Iterable[str]
) -> Markup:
    """Put a drawing together.

    Args:
        name: Unique on the page.
        title: What it shows.
        description: The same in a sentence or two, for those who do not see it.
        width: In pixels.
        height: In pixels.
        parts: Its elements.
    """
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="nw",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )


def _written(value: str | float) -> str:
    return printable(value) if isinstance(value, str) else f"{value:g}"
