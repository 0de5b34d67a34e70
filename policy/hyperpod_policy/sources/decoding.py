"""Text of a file as decoded values, JSON or YAML by what it holds."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from hyperpod_policy.marks import Marks
from hyperpod_policy.sources.json_text import JsonMarks, decode_json
from hyperpod_policy.sources.unusable import UnusableInputError

_JSON_NAME: Final = ".json"


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

    JSON is tried where the text begins like it; what is none is read as YAML, unless it is JSON with a
    mistake: its keys are in double quotes, or the file's name says so.

    Args:
        text: Content of the file.
        file: Its name.

    Raises:
        UnusableInputError: If it is neither, or neither within limits.
    """
    if not text.strip():
        return []
    if text.lstrip()[:1] in ("{", "["):
        try:
            return [Decoded(decode_json(text, file=file), JsonMarks(text))]
        except UnusableInputError:
            if file.endswith(_JSON_NAME) or text.lstrip()[1:].lstrip()[:1] == '"':
                raise
    from hyperpod_policy.sources.yaml_text import YamlMarks, decode_yaml

    return [Decoded(found.value, YamlMarks(text, found.number)) for found in decode_yaml(text, file=file)]
