"""Names and number of the instance groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.limits import MAX_INSTANCE_GROUPS
from hyperpod_model.checks.reading import absent, items, structures, text
from hyperpod_model.faults import Fault

_PROPS = {"InstanceGroups": "instance_groups", "RestrictedInstanceGroups": "restricted_instance_groups"}


def check_group_names(request: Mapping[str, Any]) -> list[Fault]:
    """Check that there are groups, not more than documented, each with a name of its own."""
    if all(absent(request, groups) for groups in _PROPS):
        return [Fault(("InstanceGroups",), "is required: at least one group")]
    faults = []
    seen: dict[str, str] = {}
    for groups in _PROPS:
        for index, group in structures(request, groups):
            name = text(group, "InstanceGroupName")
            if name is None:
                continue
            if name in seen:
                faults.append(
                    Fault(
                        (groups, index, "InstanceGroupName"),
                        f"{name!r} is taken by {seen[name]}; names are unique",
                    )
                )
            seen.setdefault(name, f"{_PROPS[groups]}[{index}]")
    # What every source refuses is an error of the shape; what all but the most generous refuse, a warning.
    most = sorted(claim.value for claim in MAX_INSTANCE_GROUPS.claims)[-2]
    count = len(items(request, "InstanceGroups"))
    if count > most:
        faults.append(
            Fault(
                ("InstanceGroups",),
                f"{count} groups exceed the {most} of some documentation: {MAX_INSTANCE_GROUPS.doubt}",
                severity="warning",
            )
        )
    return faults
