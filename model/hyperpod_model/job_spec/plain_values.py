"""A specification as plain values, as checks read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel


def plain_values(spec: BaseModel) -> dict[str, Any]:
    """Turn a specification into dicts, lists and scalars; ``UNKNOWN`` stays.

    Args:
        spec: The specification, any of whose values may be ``UNKNOWN``.
    """
    return {name: _plain(getattr(spec, name)) for name in type(spec).model_fields}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return plain_values(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
