"""CloudWatch takes the alarms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.catalog.alarms import SHORT_PERIODS, WHOLE_MINUTES, longest_seconds
from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import integer

_ALARM: Final = "AWS::CloudWatch::Alarm"
_PERIODS: Final = "EvaluationPeriods"
_POINTS: Final = "DatapointsToAlarm"


def check(template: Template) -> Iterator[Verdict]:
    """Judge how far each alarm beside a cluster looks back, as far as its numbers are known."""
    if not clusters(template):
        return
    for alarm in template.of_type(_ALARM):
        verdicts = [*_judge(alarm)]
        yield from verdicts if verdicts else [passed(alarm)]


def _judge(alarm: Resource) -> Iterator[Verdict]:
    period, count, points = (integer(alarm.get(name)) for name in ("Period", _PERIODS, _POINTS))
    if period is not None and period not in SHORT_PERIODS and (period < 1 or period % WHOLE_MINUTES):
        allowed = f"{', '.join(map(str, SHORT_PERIODS))} or a multiple of {WHOLE_MINUTES}"
        yield failed(alarm, "Period", found=f"is {period} seconds", allowed=allowed)
    elif period is not None and count is not None and period * count > longest_seconds(period):
        found = f"is {count}, of {period} seconds each: {period * count} seconds in all"
        allowed = (
            f"at most {longest_seconds(period) // period} such periods, {longest_seconds(period)} seconds"
        )
        yield failed(alarm, _PERIODS, found=found, allowed=allowed)
    if count is not None and points is not None and points > count:
        found = f"is {points}, of {count} periods"
        yield failed(alarm, _POINTS, found=found, allowed=f"1 to {count}, the number of its periods")


RULE = Rule(
    id="AlarmWindow",
    title="CloudWatch takes the alarms",
    severity="error",
    why=(
        "CloudWatch refuses an alarm that looks back too far, and the deployment that was to make a cluster "
        "goes back with it."
    ),
    fix="take a longer Period, or fewer EvaluationPeriods: a day with periods below an hour, else a week",
    source="CloudWatch API reference, PutMetricAlarm",
    check=check,
)
