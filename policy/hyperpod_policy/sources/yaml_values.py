"""Plain values of YAML nodes: short forms written out, wrong keys and alias bombs refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from hyperpod_policy.sources.json_text import MAX_DEPTH
from hyperpod_policy.sources.unusable import UnusableInputError

MAX_VALUES: Final = 300_000
"""Values with aliases written out: more than the largest template has, few enough to walk through."""

_STANDARD: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_STANDARD}merge"
_TEXT: Final = f"{_STANDARD}str"
_AS_WRITTEN: Final = frozenset(f"{_STANDARD}{kind}" for kind in ("str", "timestamp", "binary", "value"))
_COLLECTIONS: Final = frozenset(f"{_STANDARD}{kind}" for kind in ("map", "seq", "set", "omap", "pairs"))
_SHORT_FORM: Final = re.compile(r"!([A-Z][A-Za-z0-9]*)")
_WITHOUT_PREFIX: Final = frozenset({"Ref", "Condition"})
_NUMBER_IN_BASE_60: Final = ":"


def entries_of(node: MappingNode) -> dict[str, tuple[Node, Node]]:
    """Return the own keys of a mapping, and those that it merges in with ``<<`` and does not have itself."""
    found: dict[str, tuple[Node, Node]] = {}
    for mapping in _merged(node, set()):
        for key, value in mapping.value:
            if isinstance(key, ScalarNode) and key.tag != _MERGE:
                found.setdefault(key.value, (key, value))
    return found


def _merged(node: Node, seen: set[int]) -> Iterator[MappingNode]:
    if isinstance(node, MappingNode) and id(node) not in seen:
        seen.add(id(node))
        yield node
        for key, value in node.value:
            if key.tag == _MERGE:
                for source in value.value if isinstance(value, SequenceNode) else [value]:
                    yield from _merged(source, seen)


class Builder:
    """Makes plain values of one document's nodes. A node with several aliases becomes one shared value.

    Args:
        loader: Knows how scalars are read.
        file: Name of the input.
        has_anchors: Whether the text may have any. Without them nothing is shared and no value is larger than
            its text, so that nothing need be remembered.
    """

    def __init__(self, loader: Any, file: str, *, has_anchors: bool) -> None:
        self._loader = loader
        self._file = file
        self._has_anchors = has_anchors
        self._built: dict[int, Any] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._open: set[int] = set()

    def built(self, root: Node) -> Any:
        """Return the value of a document.

        Args:
            root: Its outermost node.

        Raises:
            UnusableInputError: If it has no plain value within limits.
        """
        if not self._has_anchors:
            return self._value(root, 0)
        value = self._build(root)
        count, levels = self._sizes[id(root)]
        if levels > MAX_DEPTH:
            raise too_deep(self._file)
        if count > MAX_VALUES:
            raise UnusableInputError(
                f"holds {count} values with its aliases written out, at most {MAX_VALUES} are read; "
                "remove aliases of aliases",
                file=self._file,
            )
        return value

    def _value(self, node: Node, depth: int) -> Any:
        """Return the value of a node in a text without anchors."""
        if depth >= MAX_DEPTH:
            raise too_deep(self._file)
        value: Any
        if isinstance(node, ScalarNode):
            value = node.value if node.tag == _TEXT else self._scalar(node)
        elif isinstance(node, MappingNode):
            self._refuse_wrong_keys(node)
            inner = depth + 1
            value = {name: self._value(entry[1], inner) for name, entry in entries_of(node).items()}
        else:
            inner = depth + 1
            value = [self._value(item, inner) for item in self._items(node)]
        return self._tagged(node, value)

    def _build(self, node: Node) -> Any:
        key = id(node)
        if key in self._built:
            return self._built[key]
        if key in self._open:
            raise self._refusal(node, "an alias refers to what holds it; write the value out")
        if len(self._open) > MAX_DEPTH:
            raise too_deep(self._file)
        self._open.add(key)
        inner: list[Node] = []
        value: Any
        if isinstance(node, MappingNode):
            self._refuse_wrong_keys(node)
            entries = entries_of(node)
            inner = [entry[1] for entry in entries.values()]
            value = {name: self._build(entry[1]) for name, entry in entries.items()}
        elif isinstance(node, ScalarNode):
            value = self._scalar(node)
        else:
            inner = self._items(node)
            value = [self._build(item) for item in inner]
        self._open.discard(key)
        value = self._tagged(node, value)
        sizes = [self._sizes[id(item)] for item in inner]
        self._sizes[key] = (
            1 + sum(count for count, _ in sizes),
            1 + max((levels for _, levels in sizes), default=0),
        )
        self._built[key] = value
        return value

    def _items(self, node: Node) -> list[Node]:
        if not isinstance(node, SequenceNode):
            raise self._foreign(node)
        items: list[Node] = node.value
        return items

    def _tagged(self, node: Node, value: Any) -> Any:
        """Return a value with the long form of its tag, if it has one of CloudFormation's."""
        if node.tag.startswith("!") and node.tag != "!":
            return self._written_out(node, value)
        if not isinstance(node, ScalarNode) and node.tag not in _COLLECTIONS:
            raise self._foreign(node)
        return value

    def _written_out(self, node: Node, value: Any) -> dict[str, Any]:
        """Return the long form of ``!Sub`` and its kind."""
        short = _SHORT_FORM.fullmatch(node.tag)
        if short is None:
            raise self._foreign(node)
        name = short[1]
        if name == "GetAtt" and isinstance(value, str):
            value = value.split(".", 1)
        return {name if name in _WITHOUT_PREFIX else f"Fn::{name}": value}

    def _scalar(self, node: ScalarNode) -> Any:
        tag, text = node.tag, str(node.value)
        if tag in _AS_WRITTEN or not tag.startswith(_STANDARD):
            return text
        kind = tag.removeprefix(_STANDARD)
        try:
            if kind == "null":
                return None
            if kind == "bool":
                return self._loader.bool_values[text.lower()]
            if kind in ("int", "float"):
                if _NUMBER_IN_BASE_60 in text:
                    return text
                return self._number(kind, node)
        except (LookupError, ValueError) as error:
            raise self._refusal(node, f"{text[:40]!r} is no {kind}; put text in quotes") from error
        if tag == _MERGE:
            return text
        raise self._foreign(node)

    def _number(self, kind: str, node: ScalarNode) -> Any:
        if kind == "int":
            return self._loader.construct_yaml_int(node)
        number = self._loader.construct_yaml_float(node)
        # No JSON has infinity or not-a-number, so no service can take one.
        return number if abs(number) < float("inf") else node.value

    def _refuse_wrong_keys(self, node: MappingNode) -> None:
        first: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.tag == _MERGE:
                sources = value.value if isinstance(value, SequenceNode) else [value]
                if not all(isinstance(source, MappingNode) for source in sources):
                    raise self._refusal(
                        key, "'<<' merges mappings only; give it an alias of one, or a list of such"
                    )
                continue
            if not isinstance(key, ScalarNode):
                raise self._refusal(key, "a key must be plain text; put what stands in brackets in quotes")
            if key.value in first:
                raise self._refusal(
                    key,
                    f"{key.value!r} is given twice, first on line {first[key.value]}; only one can hold, "
                    "remove one",
                )
            first[key.value] = line

    def _foreign(self, node: Node) -> UnusableInputError:
        tag = node.tag.replace(_STANDARD, "!!")
        return self._refusal(node, f"{tag!r} is a tag of another tool; write the value itself")

    def _refusal(self, node: Node, problem: str) -> UnusableInputError:
        return UnusableInputError(problem, file=self._file, line=node.start_mark.line + 1)


def too_deep(file: str) -> UnusableInputError:
    """Refuse a value that is nested too deeply."""
    return UnusableInputError(f"is nested more than {MAX_DEPTH} levels deep, which no template is", file=file)
