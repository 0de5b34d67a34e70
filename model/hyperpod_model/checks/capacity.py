"""Where the instances of a group come from: Spot, on demand, or a training plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.reading import absent, at, given
from hyperpod_model.faults import Fault


def check_capacity(group: Mapping[str, Any]) -> list[Fault]:
    """Check the kind of capacity of one group."""
    requirements = at(group, "CapacityRequirements")
    if not isinstance(requirements, Mapping):
        return []
    if given(requirements, "Spot") and given(requirements, "OnDemand"):
        return [Fault(("CapacityRequirements",), "holds both Spot and OnDemand; keep one")]
    if absent(requirements, "Spot") and absent(requirements, "OnDemand"):
        return [Fault(("CapacityRequirements",), "is empty; give Spot or OnDemand, or leave it out")]
    if given(requirements, "Spot") and given(group, "TrainingPlanArn"):
        return [
            Fault(
                ("CapacityRequirements",),
                "asks for Spot capacity beside a training plan, whose capacity is reserved; keep one",
                severity="warning",
            )
        ]
    return []
