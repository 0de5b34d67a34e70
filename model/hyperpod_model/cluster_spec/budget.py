"""What the cluster may cost, and whether anybody uses it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import Field

from hyperpod_model.catalog.budgets import (
    DEFAULT_COST_ALLOCATION_TAG,
    FORECAST_NEEDS_WEEKS,
    IDLE_HOURS,
    PERCENT,
)
from hyperpod_model.checks.budget import check_budget, check_without_limit
from hyperpod_model.cluster_spec.job_figures import counts_jobs, has_job_figures
from hyperpod_model.faults import UNKNOWN, Fault
from hyperpod_model.spec_files.known import known
from hyperpod_model.spec_files.spec_model import Items, SpecModel

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_DATE: dict[str, Any] = {"pattern": r"^\d{4}-\d{2}-\d{2}$"}
_PERCENT: dict[str, Any] = {"items": {"type": "number", "minimum": PERCENT[0]}}


class BudgetSpec(SpecModel):
    """An AWS budget for the cluster, once limit_usd is given, and an alarm on a fleet without a job."""

    limit_usd: float | None = Field(
        default=None,
        description=(
            "What the cluster may cost: US dollars a month, or from start_date to end_date. By default no "
            "budget is made, of which each synthesis reminds; null for none without a reminder."
        ),
        json_schema_extra={"exclusiveMinimum": 0},
    )
    start_date: str | None = Field(
        default=None,
        description=(
            "First day of a campaign, such as '2027-01-15', with end_date. By default the budget is for "
            "each month."
        ),
        json_schema_extra=_DATE,
    )
    end_date: str | None = Field(
        default=None,
        description=(
            "Day on which a campaign ends, such as '2027-03-31'. After it AWS deletes the budget with its "
            "alerts. By default the budget is for each month."
        ),
        json_schema_extra=_DATE,
    )
    actual_alert_percentages: Items[float] = Field(
        default=(50, 80, 100),
        description=(
            "Percentages of limit_usd that are told of when they are spent. [] for none. By default 50, 80 "
            "and 100."
        ),
        json_schema_extra=_PERCENT,
    )
    forecast_alert_percentages: Items[float] = Field(
        default=(100,),
        description=(
            "Percentages of limit_usd that are told of when AWS forecasts them, which takes "
            f"{FORECAST_NEEDS_WEEKS} weeks of spending. [] for none. By default 100."
        ),
        json_schema_extra=_PERCENT,
    )
    emails: Items[str] = Field(
        default=(),
        description=(
            "Addresses that get the alerts of the budget, besides the topic of observability; AWS asks for "
            "no confirmation. By default none."
        ),
    )
    cost_allocation_tag: str = Field(
        default=DEFAULT_COST_ALLOCATION_TAG,
        description=(
            "Key of the tag by which the cluster's costs are told from others. Where tags have it, that one "
            "counts; else cluster, file system, buckets, network and EKS cluster that are made get it with "
            "the cluster's name. It must be activated in the Billing console. By default "
            f"{DEFAULT_COST_ALLOCATION_TAG}."
        ),
    )
    cost_allocation_tag_activated: bool = Field(
        default=False,
        description=(
            "That the tag is activated in the Billing console: nobody reminds you any more. By default false."
        ),
    )
    idle_hours: int | None = Field(
        default=4,
        description=(
            f"Hours without a running job after which an alarm tells of it, {IDLE_HOURS[0]} to "
            f"{IDLE_HOURS[1]}; null for no alarm. By default 4, where metrics.job_figures counts jobs. One "
            "that is given makes the alarm wherever the figures may come from."
        ),
        json_schema_extra={"minimum": IDLE_HOURS[0], "maximum": IDLE_HOURS[1]},
    )
    cost_per_hour_usd: float | None = Field(
        default=None,
        description=(
            "What you pay for an hour of the whole cluster in US dollars, for the alarm on an idle fleet to "
            "say. By default it names no amount."
        ),
        json_schema_extra={"exclusiveMinimum": 0},
    )


ONLY_WITH_LIMIT = (
    "start_date",
    "end_date",
    "actual_alert_percentages",
    "forecast_alert_percentages",
    "cost_allocation_tag",
    "cost_allocation_tag_activated",
)
"""Fields that say something of a budget alone."""


def check_budget_of(spec: ClusterSpec) -> Iterator[Fault]:
    """Check the budget, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    said = spec.budget
    if said is None or not known(said):
        return
    values = {name: _known(getattr(said, name)) for name in BudgetSpec.model_fields}
    faults = check_budget(values)
    if said.limit_usd is None:
        useless = [name for name in ONLY_WITH_LIMIT if name in said.model_fields_set]
        # Without a topic of observability they are subscribed to that of the alarm.
        readers = [] if spec.observability is None else ["emails"]
        faults += check_without_limit({name: values[name] for name in (*useless, *readers)})
    for fault in faults:
        yield fault._replace(path=("budget", *fault.path))


