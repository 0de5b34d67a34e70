"""YAML (and with it JSON) files that remember on which line each value stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from hyperpod_model.faults import Fault, FaultPath
from hyperpod_model.spec_files.yaml_syntax import syntax_fault, text_of

_MERGE_TAG = "tag:yaml.org,2002:merge"
_STRING_TAG = "tag:yaml.org,2002:str"
_READ_AS = {
    "bool": "a boolean",
    "int": "a number",
    "float": "a number",
    "timestamp": "a date",
    "null": "nothing",
}
_COLLECTION_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")

_MOST_VALUES = 100_000
"""Far above any specification, and few enough for whoever walks them."""

# The C loader is ten times as fast; PyYAML lacks it only where it was built without libyaml.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Entries: TypeAlias = dict[str, tuple[Node, Node]]


class YamlDocument:
    """One YAML document: its data, its faults, and the line of every value.

    Args:
        content: The file as bytes, in UTF-8 or, with a byte order mark, UTF-16.
        subject: What a file describes, for messages. By default ``cluster``.

    Attributes:
        data: Plain dicts, lists and scalars. None if the file is empty, too large or cannot be read as YAML.
        faults: What is wrong with the file as YAML: syntax, duplicate keys, tags, values that no date is,
            more values than anybody could walk through.
        unread: Paths of the values that could not be read, each with its fault. They are None in ``data``.
    """

    def __init__(self, content: bytes, *, subject: str = "cluster") -> None:
        self.faults: list[Fault] = []
        self.data: Any = None
        self.unread: set[FaultPath] = set()
        self._root: Node | None = None
        self._built: dict[int, Any] = {}
        self._open: set[int] = set()
        self._loader: Any = None
        text = text_of(content)
        if isinstance(text, Fault):
            self.faults.append(text)
            return
        try:
            self._loader = _Loader(text)
            self._root = self._loader.get_single_node()
        except yaml.MarkedYAMLError as error:
            self.faults.append(syntax_fault(error, text, subject=subject))
            return
        if self._root is None:
            return
        self.data = self._build(self._root, ())
        if (values := _count(self.data, {})) > _MOST_VALUES:
            message = (
                f"holds {values} values with its aliases written out, more than the {_MOST_VALUES} that any "
                f"{subject} needs; remove aliases of aliases"
            )
            self.faults.append(Fault((), message, line=1))
            self.data = None

    def line(self, path: FaultPath) -> int | None:
        """Line, from 1, of the key or item at a path, else of the nearest one above that is in the file."""
        node = self._root
        if node is None:
            return None
        line = node.start_mark.line
        for step in path:
            if isinstance(node, MappingNode):
                entry = self._entries(node).get(str(step))
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

    def written(self, path: FaultPath) -> str | None:
        """Text of the scalar at a path as it stands in the file, such as ``0123`` for the number 83."""
        node = self._root
        for step in path:
            if isinstance(node, MappingNode):
                entry = self._entries(node).get(str(step))
                node = None if entry is None else entry[1]
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
            else:
                return None
        return str(node.value) if isinstance(node, ScalarNode) else None

    def _build(self, node: Node, path: FaultPath) -> Any:
        # An alias shares its node: built once, so that nested aliases cannot blow the file up here.
        if id(node) in self._built:
            return self._built[id(node)]
        if id(node) in self._open:
            message = "an alias refers to what holds it; write the value out"
            self.faults.append(Fault(path, message, line=self.line(path)))
            self.unread.add(path)
            return None
        if not isinstance(node, ScalarNode) and node.tag not in _COLLECTION_TAGS:
            self._unread(node, path, _foreign_tag(node.tag))
            return None
        self._open.add(id(node))
        built: Any
        if isinstance(node, MappingNode):
            self._refuse_duplicates(node, path)
            built = {key: self._build(entry[1], (*path, key)) for key, entry in self._entries(node).items()}
        elif isinstance(node, SequenceNode):
            built = [self._build(item, (*path, index)) for index, item in enumerate(node.value)]
        else:
            built = self._scalar(node, path)
        self._open.discard(id(node))
        self._built[id(node)] = built
        return built

    def _scalar(self, node: Node, path: FaultPath) -> Any:
        try:
            return self._loader.construct_object(node)
        except yaml.constructor.ConstructorError:
            self._unread(node, path, _foreign_tag(node.tag))
        except ValueError as error:
            message = f"{node.value!r} is read as a date or number and is none: {error}; put it in quotes"
            self._unread(node, path, message)
        return None

    def _entries(self, node: MappingNode) -> Entries:
        """Own keys of a mapping, and keys that it merges in with ``<<`` and does not have itself.

        Keys that are no text are left out: they have been reported, and no field has such a name.
        """
        entries: Entries = {}
        for mapping in self._merged(node, seen=set()):
            for key_node, value_node in mapping.value:
                if key_node.tag == _STRING_TAG and isinstance(key_node, ScalarNode):
                    entries.setdefault(key_node.value, (key_node, value_node))
        return entries

    def _merged(self, node: MappingNode, *, seen: set[int]) -> Iterator[MappingNode]:
        if id(node) in seen:
            return
        seen.add(id(node))
        yield node
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                sources = value_node.value if isinstance(value_node, SequenceNode) else [value_node]
                for source in sources:
                    if isinstance(source, MappingNode):
                        yield from self._merged(source, seen=seen)

    def _refuse_duplicates(self, node: MappingNode, path: FaultPath) -> None:
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == _MERGE_TAG:
                if not _is_mergeable(value_node):
                    self._fault(
                        key_node,
                        path,
                        "'<<' merges mappings only; give it an alias of one, or a list of such",
                    )
                continue
            if not isinstance(key_node, ScalarNode):
                self._fault(
                    key_node,
                    path,
                    "a field name must be plain text; put what stands between braces in quotes",
                )
                continue
            if key_node.tag != _STRING_TAG:
                kind = key_node.tag.rpartition(":")[2]
                self._fault(
                    key_node,
                    path,
                    f"the field name {key_node.value!r} is read as {_READ_AS.get(kind, kind)}, not as text; "
                    "put it in quotes"
                    if key_node.value
                    else "a field has no name; write name: value",
                )
                continue
            key = key_node.value
            if first and key == next(iter(first)) and path and isinstance(path[-1], int):
                self._fault(
                    key_node,
                    (*path, key),
                    f"is given twice, first on line {first[key]}; begin a new item with '- ', or remove one",
                )
                return
            if key in first:
                self._fault(
                    key_node,
                    (*path, key),
                    f"is given twice, first on line {first[key]}; only one can hold, remove one",
                )
            first.setdefault(key, line)

    def _unread(self, node: Node, path: FaultPath, message: str) -> None:
        self._fault(node, path, message)
        self.unread.add(path)

    def _fault(self, node: Node, path: FaultPath, message: str) -> None:
        self.faults.append(Fault(path, message, line=node.start_mark.line + 1))


def _foreign_tag(tag: str) -> str:
    return f"{tag!r} is a tag of another tool, which is not resolved here; write the value itself"


def _is_mergeable(node: Node) -> bool:
    if isinstance(node, SequenceNode):
        return all(isinstance(item, MappingNode) for item in node.value)
    return isinstance(node, MappingNode)


def _count(value: Any, counts: dict[int, int]) -> int:
    """Values within a value, those of a shared one as often as it is used."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in counts:
        items = value.values() if isinstance(value, dict) else value
        counts[id(value)] = 1 + sum(_count(item, counts) for item in items)
    return counts[id(value)]
