"""Leaves of what an API told the part that was asked for: services add defaults that no template has."""

from __future__ import annotations

from typing import Any

_OF_CLOUDFORMATION = "aws:"


def as_asked(told: Any, wanted: Any) -> Any:
    """Return what was told, without the members of structures that were not asked for.

    Args:
        told: What the API told, in the terms of CloudFormation.
        wanted: What the template asks for.
    """
    if isinstance(told, dict) and isinstance(wanted, dict):
        return {key: as_asked(told[key], item) for key, item in wanted.items() if key in told}
    if isinstance(told, list) and isinstance(wanted, list) and len(told) == len(wanted):
        return [as_asked(one, other) for one, other in zip(told, wanted, strict=True)]
    return told


def in_order(told: list[Any], wanted: list[Any], *, key: str | None = None) -> list[Any]:
    """Return what was told in the order in which it was asked for, where the API keeps no order.

    Args:
        told: What the API told.
        wanted: What the template asks for.
        key: Member that identifies an item. None if an item is its own name.
    """
    names = [item if key is None else item[key] for item in wanted]

    def place(item: Any) -> int:
        name = item if key is None else item[key]
        return names.index(name) if name in names else len(names)

    return sorted(told, key=place)


def own_tags(tags: list[dict[str, str]], wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the property ``Tags``, without the tags that CloudFormation itself puts on.

    Args:
        tags: Tags as ``Key`` and ``Value``.
        wanted: Properties that the template asks for.
    """
    own = [
        {"Key": tag["Key"], "Value": tag["Value"]}
        for tag in tags
        if not tag["Key"].startswith(_OF_CLOUDFORMATION)
    ]
    return {"Tags": in_order(own, wanted.get("Tags", []), key="Key")} if own else {}
