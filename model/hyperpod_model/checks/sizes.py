"""How many instances a group has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.orchestrators import autoscales
from hyperpod_model.checks.reading import number, structures
from hyperpod_model.faults import Fault

_GROUP_LISTS = ("InstanceGroups", "RestrictedInstanceGroups")


def check_sizes(group: Mapping[str, Any]) -> list[Fault]:
    """Check the counts of one group."""
    count = number(group, "InstanceCount")
    least = number(group, "MinInstanceCount")
    if count is not None and least is not None and least > count:
        return [Fault(("MinInstanceCount",), f"must not exceed instance_count {count}, got {least}")]
    return []


def check_empty_groups(request: Mapping[str, Any]) -> list[Fault]:
    """Check that groups begin with instances, unless Karpenter may add them."""
    if autoscales(request):
        return []
    return [
        Fault(
            (groups, index, "InstanceCount"),
            "is 0, while the documentation asks for at least 1 when a group is added; "
            "a group can be scaled to 0 later",
            severity="warning",
        )
        for groups in _GROUP_LISTS
        for index, group in structures(request, groups)
        if number(group, "InstanceCount") == 0
    ]
