"""The tables of fields in the documentation, made of a specification's JSON Schema."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_MARKED = re.compile(r"(<!-- fields: (\w+) -->\n).*?(<!-- end of fields -->)", re.DOTALL)


Schema = dict[str, Any]


def field_table(whole: Schema, model: str) -> str:
    """Return a Markdown table with a row for each field.

    Args:
        whole: JSON Schema of the specification.
        model: Name of the part of the specification, such as ``NetworkSpec``.
    """
    part = whole if model == whole["title"] else whole["$defs"][model]
    rows = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for name, field in part["properties"].items():
        default = "required" if name in part.get("required", ()) else _default(field)
        rows.append(f"| `{name}` | {_type(field)} | {default} | {field['description']} |")
    return "\n".join(rows) + "\n"


def updated_page(whole: Schema, page: str) -> str:
    """Return a Markdown page with its marked tables made anew.

    Args:
        whole: JSON Schema of the specification.
        page: The page, with tables between ``<!-- fields: Name -->`` and ``<!-- end of fields -->``.
    """
    return _MARKED.sub(lambda found: f"{found[1]}{field_table(whole, found[2])}{found[3]}", page)


def _default(field: dict[str, Any]) -> str:
    default = field.get("default")
    if isinstance(default, dict):
        return "its defaults" if default else "none"
    return "none" if default in (None, []) else f"`{json.dumps(default)}`"


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return f"[{field['$ref'].rpartition('/')[2]}](#{field['$ref'].rpartition('/')[2].lower()})"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    if field.get("type") == "object":
        return "mapping"
    if "type" in field:
        return {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(
            field["type"], str(field["type"])
        )
    return " or ".join(
        "null" if option.get("type") == "null" else _type(option) for option in field.get("anyOf", ())
    )


def update_page(whole: Schema, arguments: Sequence[str] | None = None) -> int:
    """Bring a page up to date.

    Args:
        whole: JSON Schema of the specification.
        arguments: Command line. By default that of the process.
    """
    parser = argparse.ArgumentParser(description="Bring the tables of fields in a Markdown page up to date.")
    parser.add_argument("page", type=Path, help="the page")
    page = parser.parse_args(arguments).page
    page.write_text(updated_page(whole, page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0
