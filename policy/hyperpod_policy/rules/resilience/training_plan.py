"""Large accelerated groups have reserved capacity, or say that they go without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.catalog.training_plans import INSTANCE_TYPES, LARGE_GROUP
from hyperpod_policy.clusters import Group, clusters, groups
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, integer

_PLAN: Final = "TrainingPlanArn"
_KIND: Final = "CapacityRequirements"
_COUNT: Final = "InstanceCount"
_LARGE: Final = LARGE_GROUP.assuming(because="only a warning depends on it")


def check(template: Template) -> Iterator[Verdict]:
    """Judge each group of instance types that a training plan can reserve."""
    for cluster in clusters(template):
        for group in groups(cluster):
            reservable = _reservable(group)
            if reservable is not False:
                yield from _judge(group, reservable=reservable)


def _reservable(group: Group) -> bool | None:
    """Whether a training plan can reserve one of a group's types; ``None`` if only deployment can tell."""
    names, complete = group.instance_types
    if any(name in INSTANCE_TYPES for name in names if isinstance(name, str)):
        return True
    return False if complete and all(isinstance(name, str) for name in names) else None


def _judge(group: Group, *, reservable: bool | None) -> Iterator[Verdict]:
    given = group.properties.get(_COUNT)
    count = integer(given)
    allowed = (
        f"{_PLAN}, {_KIND} that say where the capacity comes from, or fewer than {_LARGE} instances "
        f"({LARGE_GROUP.doubt})"
    )
    path = (*group.path, _PLAN)
    if _PLAN in group.properties or group.properties.get(_KIND):
        yield passed(group.cluster, *path)
    elif count is None:
        if isinstance(given, Unresolved):
            found = f"group '{group.name}' has none, and its {_COUNT} is {given}"
            yield undetermined(group.cluster, *path, found=found, allowed=allowed)
    elif count < _LARGE:
        yield passed(group.cluster, *path)
    elif reservable is None:
        found = f"group '{group.name}' of {count} instances has none, and its type is not known"
        yield undetermined(group.cluster, *path, found=found, allowed=allowed)
    else:
        found = f"group '{group.name}' wants {count} accelerated instances at once and has none"
        yield failed(group.cluster, *path, found=found, allowed=allowed)


RULE = Rule(
    id="TrainingPlan",
    title="a large accelerated group has reserved capacity, or says that it goes without",
    severity="warning",
    why=(
        "So many accelerators are seldom free at once in one zone. Without a reservation a classic cluster "
        "fails and rolls back; a continuous one is there with fewer nodes, while the job waits and the nodes "
        "that came are paid for. Replacements of broken nodes draw on the same capacity."
    ),
    fix=(
        "reserve a training plan for the subnet's zone and set TrainingPlanArn; with capacity that is "
        "promised otherwise, or none, say OnDemand or Spot in CapacityRequirements when the group is made"
    ),
    source="SageMaker developer guide, reserve-capacity-with-training-plans; search-training-plan-offerings",
    check=check,
)
