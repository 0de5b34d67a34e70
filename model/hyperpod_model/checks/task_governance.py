"""How teams share a cluster: priority classes, quotas, and whether the cluster can keep what they promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.jobs import TEAM
from hyperpod_model.catalog.task_governance import (
    BORROW_LIMIT_PERCENT,
    MOST_PRIORITY_CLASSES,
    MOST_RESOURCES,
    PREEMPT_OWN_TASKS,
    STRATEGIES,
    WEIGHTS,
)
from hyperpod_model.checks.instance_types import listed_type
from hyperpod_model.checks.reading import below, is_unknown, quoted
from hyperpod_model.faults import Fault, Unknown


def check_priority_classes(classes: Mapping[str, Any] | Unknown) -> list[Fault]:
    """Check the priority classes of a cluster's scheduler.

    Args:
        classes: Weights by name; any weight may be ``UNKNOWN``.

    Returns:
        Faults whose paths begin with the name of a class, or are empty.
    """
    if isinstance(classes, Unknown):
        return []
    faults = []
    if len(classes) > MOST_PRIORITY_CLASSES:
        faults.append(Fault((), f"must be {MOST_PRIORITY_CLASSES} or fewer, got {len(classes)}"))
    for name, weight in classes.items():
        if not TEAM.matches(name):
            faults.append(Fault((name,), f"its name must be {TEAM.with_length}, got {name!r}"))
        faults += below((name,), _check_range(weight, WEIGHTS))
    return faults


def check_team_quotas(
    quotas: Sequence[Mapping[str, Any]],
    *,
    capacity: Mapping[str, Any] | Unknown,
    spare_nodes: int | Unknown = 0,
    fair_share: bool | Unknown = True,
) -> list[Fault]:
    """Check the quotas of all teams, each by itself and together against the cluster.

    Args:
        quotas: Of each team ``team``, ``instances`` (number by instance type), ``fair_share_weight``,
            ``strategy``, ``borrow_limit_percent`` and ``preempt_own_tasks``; None for a default. Any value
            may be ``UNKNOWN``.
        capacity: Instances of the cluster by type; numbers may be ``UNKNOWN``.
        spare_nodes: Accelerated nodes that no job is to count on.
        fair_share: Whether weights count.

    Returns:
        Faults whose paths begin with the position of a quota, or are empty.
    """
    faults: list[Fault] = []
    first: dict[str, int] = {}
    for index, quota in enumerate(quotas):
        team = quota["team"]
        if isinstance(team, str):
            if team in first:
                faults.append(
                    Fault(
                        (index, "team"),
                        f"{team!r} has a quota already, at {first[team]}; put all its instance types there",
                    )
                )
            first.setdefault(team, index)
        faults += below((index,), [*_check_quota(quota, capacity, fair_share)])
    return [*faults, *_check_together(quotas, capacity, spare_nodes)]


def _check_quota(
    quota: Mapping[str, Any], capacity: Mapping[str, Any] | Unknown, fair_share: bool | Unknown
) -> Iterator[Fault]:
    team = quota["team"]
    if not is_unknown(team) and (not isinstance(team, str) or not TEAM.matches(team)):
        yield Fault(("team",), f"must be {TEAM.with_length}, got {team!r}")
    yield from _check_instances(quota["instances"], capacity)
    weight = quota["fair_share_weight"]
    if weight is not None:
        yield from below(("fair_share_weight",), _check_range(weight, WEIGHTS))
        if fair_share is False:
            yield Fault(
                ("fair_share_weight",),
                "counts only where fair_share is on; turn it on, or leave the weight out",
                severity="warning",
            )
    strategy = quota["strategy"]
    if strategy is not None and not is_unknown(strategy) and strategy not in STRATEGIES:
        yield Fault(("strategy",), f"must be one of {quoted(STRATEGIES)}, got {strategy!r}")
    limit = quota["borrow_limit_percent"]
    if limit is not None:
        yield from below(("borrow_limit_percent",), _check_range(limit, BORROW_LIMIT_PERCENT))
        if strategy in ("DontLend", "Lend"):
            yield Fault(
                ("borrow_limit_percent",),
                f"needs strategy 'LendAndBorrow', got {strategy!r}, with which the team never borrows; leave "
                "the limit out, or let the team borrow",
            )
    preempt = quota["preempt_own_tasks"]
    if preempt is not None and not is_unknown(preempt) and preempt not in PREEMPT_OWN_TASKS:
        yield Fault(("preempt_own_tasks",), f"must be one of {quoted(PREEMPT_OWN_TASKS)}, got {preempt!r}")


def _check_instances(instances: Any, capacity: Mapping[str, Any] | Unknown) -> Iterator[Fault]:
    if is_unknown(instances):
        return
    if not instances:
        yield Fault(("instances",), "is empty; say how many instances of which type the team can count on")
        return
    if len(instances) > MOST_RESOURCES:
        yield Fault(("instances",), f"must be of {MOST_RESOURCES} types or fewer, got {len(instances)}")
    for name, number in instances.items():
        path = ("instances", name)
        if not is_unknown(number) and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
            yield Fault(path, f"must be a whole number of instances from 0, got {number!r}")
        if not isinstance(capacity, Unknown) and name not in capacity:
            listed = f"its instance types are {quoted(capacity)}" if capacity else "it has no instances"
            yield Fault(
                path, f"the cluster has no such instances, so that no job ever runs on them; {listed}"
            )


def _check_together(
    quotas: Sequence[Mapping[str, Any]], capacity: Mapping[str, Any] | Unknown, spare_nodes: int | Unknown
) -> Iterator[Fault]:
    if isinstance(capacity, Unknown):
        return
    for name, there in capacity.items():
        shares = {quota["team"]: _share(quota, name) for quota in quotas}
        known = {team: share for team, share in shares.items() if isinstance(share, int) and share > 0}
        promised = sum(known.values())
        if not isinstance(there, int):
            continue
        sums = ", ".join(f"{team} {share}" for team, share in known.items())
        if promised > there:
            yield Fault(
                (),
                f"quotas promise {promised} instances of {name}, and the cluster has {there} ({sums}); lower "
                "them, or let teams borrow what others leave idle",
            )
        elif (
            isinstance(spare_nodes, int)
            and known
            and promised > there - spare_nodes
            and _may_be_accelerated(name)
        ):
            yield Fault(
                (),
                f"quotas promise {promised} instances of {name}; the cluster has {there}, of which "
                f"{spare_nodes} are spare nodes that no job should count on ({sums})",
                severity="warning",
            )


def _may_be_accelerated(name: str) -> bool:
    """Whether nodes of a type can be spare ones."""
    found = listed_type(name)
    return found is None or found.is_accelerated


def _share(quota: Mapping[str, Any], name: str) -> Any:
    instances = quota["instances"]
    return instances.get(name, 0) if isinstance(instances, Mapping) else None


def _check_range(value: Any, allowed: tuple[int, int]) -> list[Fault]:
    least, most = allowed
    if is_unknown(value):
        return []
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        return [Fault((), f"must be a whole number from {least} to {most}, got {value!r}")]
    return []
