"""What quotas lead to: who is promised what, who may borrow it, and who gives way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from hyperpod_model.catalog.task_governance import (
    BORROW_LIMIT_IS_OF_OWN_QUOTA,
    DEFAULT_BORROW_LIMIT_PERCENT,
    DEFAULT_PREEMPT_OWN_TASKS,
    DEFAULT_STRATEGY,
    DEFAULT_WEIGHT,
    PreemptOwnTasks,
    SharingStrategy,
)

_LIMIT_IS_OF_OWN_QUOTA = BORROW_LIMIT_IS_OF_OWN_QUOTA.assuming(
    because="the plan says so beside its numbers, and nothing is made of them"
)

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True)
class TeamShare:
    """What one team has of one instance type.

    Attributes:
        team: The team.
        instance_type: The type.
        promised: Instances that the team can count on.
        fair_share_weight: What idle instances are shared out by.
        strategy: Whether it lends and borrows.
        borrow_limit_percent: How much it may borrow, in percent of what it is promised.
        preempt_own_tasks: Whether its own tasks of lower priority give way to others of its own.
    """

    team: str
    instance_type: str
    promised: int
    fair_share_weight: int = DEFAULT_WEIGHT
    strategy: SharingStrategy = DEFAULT_STRATEGY
    borrow_limit_percent: int = DEFAULT_BORROW_LIMIT_PERCENT
    preempt_own_tasks: PreemptOwnTasks = DEFAULT_PREEMPT_OWN_TASKS

    @property
    def lends(self) -> bool:
        """Whether others may use what it leaves idle."""
        return self.strategy != "DontLend"

    @property
    def borrows(self) -> bool:
        """Whether it may use what others leave idle."""
        return self.strategy == "LendAndBorrow"


class TeamQuotaLike(Protocol):
    """What a quota says, in a specification or in Python; None for AWS's default."""

    @property
    def team(self) -> str:
        """Name of the team."""

    @property
    def instances(self) -> Mapping[str, int]:
        """Instances by type."""

    @property
    def fair_share_weight(self) -> int | None:
        """Weight."""

    @property
    def strategy(self) -> SharingStrategy | None:
        """Whether it lends and borrows."""

    @property
    def borrow_limit_percent(self) -> int | None:
        """How much it may borrow."""

    @property
    def preempt_own_tasks(self) -> PreemptOwnTasks | None:
        """Whether its own tasks give way to others of its own."""


@dataclass(frozen=True, kw_only=True)
class PlannedShare:
    """A team's share, and what it means beside the others'.

    Attributes:
        share: The share.
        borrows_at_most: Further instances that the team may get while others leave them idle.
        lenders: Teams that these may come from, and from whom they are taken back at once when needed.
        from_unallocated: Whether they may also come from what no quota promises.
        borrowers: Teams whose tasks give way when this team wants its own back.
    """

    share: TeamShare
    borrows_at_most: int
    lenders: tuple[str, ...]
    from_unallocated: bool
    borrowers: tuple[str, ...]


def shares_of(teams: Iterable[TeamQuotaLike]) -> list[TeamShare]:
    """Return each team's share of each of its instance types, with the defaults applied.

    Args:
        teams: The quotas.
    """
    return [
        TeamShare(
            team=quota.team,
            instance_type=name,
            promised=number,
            fair_share_weight=_or_default(quota.fair_share_weight, DEFAULT_WEIGHT),
            strategy=_or_default(quota.strategy, DEFAULT_STRATEGY),
            borrow_limit_percent=_or_default(quota.borrow_limit_percent, DEFAULT_BORROW_LIMIT_PERCENT),
            preempt_own_tasks=_or_default(quota.preempt_own_tasks, DEFAULT_PREEMPT_OWN_TASKS),
        )
        for quota in teams
        for name, number in quota.instances.items()
    ]


def sharing_plan(
    shares: Sequence[TeamShare], *, capacity: Mapping[str, int], idle_resource_sharing: bool
) -> tuple[PlannedShare, ...]:
    """Work out who may borrow and take back what.

    Args:
        shares: Of all teams, for all instance types.
        capacity: Instances of the cluster by type.
        idle_resource_sharing: Whether what no quota promises may be borrowed.
    """
    return tuple(_planned(share, shares, capacity, idle_resource_sharing) for share in shares)


def plan_table(
    shares: Sequence[TeamShare], *, capacity: Mapping[str, int], idle_resource_sharing: bool, fair_share: bool
) -> str:
    """Write the plan as lines of text.

    Args:
        shares: Of all teams, for all instance types.
        capacity: Instances of the cluster by type.
        idle_resource_sharing: Whether what no quota promises may be borrowed.
        fair_share: Whether weights count; else first come, first served.
    """
    plan = sharing_plan(shares, capacity=capacity, idle_resource_sharing=idle_resource_sharing)
    heads = ("team", "instance type", "promised", "may borrow", "from", "gives way to", "own lower priority")
    rows = [heads, *(_row(planned) for planned in plan)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    for name, there in capacity.items():
        promised = sum(share.promised for share in shares if share.instance_type == name)
        if any(share.instance_type == name for share in shares):
            idle = "may be borrowed" if idle_resource_sharing else "stay idle"
            lines.append(f"{there - promised} of {there} {name} are promised to nobody and {idle}")
    weights = ", ".join(f"{share.team} {share.fair_share_weight}" for share in shares)
    order = f"by weight ({weights})" if fair_share else "first come, first served"
    lines.append(f"idle instances are shared out {order}")
    if _LIMIT_IS_OF_OWN_QUOTA:
        lines.append(
            "borrow limits are read as percent of a team's own quota, which AWS does not say clearly"
        )
    return "\n".join(line.rstrip() for line in lines)


def _planned(
    share: TeamShare,
    shares: Sequence[TeamShare],
    capacity: Mapping[str, int],
    idle_resource_sharing: bool,
) -> PlannedShare:
    others = [
        other for other in shares if other.instance_type == share.instance_type and other.team != share.team
    ]
    lenders = [other for other in others if other.lends and other.promised > 0] if share.borrows else []
    promised = share.promised + sum(other.promised for other in others)
    unallocated = capacity.get(share.instance_type, 0) - promised if idle_resource_sharing else 0
    lendable = sum(other.promised for other in lenders) + max(unallocated, 0)
    limit = share.promised * share.borrow_limit_percent // 100
    return PlannedShare(
        share=share,
        borrows_at_most=min(limit, lendable) if share.borrows else 0,
        lenders=tuple(other.team for other in lenders),
        from_unallocated=share.borrows and unallocated > 0,
        borrowers=tuple(other.team for other in others if other.borrows and other.promised > 0)
        if share.lends and share.promised > 0
        else (),
    )


def _row(planned: PlannedShare) -> tuple[str, ...]:
    share = planned.share
    sources = [*planned.lenders, *(["what is promised to nobody"] if planned.from_unallocated else [])]
    borrows = planned.borrows_at_most
    return (
        share.team,
        share.instance_type,
        str(share.promised),
        f"up to {borrows}" if borrows else "nothing",
        ", ".join(sources) if borrows else "-",
        ", ".join(planned.lenders) if borrows and planned.lenders else "-",
        "gives way" if share.preempt_own_tasks == "LowerPriority" else "waits",
    )


def _or_default(value: _Value | None, default: _Value) -> _Value:
    return default if value is None else value
