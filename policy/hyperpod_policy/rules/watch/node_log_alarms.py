"""Filters on the nodes' logs match, and alarms tell of the first line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_model.catalog.logs import (
    DEEP_HEALTH_FAILURE_FILTER,
    HEALTH_EVENT_DETAILS_KEY,
    HEALTH_EVENT_FILTER,
    LOG_GROUP_PREFIX,
)
from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference, Text, Unresolved, elements, integer, same

_FILTER: Final = "AWS::Logs::MetricFilter"
_ALARM: Final = "AWS::CloudWatch::Alarm"
_KEPT: Final = "Custom::NodeLogGroup"
_DETAILS: Final = f"$.{HEALTH_EVENT_DETAILS_KEY.rstrip(': ')}."
_PATTERN_ALLOWED: Final = f"a pattern that matches, such as {HEALTH_EVENT_FILTER}"
_ALLOWED: Final = "an alarm at one line or more, for which no line is no fault"
_ABOVE: Final = ("GreaterThanOrEqualToThreshold", "GreaterThanThreshold")
_CALM: Final = ("notBreaching", "missing")

_Metric = tuple[Any, Any]


def check(template: Template) -> Iterator[Verdict]:
    """Judge filters on the logs of a cluster's nodes, and the alarms on what they count."""
    if not clusters(template):
        return
    filters = [one for one in template.of_type(_FILTER) if _is_about_nodes(template, one)]
    for one in filters:
        pattern = one.get("FilterPattern")
        if isinstance(pattern, str) and _DETAILS in pattern:
            found = (
                f"asks for {_DETAILS}..., which no line has: the key is '{HEALTH_EVENT_DETAILS_KEY}', colon "
                "and blank included"
            )
            yield failed(one, "FilterPattern", found=found, allowed=_PATTERN_ALLOWED)
        else:
            yield passed(one, "FilterPattern")
    metrics = [metric for one in filters for metric in _metrics(one)]
    for alarm in template.of_type(_ALARM):
        yield from _judge(alarm, metrics)


def _is_about_nodes(template: Template, one: Resource) -> bool:
    group, pattern = one.get("LogGroupName"), str(one.get("FilterPattern"))
    if isinstance(group, Reference):
        kept = template.resource(group)
        if kept is not None and kept.type == _KEPT:
            return True
    start = group.parts[0] if isinstance(group, Text) else group
    return (
        (isinstance(start, str) and start.startswith(LOG_GROUP_PREFIX))
        or _DETAILS in pattern
        or HEALTH_EVENT_FILTER in pattern
        or DEEP_HEALTH_FAILURE_FILTER in pattern
    )


def _metrics(one: Resource) -> Iterator[_Metric]:
    for transformation in elements(one.get("MetricTransformations"))[0]:
        if isinstance(transformation, Mapping):
            yield transformation.get("MetricNamespace"), transformation.get("MetricName")


def _judge(alarm: Resource, metrics: Sequence[_Metric]) -> Iterator[Verdict]:
    namespace, name = alarm.get("Namespace"), alarm.get("MetricName")
    if namespace is None or not any(same(namespace, known) for known, _ in metrics):
        return
    if not any(same(namespace, known) and same(name, made) for known, made in metrics):
        found = f"is {name}, which no filter of this template counts in {namespace}"
        yield failed(alarm, "MetricName", found=found, allowed=_ALLOWED)
        return
    verdicts = [*_comparison(alarm), *_silence(alarm), *_repetition(alarm)]
    yield from verdicts if verdicts else [passed(alarm)]


def _comparison(alarm: Resource) -> Iterator[Verdict]:
    operator, threshold = alarm.get("ComparisonOperator"), alarm.get("Threshold", default=0)
    if isinstance(operator, Unresolved) or isinstance(threshold, Unresolved):
        found = "may be one that no line reaches"
        yield undetermined(alarm, "Threshold", found=found, allowed=_ALLOWED)
        return
    if operator not in _ABOVE:
        found = f"is {operator}, which is no alarm at many lines"
        yield failed(alarm, "ComparisonOperator", found=found, allowed=_ALLOWED)
        return
    least = float(threshold) if isinstance(threshold, int | float | str) else 0.0
    if operator == _ABOVE[1]:
        # Lines are whole.
        least = int(least) + 1
    if least > 1:
        found = f"is passed at {least:g} lines, so that the first is told to nobody"
        yield failed(alarm, "Threshold", found=found, allowed=_ALLOWED)
    elif least <= 0:
        found = "is passed by no line at all"
        yield failed(alarm, "Threshold", found=found, allowed=_ALLOWED)


def _silence(alarm: Resource) -> Iterator[Verdict]:
    treated = alarm.get("TreatMissingData", default="missing")
    if isinstance(treated, Unresolved):
        yield undetermined(alarm, "TreatMissingData", found=f"is {treated}", allowed=_ALLOWED)
    elif treated not in _CALM:
        then = "which keeps it on after one line" if treated == "ignore" else "which keeps it on without any"
        found = f"is {treated}, {then}: it tells of no other"
        yield failed(alarm, "TreatMissingData", found=found, allowed=_ALLOWED)


def _repetition(alarm: Resource) -> Iterator[Verdict]:
    """Say that one line is not enough, where periods without any count against it."""
    periods = integer(alarm.get("EvaluationPeriods"))
    needed = integer(alarm.get("DatapointsToAlarm", default=periods))
    if needed is not None and needed > 1 and alarm.get("TreatMissingData") == _CALM[0]:
        member = "EvaluationPeriods" if alarm.get("DatapointsToAlarm") is None else "DatapointsToAlarm"
        found = f"is {needed}: lines in {needed} periods are asked for, so that the first is told to nobody"
        yield failed(alarm, member, found=found, allowed="1, in as many EvaluationPeriods as you like")


RULE = Rule(
    id="NodeLogAlarms",
    title="filters on the nodes' logs match, and alarms on them tell of the first line",
    severity="warning",
    why=(
        "A filter that matches nothing and an alarm that is always on look like a watch that is kept. The "
        "health agent writes its details below a key with a colon in it, which no path to 'details' reaches, "
        "and a filter sends nothing while no line matches."
    ),
    fix=(
        f"use the pattern {HEALTH_EVENT_FILTER}, or words of the line; alarm at 1 or more, with "
        "TreatMissingData notBreaching"
    ),
    source=(
        "SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-health-monitoring-agent; CloudWatch "
        "user guide, how alarms treat missing data"
    ),
    check=check,
)
