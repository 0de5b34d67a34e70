"""Which properties of a resource an update changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def differs_at(before: Mapping[str, Any], after: Mapping[str, Any], paths: Iterable[Sequence[str]]) -> bool:
    """Tell whether the properties at one of some paths differ."""
    return any(value_at(before, path) != value_at(after, path) for path in paths)


def value_at(properties: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Return the property at a path, or None."""
    found: Any = properties
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that are new or different afterwards."""
    return {key: value for key, value in after.items() if before.get(key) != value}


def tag_changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[list[dict[str, str]], list[str]]:
    """Return the tags to set, and the keys of tags to take away."""
    old = {tag["Key"]: tag["Value"] for tag in before.get("Tags", [])}
    new = {tag["Key"]: tag["Value"] for tag in after.get("Tags", [])}
    set_tags = [{"Key": key, "Value": value} for key, value in new.items() if old.get(key) != value]
    return set_tags, [key for key in old if key not in new]