def cost_tag_of(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the key of the tag that everything gets for the budget, if it has none of its own.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    said = spec.budget
    if said is None or not known(said) or said.limit_usd is None:
        return ()
    if not known(said.cost_allocation_tag) or not known(spec.tags):
        return ()
    return () if said.cost_allocation_tag in spec.tags else (said.cost_allocation_tag,)


def declines_budget(spec: ClusterSpec) -> bool:
    """Tell whether a specification says by name that there is no budget: of these nobody is reminded.

    Args:
        spec: A specification without errors.
    """
    said = spec.budget
    return said is None or (said.limit_usd is None and "limit_usd" in said.model_fields_set)


def idle_hours_of(spec: ClusterSpec) -> int | None:
    """Return after how many hours without a job an alarm tells of it; None where there is no such alarm.

    By default there is none where nobody counts jobs, or nobody could hear. One that is said is made.

    Args:
        spec: A specification without errors.
    """
    said = spec.budget
    if said is None or said.idle_hours is None or "idle_hours" in said.model_fields_set:
        return None if said is None else said.idle_hours
    heard = spec.observability is not None or said.limit_usd is not None or bool(said.emails)
    return said.idle_hours if counts_jobs(spec) and heard else None


def budget_steps_due(spec: ClusterSpec) -> tuple[str, ...]:
    """Return what is left to do until somebody hears of costs.

    Args:
        spec: A specification without errors.
    """
    said = spec.budget
    if said is None:
        return ()
    steps = []
    idle_hours = idle_hours_of(spec)
    if said.limit_usd is None and not declines_budget(spec):
        steps.append(
            "budget: nobody hears what the cluster costs; the step that is due: give budget.limit_usd, which "
            "only you know, or say budget.limit_usd: null"
        )
    if said.limit_usd is not None and not said.cost_allocation_tag_activated:
        steps.append(
            f"budget: counts only what has the tag {said.cost_allocation_tag!r}; the step that is due once, "
            "about a day after the first deployment: activate it under Cost allocation tags in the Billing "
            "console of the paying account, or the budget sees no costs; then set "
            "budget.cost_allocation_tag_activated to true"
        )
    watches = said.limit_usd is not None or idle_hours is not None
    if watches and not said.emails and spec.observability is None:
        steps.append(
            "budget: nobody hears of it, since budget.emails is empty and observability is null; the step "
            "that is due: name an address, or subscribe to the topic that is made"
        )
    if idle_hours is not None and not has_job_figures(spec):
        steps.append(
            "budget: nobody counts running jobs for the alarm on an idle fleet, since metrics.job_figures is "
            "off; the step that is due: let a timer of yours put the metric RunningJobs "
            "(docs/job-figures.md), or set budget.idle_hours to null"
        )
    return tuple(steps)


def _known(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_known(item) for item in value)
    return value if known(value) else UNKNOWN
