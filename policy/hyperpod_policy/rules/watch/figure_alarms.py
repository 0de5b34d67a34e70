"""Alarms on figures of jobs look at figures that somebody puts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_model.catalog.job_figures import (
    CHECK_MINUTES,
    CLUSTER_DIMENSION,
    JOB_FIGURES,
    QUEUE_DIMENSION,
)
from hyperpod_model.catalog.logs import METRIC_NAMESPACE
from hyperpod_model.faults import FaultPath
from hyperpod_policy.clusters import CLUSTER, clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, integer, same

_ALARM: Final = "AWS::CloudWatch::Alarm"
_NAMES: Final = frozenset(figure.name for figure in JOB_FIGURES)
_ALLOWED: Final = (
    f"namespace {METRIC_NAMESPACE}, dimension {CLUSTER_DIMENSION} with the cluster's name, and for one queue "
    f"{QUEUE_DIMENSION}"
)
_SECONDS: Final = 60 * CHECK_MINUTES
_COUNTS_POINTS: Final = "SampleCount"


@dataclass(frozen=True, slots=True)
class _Metric:
    properties: Mapping[str, Any]
    path: FaultPath

    def get(self, name: str) -> Any:
        return self.properties.get(name)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the alarms on figures of jobs of a template with a cluster."""
    known = clusters(template)
    if not known:
        return
    for alarm in template.of_type(_ALARM):
        metrics = [metric for metric in _metrics(alarm) if _is_figure(metric)]
        verdicts = [verdict for metric in metrics for verdict in _metric(template, alarm, metric, known)]
        if metrics and not metrics[0].path:
            verdicts += [*_threshold(alarm), *_gaps(alarm)]
        if metrics:
            yield from verdicts if verdicts else [passed(alarm)]


def _metrics(alarm: Resource) -> Iterator[_Metric]:
    yield _Metric(alarm.properties, ())
    for position, query in enumerate(elements(alarm.get("Metrics"))[0]):
        statistic = query.get("MetricStat") if isinstance(query, Mapping) else None
        metric = statistic.get("Metric") if isinstance(statistic, Mapping) else None
        if isinstance(metric, Mapping):
            yield _Metric(metric, ("Metrics", position, "MetricStat", "Metric"))


def _is_figure(metric: _Metric) -> bool:
    """Whether a metric is a figure of jobs, or was meant to be one."""
    namespace, name = metric.get("Namespace"), metric.get("MetricName")
    return (
        isinstance(name, str)
        and name in _NAMES
        and isinstance(namespace, str)
        and namespace.strip("/").lower() == METRIC_NAMESPACE.strip("/").lower()
    )


def _metric(
    template: Template, alarm: Resource, metric: _Metric, known: Sequence[Resource]
) -> Iterator[Verdict]:
    namespace = metric.get("Namespace")
    if namespace != METRIC_NAMESPACE:
        found = f"is {namespace}, which is another namespace than {METRIC_NAMESPACE}"
        yield failed(alarm, *metric.path, "Namespace", found=found, allowed=_ALLOWED)
        return
    listed, complete = elements(metric.get("Dimensions"))
    named = {
        one.get("Name"): (at, one.get("Value")) for at, one in enumerate(listed) if isinstance(one, Mapping)
    }
    path = (*metric.path, "Dimensions")
    unclear = any(isinstance(one, Unresolved) for one in (*listed, *named))
    if unclear or not complete:
        found = "may be others than those of the figures"
        yield undetermined(alarm, *path, found=found, allowed=_ALLOWED)
        return
    others = sorted(str(name) for name in named if name not in (CLUSTER_DIMENSION, QUEUE_DIMENSION))
    if others or CLUSTER_DIMENSION not in named:
        what = f"are {', '.join(sorted(map(str, named)))}" if named else "are missing"
        found = f"{what}, with which no {metric.get('MetricName')} is put"
        yield failed(alarm, *path, found=found, allowed=_ALLOWED)
        return
    position, value = named[CLUSTER_DIMENSION]
    yield from _cluster(template, alarm, (*path, position, "Value"), value, known)


def _cluster(
    template: Template, alarm: Resource, path: FaultPath, value: Any, known: Sequence[Resource]
) -> Iterator[Verdict]:
    meant = template.resource(value, CLUSTER)
    if meant is not None:
        found = f"is the ARN of {meant.logical_id}, where its name belongs"
        yield failed(alarm, *path, found=found, allowed=_ALLOWED)
        return
    names = [cluster.get("ClusterName") for cluster in known]
    answers = {None if name is None else same(value, name) for name in names}
    if True in answers:
        return
    if None in answers:
        found = f"is {value}, which may be another name than the cluster's"
        yield undetermined(alarm, *path, found=found, allowed=_ALLOWED)
    else:
        found = f"is {value}, and no cluster here has that name: {', '.join(map(str, names))}"
        yield failed(alarm, *path, found=found, allowed=_ALLOWED)


def _threshold(alarm: Resource) -> Iterator[Verdict]:
    """Say that figures, none of which is below 0, never or always pass a threshold."""
    threshold, operator = alarm.get("Threshold"), alarm.get("ComparisonOperator")
    try:
        limit = float(threshold)
    except (TypeError, ValueError):
        return
    if alarm.get("Statistic") == _COUNTS_POINTS:
        return
    never = {"LessThanThreshold": limit <= 0, "LessThanOrEqualToThreshold": limit < 0}
    always = {"GreaterThanOrEqualToThreshold": limit <= 0, "GreaterThanThreshold": limit < 0}
    if never.get(operator) or always.get(operator):
        how = "never" if never.get(operator) else "always"
        found = f"is {limit:g}, which a figure of 0 or more {how} passes ({operator})"
        yield failed(
            alarm, "Threshold", found=found, allowed="a number that some figures pass and others not"
        )


def _gaps(alarm: Resource) -> Iterator[Verdict]:
    """Say that periods without a figure decide alone, where figures come as the package's check puts them."""
    period, count = integer(alarm.get("Period")), integer(alarm.get("EvaluationPeriods"))
    if period is None or count is None or not 0 < period < _SECONDS:
        return
    needed = integer(alarm.get("DatapointsToAlarm", default=count))
    figures = count * period // _SECONDS + 1
    treated = alarm.get("TreatMissingData")
    if needed is None:
        return
    if treated == "notBreaching" and needed > figures:
        how = "so that it never begins"
    elif treated == "breaching" and count - figures >= needed:
        how = "so that it is always on"
    else:
        return
    found = (
        f"is {period} seconds, and a check puts figures every {CHECK_MINUTES} minutes: {needed} of {count} "
        f"periods decide, most of which have none and are {treated}, {how}"
    )
    allowed = f"{_SECONDS} seconds or more, or figures that somebody puts more often"
    yield undetermined(alarm, "Period", found=found, allowed=allowed)


RULE = Rule(
    id="FigureAlarms",
    title="alarms on figures of jobs look at figures that somebody puts",
    severity="warning",
    why=(
        "CloudWatch takes an alarm on a metric that does not exist, and on a limit that nothing passes. It "
        "stays quiet, and an idle fleet costs what it costs."
    ),
    fix=(
        f"write namespace {METRIC_NAMESPACE} and the dimension {CLUSTER_DIMENSION} with the name of the "
        f"cluster, which is not what Ref returns, and look at {CHECK_MINUTES} minutes or more; BudgetGuard "
        "and JobFigures do"
    ),
    source="CloudWatch user guide, dimensions and how alarms treat missing data; docs/job-figures.md",
    check=check,
)
