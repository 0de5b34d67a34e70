"""Whether a group's training plan is for clusters, of its type and zone, large enough and in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_lifecycle.preflight.wanted import WantedGroup
from hyperpod_model.catalog.preflight import (
    TRAINING_PLAN_NOT_BEGUN,
    TRAINING_PLAN_NOT_PAID,
    TRAINING_PLAN_TARGET,
    USABLE_TRAINING_PLAN_STATUSES,
)

ABOUT = About("training plan")

_REGION, _ACCOUNT = 3, 4


def check_training_plans(situation: Situation) -> Iterator[Finding]:
    """Check each training plan against the groups that use it.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses to tell the zones of subnets.
    """
    arns = situation.wanted.training_plan_arns
    if not arns:
        yield ABOUT.not_applicable("no group uses one")
    for arn in arns:
        yield from _check(situation, arn)


def _check(situation: Situation, arn: str) -> Iterator[Finding]:
    parts, name = arn.split(":"), arn.rpartition("/")[2]
    region = situation.wanted.region
    if parts[_REGION] != region:
        yield ABOUT.problem(
            name, f"it is of {parts[_REGION]}, the cluster of {region}", remedy="use a plan of that region"
        )
        return
    if parts[_ACCOUNT] != situation.account:
        yield ABOUT.cannot_tell(
            name, f"it is of account {parts[_ACCOUNT]}, and the credentials are of {situation.account}"
        )
        return
    try:
        plan = situation.reads.one("sagemaker", "DescribeTrainingPlan", TrainingPlanName=name)
    except OperationError as error:
        if code_of(error.__cause__) != "ResourceNotFound":
            yield ABOUT.cannot_tell(name, error)
            return
        yield ABOUT.problem(
            name,
            f"there is no such plan in {region}",
            remedy=f"name one of 'aws sagemaker list-training-plans --region {region}'",
        )
        return
    groups = [group for group in situation.wanted.groups if group.training_plan_arn == arn]
    problems = [*_state(name, plan), *_capacity(situation, name, plan, groups)]
    yield from problems
    if not problems:
        begins = (
            f"; nodes come when it begins, {plan['StartTime']:%Y-%m-%d %H:%M %Z}"
            if plan["Status"] == TRAINING_PLAN_NOT_BEGUN and "StartTime" in plan
            else ""
        )
        yield ABOUT.ok(
            name, f"it is {plan['Status']} and fits {', '.join(group.name for group in groups)}{begins}"
        )


def _state(name: str, plan: Mapping[str, Any]) -> Iterator[Finding]:
    status = plan["Status"]
    if status == TRAINING_PLAN_NOT_PAID:
        yield ABOUT.problem(
            name,
            f"it is {status}: it is not paid",
            remedy=f"wait until it is {' or '.join(USABLE_TRAINING_PLAN_STATUSES)}",
        )
    elif status not in USABLE_TRAINING_PLAN_STATUSES:
        said = plan.get("StatusMessage")
        yield ABOUT.problem(
            name, f"it is {status}{f': {said}' if said else ''}", remedy="reserve another plan, and name it"
        )
    targets = plan.get("TargetResources", ())
    if targets and TRAINING_PLAN_TARGET not in targets:
        yield ABOUT.problem(
            name,
            f"it is for {', '.join(targets)} alone",
            remedy=f"reserve one for {TRAINING_PLAN_TARGET}",
        )


def _capacity(
    situation: Situation, name: str, plan: Mapping[str, Any], groups: Sequence[WantedGroup]
) -> Iterator[Finding]:
    reserved = [
        row
        for row in plan.get("ReservedCapacitySummaries", ())
        if row["Status"] in USABLE_TRAINING_PLAN_STATUSES or row["Status"] == TRAINING_PLAN_NOT_PAID
    ]
    if not reserved:
        if plan["Status"] in USABLE_TRAINING_PLAN_STATUSES:
            yield ABOUT.cannot_tell(name, "SageMaker names no capacity of it that is or will be there")
        return
    fitting: list[WantedGroup] = []
    for group in groups:
        of_type = [row for row in reserved if row["InstanceType"] in group.types]
        if not of_type:
            types = ", ".join(sorted({row["InstanceType"] for row in reserved}))
            yield ABOUT.problem(
                name,
                f"it has {types}, and group {group.name} is of {' or '.join(group.types)}",
                remedy="change the group's type, or name another plan",
            )
            continue
        fitting.append(group)
        zones = sorted({row["AvailabilityZoneId"] for row in of_type if "AvailabilityZoneId" in row})
        own = situation.zones_of(group)
        if not zones or not own:
            yield ABOUT.cannot_tell(name, f"the zone of {'the plan' if not zones else group.name} is unknown")
        elif not set(own) <= set(zones):
            yield ABOUT.problem(
                name,
                f"its capacity is in {' and '.join(zones)}, and group {group.name} in {' and '.join(own)}",
                remedy=situation.wanted.way_into(zones),
            )
    yield from _count(situation, name, plan, reserved, fitting)


def _count(
    situation: Situation,
    name: str,
    plan: Mapping[str, Any],
    reserved: Sequence[Mapping[str, Any]],
    groups: Sequence[WantedGroup],
) -> Iterator[Finding]:
    needed = sum(group.count for group in groups)
    types = {type for group in groups for type in group.types}
    total = sum(row["TotalInstanceCount"] for row in reserved if row["InstanceType"] in types)
    if needed > total:
        yield ABOUT.problem(
            name,
            f"it has {total} instances, and {needed} are needed",
            remedy="make the groups smaller, or extend the reservation",
        )
        return
    free = plan.get("AvailableInstanceCount")
    if plan["Status"] == TRAINING_PLAN_NOT_BEGUN or free is None or needed <= free:
        return
    try:
        same = situation.same_cluster()
    except OperationError as error:
        yield ABOUT.cannot_tell(name, f"{free} of its instances are free and {needed} needed: {error}")
        return
    own = 0
    if same is not None:
        own = sum(nodes.count for nodes in same.nodes if nodes.plan_arn == plan["TrainingPlanArn"])
    if needed > free + own:
        yield ABOUT.problem(
            name,
            f"{free} of its {total} instances are free, and {needed - own} more are needed",
            remedy="take the others out of use, or make the groups smaller",
        )
