"""Changes of one statement, and the lists in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Change = tuple[str | None, str, Any]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def without(values: list[Any], position: int) -> list[Any]:
    return [*values[:position], *values[position + 1 :]]


def replaced(values: list[Any], position: int, value: Any) -> list[Any]:
    return [*values[:position], value, *values[position + 1 :]]


def merged(condition: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **condition,
        **{operator: {**condition.get(operator, {}), **pairs} for operator, pairs in more.items()},
    }
