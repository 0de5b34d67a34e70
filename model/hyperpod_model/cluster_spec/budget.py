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
from hyperpod_model.catalog.job_figures import CHECK_MINUTES
from hyperpod_model.checks.budget import check_budget
from hyperpod_model.checks.images import check_image
from hyperpod_model.cluster_spec.lifecycle_hooks import uploads_own
from hyperpod_model.faults import UNKNOWN, Fault
from hyperpod_model.spec_files.known import known
from hyperpod_model.spec_files.spec_model import Items, SpecModel

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_DATE: dict[str, Any] = {"pattern": r"^\d{4}-\d{2}-\d{2}$"}
_PERCENT: dict[str, Any] = {"items": {"type": "number", "minimum": PERCENT[0]}}


class BudgetSpec(SpecModel):
    """An AWS budget for the cluster, and an alarm on a fleet without a job."""

    limit_usd: float = Field(
        description="What the cluster may cost: US dollars a month, or from start_date to end_date.",
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
            f"{IDLE_HOURS[1]}; null for no alarm. Jobs are counted every {CHECK_MINUTES} minutes: "
            "with Slurm by the package's own scripts, with EKS see idle_check_image. By default 4."
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
    idle_check_image: str | None = Field(
        default=None,
        description=(
            "With EKS: container image with python3, and boto3 or the AWS CLI, that counts running jobs. By "
            "default nobody counts them, and the alarm on an idle fleet has no data."
        ),
    )


def check_budget_of(spec: ClusterSpec) -> Iterator[Fault]:
    """Check the budget, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    said = spec.budget
    if said is None or not known(said):
        return
    values = {name: _known(getattr(said, name)) for name in BudgetSpec.model_fields}
    for fault in check_budget(values):
        yield fault._replace(path=("budget", *fault.path))
    path = ("budget", "idle_check_image")
    image = _known(said.idle_check_image)
    if image is not None:
        yield from check_image(image, path)
    if not known(spec.orchestrator) or image is None:
        return
    if spec.orchestrator == "slurm":
        yield Fault(path, "goes with orchestrator 'eks'; with Slurm a script of the controller counts jobs")
    elif said.idle_hours is None:
        yield Fault(path, "counts for an alarm that is off; give idle_hours, or leave it out", "warning")


def cost_tag_of(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the key of the tag that everything gets for the budget, if it has none of its own.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    said = spec.budget
    if said is None or not known(said) or not known(said.cost_allocation_tag) or not known(spec.tags):
        return ()
    return () if said.cost_allocation_tag in spec.tags else (said.cost_allocation_tag,)


def counts_jobs_on_controller(spec: ClusterSpec) -> bool:
    """Tell whether a script of this package counts running jobs on the controller.

    Args:
        spec: A specification without errors.
    """
    wanted = spec.budget is not None and spec.budget.idle_hours is not None
    own = spec.lifecycle_scripts is not None and uploads_own(spec.lifecycle_scripts)
    has_controller = any(group.node_type == "Controller" for group in spec.instance_groups)
    return wanted and own and has_controller and spec.orchestrator == "slurm"


def budget_steps_due(spec: ClusterSpec) -> tuple[str, ...]:
    """Return what is left to do until somebody hears of costs.

    Args:
        spec: A specification without errors.
    """
    said = spec.budget
    if said is None and "budget" in spec.model_fields_set:
        return ()
    if said is None:
        return (
            "budget: nobody hears what the cluster costs, or that it idles; the step that is due: give "
            "budget.limit_usd, which only you know, or say budget: null",
        )
    steps = []
    if not said.cost_allocation_tag_activated:
        steps.append(
            f"budget: counts only what has the tag {said.cost_allocation_tag!r}; the step that is due once, "
            "about a day after the first deployment: activate it under Cost allocation tags in the Billing "
            "console of the paying account, or the budget sees no costs; then set "
            "budget.cost_allocation_tag_activated to true"
        )
    if not said.emails and spec.observability is None:
        steps.append(
            "budget: nobody hears of it, since budget.emails is empty and observability is null; the step "
            "that is due: name an address, or subscribe to the topic that is made"
        )
    if said.idle_hours is None or counts_jobs_on_controller(spec):
        return tuple(steps)
    if spec.orchestrator == "slurm":
        steps.append(
            "budget: nobody counts running jobs, since only the package's own lifecycle scripts do, on a "
            "Controller group; the step that is due: let a timer of yours put the metric RunningJobs "
            "(docs/budget-guard.md), or set budget.idle_hours to null"
        )
    elif said.idle_check_image is None:
        steps.append(
            "budget: nobody counts running jobs; the step that is due: name an image in "
            "budget.idle_check_image, or set budget.idle_hours to null"
        )
    elif spec.eks.cluster_arn is not None:
        steps.append(
            "budget: the stack applies no manifest to an EKS cluster that exists; the step that is due: "
            "render JobFiguresCheck (docs/budget-guard.md) and apply it"
        )
    return tuple(steps)


def _known(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_known(item) for item in value)
    return value if known(value) else UNKNOWN
