"""A specification as plain values, as checks read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from hyperpod_model.faults import UNKNOWN
from hyperpod_model.tokens import is_token

_OTHERS_FOLLOW: Final = frozenset({"name", "namespace", "team", "priority_class", "instance_type"})


def plain_values(spec: BaseModel) -> dict[str, Any]:
    """Turn a specification into dicts, lists and scalars; ``UNKNOWN`` stays.

    Tokens of the CDK count as ``UNKNOWN``, but not in fields that others follow from: a job of an instance
    type that is told at deployment cannot be made.

    Args:
        spec: The specification, any of whose values may be ``UNKNOWN``.
    """
    return {
        name: getattr(spec, name) if name in _OTHERS_FOLLOW else _plain(getattr(spec, name))
        for name in type(spec).model_fields
    }


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return plain_values(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return UNKNOWN if is_token(value) else value
