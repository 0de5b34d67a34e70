"""Python values as JSON that reads back as the very same values, so that no state of a loop needs pickle."""

from __future__ import annotations

import base64
import math
from collections import Counter
from typing import Any

_TUPLE, _BYTES, _FLOAT, _PAIRS, _COUNTER = "$tuple", "$bytes", "$float", "$pairs", "$counter"
_TAGS = frozenset({_TUPLE, _BYTES, _FLOAT, _PAIRS, _COUNTER})


def to_json(value: Any, *, what: str = "the value") -> Any:
    """Write a value as JSON: None, booleans, numbers, text, bytes, lists, tuples, dicts and counters of such.

    Args:
        value: The value.
        what: What it is, for the error.

    Raises:
        TypeError: If something in it is of another type.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {_FLOAT: repr(value)}
    if type(value) is bytes:
        return {_BYTES: base64.b64encode(value).decode("ascii")}
    if type(value) is list:
        return [to_json(item, what=f"{what}[{index}]") for index, item in enumerate(value)]
    if type(value) is tuple:
        return {_TUPLE: [to_json(item, what=f"{what}[{index}]") for index, item in enumerate(value)]}
    if type(value) is Counter:
        return {_COUNTER: _pairs(value, what)}
    if isinstance(value, dict):
        if all(type(key) is str for key in value) and not _TAGS & value.keys():
            return {key: to_json(item, what=f"{what}[{key!r}]") for key, item in value.items()}
        return {_PAIRS: _pairs(value, what)}
    raise TypeError(
        f"{what} must be made of None, booleans, numbers, text, bytes, lists, tuples and dicts, got "
        f"{type(value).__name__}; put tensors in the state that the checkpoint saves, and call item() on "
        f"single "
        "numbers"
    )


def from_json(value: Any) -> Any:
    """Read what :func:`to_json` wrote.

    Raises:
        ValueError: If it did not write this.
    """
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    tags = _TAGS & value.keys()
    if not tags:
        return {key: from_json(item) for key, item in value.items()}
    if len(value) != 1:
        raise ValueError(f"{', '.join(sorted(tags))} must stand alone, got {', '.join(sorted(value))}")
    ((tag, content),) = value.items()
    if tag == _FLOAT:
        return float(content)
    if tag == _BYTES:
        return base64.b64decode(content, validate=True)
    items = [from_json(item) for item in content]
    if tag == _TUPLE:
        return tuple(items)
    pairs = dict(items)
    return Counter(pairs) if tag == _COUNTER else pairs


def _pairs(value: dict[Any, Any], what: str) -> list[list[Any]]:
    return [
        [to_json(key, what=f"a key of {what}"), to_json(item, what=f"{what}[{key!r}]")]
        for key, item in value.items()
    ]
