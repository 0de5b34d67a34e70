"""Numbers and the least that they may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_model.checks.reading import number
from hyperpod_model.faults import Fault


def check_at_least(
    owner: Mapping[str, Any], names: Iterable[str], least: int, *, unit: str = ""
) -> list[Fault]:
    """Check that numbers are not too small.

    Args:
        owner: What they are in. What is absent or not known passes.
        names: Names of the numbers.
        least: The least they may be.
        unit: What they count. By default nothing is said of it.
    """
    words = f" {unit}" if unit else ""
    faults = []
    for name in names:
        value = number(owner, name)
        if value is not None and value < least:
            faults.append(Fault((name,), f"must be {least}{words} or more, got {value}"))
    return faults
