"""Values and names of a template, as the drawing calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.sayings import say
from hyperpod_policy.values import Expression, Parameter, Reference, integer

_HASHED: Final = re.compile(r"(?=[0-9A-F]*[0-9])[0-9A-F]{8}$")
"""What the CDK appends to a logical id; names are told apart without it where it is cut off."""

_SHORTEST: Final = 3


def named(resource: Resource) -> str:
    """Call a resource by its logical id, without the CDK's hash."""
    return short(resource.logical_id)


def short(logical_id: str) -> str:
    """Cut the CDK's hash off a logical id."""
    cut = _HASHED.sub("", logical_id)
    return cut if len(cut) >= _SHORTEST else logical_id


def spoken(value: Any) -> str:
    """Say what a value is, for somebody who looks at a drawing."""
    if isinstance(value, Reference):
        name = short(value.resource.rpartition("/")[2])
        return name if value.attribute == "Ref" else f"{name}.{value.attribute}"
    if isinstance(value, Parameter):
        return f"parameter {value.name.rpartition('/')[2]}"
    if isinstance(value, Expression):
        return "known at deployment only"
    return say(value)


def zone_label(value: Any) -> str:
    """Call a zone by its name, its place in the region's list, or say that it is unknown."""
    if value is None:
        return "zone chosen at deployment"
    if isinstance(value, Expression):
        position = _selected(value)
        return "zone known at deployment only" if position is None else f"zone {position + 1} of the region"
    if isinstance(value, str):
        return value
    return spoken(value)


def _selected(value: Expression) -> int | None:
    """Return which zone of the region ``Fn::Select`` takes from ``Fn::GetAZs``."""
    if value.function != "Fn::Select" or not isinstance(value.arguments, tuple) or len(value.arguments) != 2:
        return None
    index, choices = value.arguments
    is_zones = isinstance(choices, Expression) and choices.function == "Fn::GetAZs"
    return integer(index) if is_zones else None


def listed(words: Iterable[str]) -> str:
    """Write words with commas between them, each once."""
    return ", ".join(dict.fromkeys(words))
