"""Marks for the unresolved parts of a text, so that a decoder reads what stands around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_policy.values import Text, Unresolved, concatenated

Marks = Mapping[str, Unresolved]
"""What stands where each mark is."""


def marked(text: Any) -> tuple[str, Marks]:
    """Return a text with a mark for each unresolved part.

    Args:
        text: A string, or a `Text` of literal and unresolved parts.
    """
    parts = text.parts if isinstance(text, Text) else (text,)
    marks: dict[str, Unresolved] = {}
    written = ""
    for number, part in enumerate(parts):
        if isinstance(part, Unresolved):
            mark = f"<<{number}>>"
            marks[mark] = part
            written += mark
        else:
            written += str(part)
    return written, marks


def restored(value: Any, marks: Marks) -> Any:
    """Put unresolved values back into what was decoded.

    A key that holds an unresolved value is written with its text, such as ``<Issuer>:aud``.

    Args:
        value: What a marked text decodes to.
        marks: Its marks.
    """
    if isinstance(value, dict):
        return {str(restored(key, marks)): restored(item, marks) for key, item in value.items()}
    if isinstance(value, list):
        return [restored(item, marks) for item in value]
    if not isinstance(value, str):
        return value
    parts: list[Any] = [value]
    for mark, unresolved in marks.items():
        for position in range(len(parts) - 1, -1, -1):
            if isinstance(parts[position], str) and mark in parts[position]:
                before, _, after = parts[position].partition(mark)
                parts[position : position + 1] = [before, unresolved, after]
    return concatenated(parts)
