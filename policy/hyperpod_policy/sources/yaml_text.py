"""YAML as decoded values: CloudFormation's short forms written out, duplicate keys and alias bombs refused.

Importing this module imports PyYAML, which JSON never needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import yaml
from yaml import MappingNode, Node, SequenceNode

from hyperpod_policy.marks import Marks
from hyperpod_policy.sources.unusable import UnusableInputError
from hyperpod_policy.sources.yaml_values import Builder, entries_of, too_deep

_ANCHOR: Final = "&"
_UNRENDERED: Final = re.compile(r"^\s*(?:- |[\w./-]+:)?\s*\{[{%]")
"""A line that is, or whose value begins with, an expression of Helm, Jinja or their like, not in quotes."""

# The C loader is ten times as fast; PyYAML lacks it only where it was built without libyaml.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlValue(NamedTuple):
    """One document of a YAML stream.

    Attributes:
        value: Plain dicts with text as keys, lists and scalars.
        number: Its place in the stream, from 0.
        line: Where it begins, from 1.
    """

    value: Any
    number: int
    line: int


def decode_yaml(text: str, *, file: str) -> list[YamlValue]:
    """Decode a YAML stream. Documents without content are left out.

    Dates stay text, as CloudFormation and Kubernetes want them, and so do numbers in base 60 such as
    ``22:22``.

    Args:
        text: Documents, with ``---`` between them.
        file: Name of the input.

    Raises:
        UnusableInputError: If it is no YAML, gives a key twice, has a tag of another tool, is nested too
            deeply, or grows beyond measure with its aliases written out.
    """
    try:
        loader = _Loader(text)
        try:
            found = []
            number = 0
            has_anchors = _ANCHOR in text
            while loader.check_node():
                node = loader.get_node()
                value = Builder(loader, file, has_anchors=has_anchors).built(node)
                if value is not None:
                    found.append(YamlValue(value, number, node.start_mark.line + 1))
                number += 1
            return found
        finally:
            loader.dispose()
    except UnusableInputError as error:
        if "a key must be" not in str(error):  # as an expression in double braces is, read as YAML
            raise
        raise _unrendered(text, file, None) or error from None
    except yaml.MarkedYAMLError as error:
        reached = None if error.problem_mark is None else error.problem_mark.line + 1
        raise _unrendered(text, file, reached) or _no_yaml(error, text, file) from error
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", error)
        raise UnusableInputError(f"is no YAML: {reason}", file=file) from error
    except RecursionError:
        raise too_deep(file) from None


class YamlMarks(Marks):
    """Lines of one document of a YAML stream.

    The document is read again when the first is asked for. What was read takes many times the memory of
    the text, so that only the last few documents stay.

    Args:
        text: What was decoded.
        number: Place of the document in the stream, from 0.
    """

    __slots__ = ("_number", "_text")

    def __init__(self, text: str, number: int = 0) -> None:
        self._text = text
        self._number = number

    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line of a key or item, from 1, or that of the nearest one around it in the file."""
        node, known, before = _read_again(self._text, self._number)
        if node is None:
            return None
        line = node.start_mark.line
        for step in path:
            if isinstance(node, MappingNode):
                if id(node) not in known:
                    known[id(node)] = entries_of(node)
                entry = known[id(node)].get(str(step))
                if entry is None:
                    break
                line = entry[0].start_mark.line
                node = entry[1]
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line
            else:
                break
        return before + int(line) + 1


@lru_cache(maxsize=8)
def _read_again(text: str, number: int) -> tuple[Node | None, dict[int, dict[str, tuple[Node, Node]]], int]:
    """Return the nodes of a document, room for the keys of its mappings, and the lines before it."""
    start, before = (0, 0) if number == 0 else _starts(text)[number]
    try:
        return _node(text[start:], 0), {}, before
    except yaml.YAMLError:  # needs what stands before it: a %TAG directive
        return _node(text, number), {}, 0


def _node(text: str, number: int) -> Node | None:
    root: Node | None = None
    loader = _Loader(text)
    try:
        for _ in range(number + 1):
            loader.check_node()  # passes the stream's start, without which no node is read
            root = loader.get_node()
    finally:
        loader.dispose()
    return root


@lru_cache(maxsize=8)
def _starts(text: str) -> tuple[tuple[int, int], ...]:
    """Return where the content of each document of a stream begins: the character, and the line, from 0.

    With it each document is read again by itself. A stream of hundreds, as Helm renders it, would else be
    read up to each of them.
    """
    found = []
    loader = _Loader(text)
    try:
        while loader.check_node():
            mark = loader.get_node().start_mark
            start = mark.index
            while start and text[start - 1] == " ":  # the first key's indentation is that of all keys
                start -= 1
            found.append((start, mark.line))
    finally:
        loader.dispose()
    return tuple(found)


def _unrendered(text: str, file: str, reached: int | None) -> UnusableInputError | None:
    """Return what to say of a template that is no YAML before it is rendered; ``None`` if it is none."""
    for number, line in enumerate(text.splitlines()[:reached], 1):
        if ("{{" in line or "{%" in line) and _UNRENDERED.match(line):
            return UnusableInputError(
                "holds an expression of a template engine, and is no YAML yet; render it first, such as with "
                "helm template, and name the result",
                file=file,
                line=number,
            )
    return None


def _no_yaml(error: yaml.MarkedYAMLError, text: str, file: str) -> UnusableInputError:
    """Say what is wrong in the words that files of clusters get; they take a while to import."""
    from hyperpod_model.spec_files.yaml_syntax import syntax_fault

    if error.problem == "exceeded maximum nesting depth":
        return too_deep(file)
    fault = syntax_fault(error, text)
    return UnusableInputError(fault.message, file=file, line=fault.line)
