"""What a field of a job specification takes."""

from __future__ import annotations

import difflib
import json
import textwrap
from typing import Any, Final

from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.job_spec.schema import schema

_REFERENCE: Final = "#/$defs/"


def field_words(path: str, width: int | None, *, as_json: bool = False) -> str:
    """Say what a field takes.

    Args:
        path: The field, such as ``nodes`` or ``checkpoint.s3_uri``.
        width: Columns to wrap lines in. None for no wrapping.
        as_json: Whether to write the field's JSON Schema. By default words.

    Raises:
        UsageError: If there is no such field; it names the nearest.
    """
    whole = schema()
    part: dict[str, Any] = whole
    found: dict[str, Any] = whole
    is_required = False
    for step in path.split("."):
        fields: dict[str, Any] = part.get("properties", {})
        if step not in fields:
            raise UsageError(_unknown(path, step, fields))
        found, is_required = fields[step], step in part.get("required", ())
        part = _inner(found, whole)
    if as_json:
        return json.dumps(found, indent=2) + "\n"
    lines = [f"{path}{' (required)' if is_required else ''}"]
    lines += _wrapped(found["description"], width)
    for name, field in part.get("properties", {}).items():
        need = " (required)" if name in part.get("required", ()) else ""
        lines += _wrapped(f"{path}.{name}{need}: {field['description']}", width)
    return "\n".join(lines) + "\n"


def _inner(field: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """The part of the specification that a field holds, or holds a list of; empty for a plain value."""
    options = [field, *field.get("anyOf", ()), *field.get("allOf", ())]
    options += [option["items"] for option in list(options) if isinstance(option.get("items"), dict)]
    for option in options:
        reference = option.get("$ref")
        if isinstance(reference, str):
            inner: dict[str, Any] = whole["$defs"][reference.removeprefix(_REFERENCE)]
            return inner
    return {}


def _unknown(path: str, step: str, fields: dict[str, Any]) -> str:
    if not fields:
        return f"{path!r} is no field: what stands before {step!r} has none"
    near = difflib.get_close_matches(step, fields, n=1, cutoff=0.5)
    before = path.split(".")[: path.split(".").index(step)]
    hint = f"did you mean {'.'.join([*before, near[0]])}? " if near else ""
    of = f" of {'.'.join(before)}" if before else ""
    return f"{path!r} is neither a file nor a field; {hint}fields{of}: {', '.join(fields)}"


def _wrapped(words: str, width: int | None) -> list[str]:
    if width is None:
        return [f"  {words}"]
    return textwrap.wrap(words, width, initial_indent="  ", subsequent_indent="    ")
