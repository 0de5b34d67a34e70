"""Text of a file as decoded values, JSON or YAML by what it holds."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from hyperpod_policy.marks import Marks
from hyperpod_policy.sources.json_text import JsonMarks, decode_json
from hyperpod_policy.sources.unusable import UnusableInputError

_JSON_NAMES: Final = (".json",)


class Decoded(NamedTuple):
    """One value of a file.

    Attributes:
        value: What it decodes to.
        marks: On which line each part stands.
    """

    value: Any
    marks: Marks


def decoded(text: str, *, file: str) -> list[Decoded]:
    """Decode a file: one JSON value, or the documents of a YAML stream; none if it is empty.

    JSON is tried where the text looks like it; what is none is read as YAML, unless the file's name says that
    it is JSON.

    Args:
        text: Content of the file.
        file: Its name.

    Raises:
        UnusableInputError: If it is neither, or neither within limits.
    """
    if not text.strip():
        return []
    if text.lstrip()[:1] in ("{", "[") or file.endswith(_JSON_NAMES):
        try:
            return [Decoded(decode_json(text, file=file), JsonMarks(text))]
        except UnusableInputError:
            if file.endswith(_JSON_NAMES) or _is_json_at_fault(text):
                raise
    from hyperpod_policy.sources.yaml_text import YamlMarks, decode_yaml

    return [Decoded(found.value, YamlMarks(text, found.number)) for found in decode_yaml(text, file=file)]


def _is_json_at_fault(text: str) -> bool:
    """Whether text that JSON refused looks like JSON all the same: its keys are in double quotes."""
    return text.lstrip()[1:].lstrip()[:1] == '"'
