"""Numbers, and the least and the most that they may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from hyperpod_model.checks.reading import number
from hyperpod_model.faults import Fault, FaultPath

LARGEST_COUNT: Final = 2**31 - 1
"""Counts in Kubernetes are signed numbers of 32 bits; its server refuses more."""


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


def check_largest(value: Any, path: FaultPath = ()) -> Iterator[Fault]:
    """Check that no number within a value is too large for Kubernetes.

    Args:
        value: The value, such as a job.
        path: Where it is. By default it is the whole.
    """
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from check_largest(member, (*path, name))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from check_largest(item, (*path, index))
    elif isinstance(value, int) and value > LARGEST_COUNT:
        yield Fault(path, f"must be {LARGEST_COUNT} or less, got {value}")
