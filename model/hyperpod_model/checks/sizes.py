"""How many instances a group has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.reading import number
from hyperpod_model.faults import Fault


def check_sizes(group: Mapping[str, Any]) -> list[Fault]:
    """Check the counts of one group."""
    count = number(group, "InstanceCount")
    least = number(group, "MinInstanceCount")
    faults = []
    if count is not None and least is not None and least > count:
        faults.append(Fault(("MinInstanceCount",), f"must not exceed instance_count {count}, got {least}"))
    if count == 0:
        faults.append(
            Fault(
                ("InstanceCount",),
                "is 0, while the documentation asks for at least 1 when a group is added; "
                "a group can be scaled to 0 later",
                severity="warning",
            )
        )
    return faults
