"""YAML as decoded values: CloudFormation's short forms written out, duplicate keys and alias bombs refused.

Importing this module imports PyYAML, which JSON never needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from hyperpod_policy.marks import Marks
from hyperpod_policy.sources.json_text import MAX_DEPTH
from hyperpod_policy.sources.unusable import UnusableInputError

MAX_VALUES: Final = 300_000
"""Values with aliases written out: more than the largest template has, few enough to walk through."""

_STANDARD: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_STANDARD}merge"
_AS_WRITTEN: Final = frozenset(f"{_STANDARD}{kind}" for kind in ("str", "timestamp", "binary", "value"))
_COLLECTIONS: Final = frozenset(f"{_STANDARD}{kind}" for kind in ("map", "seq", "set", "omap", "pairs"))
_SHORT_FORM: Final = re.compile(r"!([A-Z][A-Za-z0-9]*)")
_WITHOUT_PREFIX: Final = frozenset({"Ref", "Condition"})
_NUMBER_IN_BASE_60: Final = ":"

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
            while loader.check_node():
                node = loader.get_node()
                value = _Builder(loader, file).built(node)
                if value is not None:
                    found.append(YamlValue(value, number, node.start_mark.line + 1))
                number += 1
            return found
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise _no_yaml(error, text, file) from error
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", error)
        raise UnusableInputError(f"is no YAML: {reason}", file=file) from error
    except RecursionError:
        raise _too_deep(file) from None


class YamlMarks(Marks):
    """Lines of one document of a YAML stream. The stream is read again when the first is asked for.

    Args:
        text: What was decoded.
        number: Place of the document in the stream, from 0.
    """

    __slots__ = ("_entries", "_number", "_root", "_text")

    def __init__(self, text: str, number: int = 0) -> None:
        self._text = text
        self._number = number
        self._forget()

    def __getstate__(self) -> tuple[str, int]:
        return self._text, self._number

    def __setstate__(self, state: tuple[str, int]) -> None:
        self._text, self._number = state
        self._forget()

    def _forget(self) -> None:
        self._root: Node | None = None
        self._entries: dict[int, dict[str, tuple[Node, Node]]] = {}

    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line of a key or item, from 1, or that of the nearest one around it in the file."""
        if self._root is None:
            loader = _Loader(self._text)
            try:
                for _ in range(self._number + 1):
                    loader.check_node()  # passes the stream's start, without which no node is read
                    self._root = loader.get_node()
            finally:
                loader.dispose()
        node = self._root
        if node is None:
            return None
        line = node.start_mark.line
        for step in path:
            if isinstance(node, MappingNode):
                if id(node) not in self._entries:
                    self._entries[id(node)] = entries_of(node)
                entry = self._entries[id(node)].get(str(step))
                if entry is None:
                    break
                line = entry[0].start_mark.line
                node = entry[1]
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line
            else:
                break
        return int(line) + 1


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


class _Builder:
    """Makes plain values of one document's nodes. A node with several aliases becomes one shared value."""

    def __init__(self, loader: Any, file: str) -> None:
        self._loader = loader
        self._file = file
        self._built: dict[int, Any] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._open: set[int] = set()

    def built(self, root: Node) -> Any:
        value = self._build(root)
        count, levels = self._sizes[id(root)]
        if levels > MAX_DEPTH:
            raise _too_deep(self._file)
        if count > MAX_VALUES:
            raise UnusableInputError(
                f"holds {count} values with its aliases written out, at most {MAX_VALUES} are read; "
                "remove aliases of aliases",
                file=self._file,
            )
        return value

    def _build(self, node: Node) -> Any:
        key = id(node)
        if key in self._built:
            return self._built[key]
        if key in self._open:
            raise self._refusal(node, "an alias refers to what holds it; write the value out")
        if len(self._open) > MAX_DEPTH:
            raise _too_deep(self._file)
        self._open.add(key)
        inner: list[Node] = []
        value: Any
        if isinstance(node, MappingNode):
            self._refuse_wrong_keys(node)
            entries = entries_of(node)
            inner = [entry[1] for entry in entries.values()]
            value = {name: self._build(entry[1]) for name, entry in entries.items()}
        elif isinstance(node, SequenceNode):
            inner = node.value
            value = [self._build(item) for item in inner]
        elif isinstance(node, ScalarNode):
            value = self._scalar(node)
        else:
            raise self._foreign(node)
        self._open.discard(key)
        if node.tag.startswith("!") and node.tag != "!":
            value = self._written_out(node, value)
        elif not isinstance(node, ScalarNode) and node.tag not in _COLLECTIONS:
            raise self._foreign(node)
        sizes = [self._sizes[id(item)] for item in inner]
        self._sizes[key] = (
            1 + sum(count for count, _ in sizes),
            1 + max((levels for _, levels in sizes), default=0),
        )
        self._built[key] = value
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
        except (KeyError, ValueError) as error:
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


def _too_deep(file: str) -> UnusableInputError:
    return UnusableInputError(f"is nested more than {MAX_DEPTH} levels deep, which no template is", file=file)


def _no_yaml(error: yaml.MarkedYAMLError, text: str, file: str) -> UnusableInputError:
    """Say what is wrong in the words that files of clusters get; they take a while to import."""
    from hyperpod_model.spec_files.yaml_syntax import syntax_fault

    if error.problem == "exceeded maximum nesting depth":
        return _too_deep(file)
    fault = syntax_fault(error, text)
    return UnusableInputError(fault.message, file=file, line=fault.line)
