"""What several readers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def copied(found: Mapping[str, Any], *names: str, capital: bool = False) -> dict[str, Any]:
    """Return some members under CloudFormation's names.

    Args:
        found: What the API told.
        names: Members in CloudFormation's spelling.
        capital: Whether the API begins them with a small letter.
    """
    spelled = {name: name[0].lower() + name[1:] if capital else name for name in names}
    return {name: found[other] for name, other in spelled.items() if other in found}


def tags(found: Iterable[tuple[str, str]], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return tags in the template's order, without those that CloudFormation puts on itself."""
    values = {key: value for key, value in found if not key.startswith("aws:")}
    keys = in_order_of([tag["Key"] for tag in wanted.get("Tags", [])], values)
    return {"Tags": [{"Key": key, "Value": values[key]} for key in keys]} if keys else {}


def in_order_of(wanted: Iterable[str], found: Iterable[str]) -> list[str]:
    """Sort what the service keeps in no order as the template has it."""
    order = {item: position for position, item in enumerate(wanted)}
    return sorted(found, key=lambda item: (order.get(item, len(order)), item))
