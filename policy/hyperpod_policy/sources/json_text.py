"""JSON as decoded values, duplicate keys refused, and the line of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from hyperpod_policy.marks import Marks
from hyperpod_policy.sources.unusable import UnusableInputError

MAX_DEPTH: Final = 100
"""Levels of nesting: many times what a template has, and far from where Python gives up."""

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_HALF_CHARACTER: Final = re.compile(r"\\u[dD][89a-fA-F]")
_DECODER: Final = json.JSONDecoder()


class _DuplicateKeyError(Exception):
    """A key is given twice."""


class _Entry(NamedTuple):
    """A member of an object or an item of a list, and where in the text it and its value begin."""

    step: str | int
    start: int
    value: int


def decode_json(text: str, *, file: str) -> Any:
    """Decode JSON.

    Args:
        text: One JSON value.
        file: Name of the input.

    Raises:
        UnusableInputError: If it is no JSON, gives a key twice, or is nested too deeply.
    """
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except _DuplicateKeyError:
        raise _duplicate(text, file) from None
    except json.JSONDecodeError as error:
        raise UnusableInputError(f"is no JSON: {error.msg}", file=file, line=error.lineno) from error
    except RecursionError:
        raise _too_deep(file) from None
    except ValueError as error:
        raise UnusableInputError(f"is no JSON: {error}", file=file) from error
    if text.count("{") + text.count("[") > MAX_DEPTH and _is_deeper(found, MAX_DEPTH):
        raise _too_deep(file)
    if _HALF_CHARACTER.search(text):
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise UnusableInputError(
                "holds half of a character (\\ud800 to \\udfff without its pair); write the character out",
                file=file,
            ) from error
    return found


class JsonMarks(Marks):
    """Lines of JSON text.

    The text is read again as far as what is asked for.

    Args:
        text: What was decoded.
    """

    __slots__ = ("_known", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[int, tuple[dict[str | int, _Entry], Iterator[_Entry]]] = {}

    def __getstate__(self) -> str:
        return self._text

    def __setstate__(self, text: str) -> None:
        self._text = text
        self._known = {}

    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line of a key or item, from 1, or that of the nearest one around it in the file."""
        start = at = _after_blanks(self._text, 0)
        for step in path:
            entry = self._entry(at, step)
            if entry is None:
                break
            start, at = entry.start, entry.value
        return self._text.count("\n", 0, start) + 1

    def _entry(self, position: int, step: str | int) -> _Entry | None:
        """Return a member of the object or item of the list at a position."""
        if position not in self._known:
            self._known[position] = ({}, _entries(self._text, position))
        known, further = self._known[position]
        while step not in known:
            entry = next(further, None)
            if entry is None:
                return None
            known[entry.step] = entry
        return known[step]


def _entries(text: str, position: int) -> Iterator[_Entry]:
    """Yield what the object or list at a position of valid JSON holds; nothing for a scalar."""
    bracket = text[position : position + 1]
    if bracket not in ("{", "["):
        return
    at = _after_blanks(text, position + 1)
    number = 0
    while text[at] not in "}]":
        start = at
        step: str | int = number
        if bracket == "{":
            step, at = _DECODER.raw_decode(text, at)
            at = _after_blanks(text, _after_blanks(text, at) + 1)
        yield _Entry(step, start, at)
        _, at = _DECODER.raw_decode(text, at)
        at = _after_blanks(text, at)
        if text[at] == ",":
            at = _after_blanks(text, at + 1)
        number += 1


def _after_blanks(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return position if found is None else found.end()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateKeyError
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _duplicate(text: str, file: str) -> UnusableInputError:
    """Say where the first key stands that is given twice."""
    waiting = [_after_blanks(text, 0)]
    while waiting:
        seen: dict[str | int, int] = {}
        inner: list[int] = []
        for entry in _entries(text, waiting.pop()):
            if entry.step in seen:
                first = text.count("\n", 0, seen[entry.step]) + 1
                return UnusableInputError(
                    f"{entry.step!r} is given twice, first on line {first}; only one can hold, remove one",
                    file=file,
                    line=text.count("\n", 0, entry.start) + 1,
                )
            seen[entry.step] = entry.start
            inner.append(entry.value)
        waiting += reversed(inner)
    return UnusableInputError("a key is given twice; only one can hold, remove one", file=file)


def _too_deep(file: str) -> UnusableInputError:
    return UnusableInputError(f"is nested more than {MAX_DEPTH} levels deep, which no template is", file=file)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a value has more levels than allowed, without recursion."""
    current = [value]
    for _ in range(levels):
        current = [
            item
            for one in current
            if isinstance(one, dict | list)
            for item in (one.values() if isinstance(one, dict) else one)
            if isinstance(item, dict | list)
        ]
        if not current:
            return False
    return True
