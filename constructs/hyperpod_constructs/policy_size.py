"""How long a policy gets, as far as synthesis can tell."""

from __future__ import annotations

import json
from typing import Any


def least_size(value: Any) -> int:
    """Characters of a resolved document as JSON, of which intrinsic functions add what is certain.

    Args:
        value: The document, or a part of it.
    """
    if isinstance(value, list):
        return sum(map(least_size, value)) + max(len(value) - 1, 0) + len("[]")
    if isinstance(value, dict):
        if _is_intrinsic(value):
            return _least_length(value) + len('""')
        return (
            sum(len(json.dumps(key)) + len(":") + least_size(item) for key, item in value.items())
            + max(len(value) - 1, 0)
            + len("{}")
        )
    return len(json.dumps(value))


def _least_length(text: Any) -> int:
    if isinstance(text, str):
        return len(text)
    separator, parts = text.get("Fn::Join", ("", ())) if isinstance(text, dict) else ("", ())
    if not isinstance(parts, list):
        return 1
    return sum(map(_least_length, parts)) + len(separator) * max(len(parts) - 1, 0)


def _is_intrinsic(value: dict[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::"))
