"""How teams share the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import Field

from hyperpod_model.catalog.task_governance import (
    BORROW_LIMIT_PERCENT,
    DEFAULT_BORROW_LIMIT_PERCENT,
    DEFAULT_PREEMPT_OWN_TASKS,
    DEFAULT_STRATEGY,
    DEFAULT_WEIGHT,
    MOST_PRIORITY_CLASSES,
    WEIGHTS,
    PreemptOwnTasks,
    SharingStrategy,
)
from hyperpod_model.checks.reading import below
from hyperpod_model.checks.task_governance import check_priority_classes, check_team_quotas
from hyperpod_model.faults import UNKNOWN, Fault, Unknown
from hyperpod_model.sharing_plan import PlannedShare, plan_table, shares_of, sharing_plan
from hyperpod_model.spec_files.known import known
from hyperpod_model.spec_files.spec_model import Items, SpecModel

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_WEIGHT: dict[str, Any] = {"minimum": WEIGHTS[0], "maximum": WEIGHTS[1]}


class TeamQuotaSpec(SpecModel):
    """What one team can count on, and how it shares."""

    team: str = Field(
        description=(
            "Name of the team. Its jobs run in the namespace hyperpod-ns-<team>; job specifications name it "
            "as team."
        )
    )
    instances: dict[str, int] = Field(
        description=(
            "Number of instances by instance type, such as {ml.p5.48xlarge: 8}. The quotas of all teams "
            "must fit into the cluster."
        ),
        json_schema_extra={"minProperties": 1},
    )
    fair_share_weight: int | None = Field(
        default=None,
        description=(
            f"Weight by which idle instances are shared out, {WEIGHTS[0]} to {WEIGHTS[1]}. By default "
            f"{DEFAULT_WEIGHT}, the lowest."
        ),
        json_schema_extra=_WEIGHT,
    )
    strategy: SharingStrategy | None = Field(
        default=None,
        description=(
            "'LendAndBorrow', 'Lend' or 'DontLend': whether others may use what the team leaves idle, and "
            f"the team what others leave. By default '{DEFAULT_STRATEGY}'."
        ),
    )
    borrow_limit_percent: int | None = Field(
        default=None,
        description=(
            f"How much the team may borrow, {BORROW_LIMIT_PERCENT[0]} to {BORROW_LIMIT_PERCENT[1]} percent. "
            f"With strategy 'LendAndBorrow' only. By default {DEFAULT_BORROW_LIMIT_PERCENT}."
        ),
        json_schema_extra={"minimum": BORROW_LIMIT_PERCENT[0], "maximum": BORROW_LIMIT_PERCENT[1]},
    )
    preempt_own_tasks: PreemptOwnTasks | None = Field(
        default=None,
        description=(
            "'LowerPriority': the team's tasks of lower priority give way to its own of higher. 'Never': "
            f"they do not. By default '{DEFAULT_PREEMPT_OWN_TASKS}'."
        ),
    )


class TaskGovernanceSpec(SpecModel):
    """Priority classes, quotas of teams, and the add-on that enforces them. EKS only."""

    teams: Items[TeamQuotaSpec] = Field(
        description="The teams, at least one.", json_schema_extra={"minItems": 1}
    )
    priority_classes: dict[str, int] = Field(
        default={},
        description=(
            f"Up to {MOST_PRIORITY_CLASSES} classes of jobs with their weights, {WEIGHTS[0]} to "
            f"{WEIGHTS[1]}, such as {{inference: 100, training: 50}}. Job specifications name one as "
            "priority_class. By default none."
        ),
        json_schema_extra={"maxProperties": MOST_PRIORITY_CLASSES},
    )
    fair_share: bool = Field(
        default=True,
        description=(
            "Whether idle instances are shared out by the teams' weights; false: first come, first served. "
            "By default true."
        ),
    )
    idle_resource_sharing: bool = Field(
        default=True,
        description="Whether instances that no quota promises may be borrowed. By default true.",
    )
    add_on: bool = Field(
        default=True,
        description=(
            "Whether the EKS add-on for task governance is installed, after the nodes. It brings Kueue; one "
            "of your own must not be there. By default true."
        ),
    )


def check_task_governance_of(spec: ClusterSpec) -> Iterator[Fault]:
    """Check priority classes and quotas, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    said = spec.task_governance
    if said is None or not known(said) or spec.orchestrator != "eks":
        return
    if known(said.priority_classes):
        yield from below(
            ("task_governance", "priority_classes"), check_priority_classes(said.priority_classes)
        )
    if not known(said.teams) or not all(known(team) for team in said.teams):
        return
    if not said.teams:
        yield Fault(("task_governance", "teams"), "is empty; name a team, or leave task_governance out")
    spares = spec.resilience.spare_nodes if known(spec.resilience) else UNKNOWN
    quotas = [{name: getattr(team, name) for name in TeamQuotaSpec.model_fields} for team in said.teams]
    yield from below(
        ("task_governance", "teams"),
        check_team_quotas(quotas, capacity=capacity_of(spec), spare_nodes=spares, fair_share=said.fair_share),
    )


def capacity_of(spec: ClusterSpec) -> dict[str, Any] | Unknown:
    """Return the instances of a cluster by type; ``UNKNOWN`` where not all of its groups are known.

    Groups with a choice of types count for each of them.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    if not known(spec.instance_groups) or not all(known(group) for group in spec.instance_groups):
        return UNKNOWN
    capacity: dict[str, Any] = {}
    for group in spec.instance_groups:
        if not known(group.instance_type) or not known(group.instance_types):
            return UNKNOWN
        for name in group.named_instance_types:
            before = capacity.get(name, 0)
            known_both = known(group.instance_count) and isinstance(before, int)
            capacity[name] = before + group.instance_count if known_both else UNKNOWN
    return capacity


def sharing_table(spec: ClusterSpec) -> str:
    """Return who may borrow and take back what, as lines of text.

    Args:
        spec: A specification without errors that has ``task_governance``.
    """
    said = spec.task_governance
    assert said is not None
    capacity = capacity_of(spec)
    return plan_table(
        shares_of(said.teams),
        capacity={} if isinstance(capacity, Unknown) else capacity,
        idle_resource_sharing=said.idle_resource_sharing,
        fair_share=said.fair_share,
    )


def sharing_plan_of(spec: ClusterSpec) -> tuple[PlannedShare, ...]:
    """Return what each team is promised and may borrow, of each instance type.

    Args:
        spec: A specification without errors that has ``task_governance``.
    """
    said = spec.task_governance
    assert said is not None
    capacity = capacity_of(spec)
    return sharing_plan(
        shares_of(said.teams),
        capacity={} if isinstance(capacity, Unknown) else capacity,
        idle_resource_sharing=said.idle_resource_sharing,
    )
