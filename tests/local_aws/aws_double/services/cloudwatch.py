"""CloudWatch of the double: moto's, which keeps alarms and never looks at what they watch.

AWS looks at each alarm every minute. A stand-in for that: here an alarm is looked at when a value of its
metric or a line of its log groups comes, so that it begins at once, and it ends when somebody sets its state.
Alarms on expressions are not looked at, but for those on what Contributor Insights ranks.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.cloudwatch.exceptions import InvalidParameterValue
from moto.cloudwatch.models import CloudWatchBackend, cloudwatch_backends
from moto.logs.models import logs_backends

from aws_double import ACCOUNT
from aws_double.patching import around, before
from aws_double.services import sns

_SERVICE = "cloudwatch.amazonaws.com"
_CONTRIBUTORS = re.compile(r'INSIGHT_RULE_METRIC\("(?P<rule>[^"]+)", "MaxContributorValue"\)')
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": lambda value, threshold: value >= threshold,
    "GreaterThanThreshold": lambda value, threshold: value > threshold,
    "LessThanThreshold": lambda value, threshold: value < threshold,
    "LessThanOrEqualToThreshold": lambda value, threshold: value <= threshold,
}
_ON = "ALARM"


def install() -> None:
    """Patch moto."""
    around(CloudWatchBackend, "put_metric_alarm", _keeping_state)
    around(CloudWatchBackend, "put_metric_data", _looked_at)
    around(CloudWatchBackend, "set_alarm_state", _told)
    before(CloudWatchBackend, "put_dashboard", _check_dashboard)
    around(CloudWatchBackend, "tag_resource", _tagged)


def _tagged(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let more than alarms have tags: moto refuses rules of Contributor Insights and dashboards."""

    def tag_resource(backend: Any, arn: str, tags: dict[str, str]) -> Any:
        if ":alarm:" in arn:
            return method(backend, arn, tags)
        return backend.tagger.tag_resource(arn, backend.tagger.convert_dict_to_tags_input(tags))

    return tag_resource


def count(region: str, namespace: str, name: str, value: float, dimensions: Mapping[str, str]) -> None:
    """Put one value of a metric, as a service does."""
    datum = {
        "MetricName": name,
        "Value": value,
        "Dimensions": [{"Name": key, "Value": item} for key, item in dimensions.items()],
        "Timestamp": datetime.now(UTC).replace(tzinfo=None),
    }
    cloudwatch_backends[ACCOUNT][region].put_metric_data(namespace, [datum])


def look_at_lines(region: str, log_group: str) -> None:
    """Look at the alarms on what Contributor Insights ranks of a log group."""
    backend = cloudwatch_backends[ACCOUNT][region]
    for alarm in list(backend.alarms.values()):
        for query in alarm.metric_data_queries:
            found = _CONTRIBUTORS.fullmatch(query.expression or "")
            rule = None if found is None else backend.insight_rules.get(found["rule"])
            if rule is None or rule.state != "ENABLED":
                continue
            body = json.loads(rule.definition)
            if log_group in body["LogGroupNames"]:
                since = datetime.now(UTC) - timedelta(seconds=int(query.period))
                _judge(backend, alarm, float(_largest(region, body, since)))


def _largest(region: str, body: Mapping[str, Any], since: datetime) -> int:
    """Return how many lines the most frequent contributor has."""
    counted: Counter[tuple[Any, ...]] = Counter()
    for line in _lines(region, body["LogGroupNames"], since):
        fits = all(_at(line, one["Match"]) in one["In"] for one in body["Contribution"].get("Filters", []))
        keys = tuple(_at(line, key) for key in body["Contribution"]["Keys"])
        if fits and None not in keys:
            counted[keys] += 1
    return max(counted.values(), default=0)


def _lines(region: str, groups: list[str], since: datetime) -> Iterator[Any]:
    for name in groups:
        group = logs_backends[ACCOUNT][region].groups.get(name)
        for stream in [] if group is None else group.streams.values():
            for event in stream.events:
                if event.timestamp >= since.timestamp() * 1000:
                    yield json.loads(event.message)


def _at(line: Any, path: str) -> Any:
    for step in path.removeprefix("$.").split("."):
        line = line.get(step) if isinstance(line, dict) else None
    return line


def _keeping_state(method: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the state of an alarm that changes, and begin a new one without data as it says."""

    def put_metric_alarm(backend: Any, **asked: Any) -> Any:
        before = backend.alarms.get(asked["name"])
        made = method(backend, **asked)
        if before is not None:
            made.state_value = before.state_value
        elif asked.get("treat_missing_data") != "notBreaching":
            made.state_value = "INSUFFICIENT_DATA"
        return made

    return put_metric_alarm


def _looked_at(method: Callable[..., Any]) -> Callable[..., Any]:
    def put_metric_data(backend: Any, namespace: str, metric_data: list[dict[str, Any]]) -> None:
        method(backend, namespace, metric_data)
        names = {datum["MetricName"] for datum in metric_data}
        for alarm in list(backend.alarms.values()):
            if alarm.namespace == namespace and alarm.metric_name in names:
                value = _statistic(backend, alarm)
                if value is not None:
                    _judge(backend, alarm, value)

    return put_metric_data


def _statistic(backend: Any, alarm: Any) -> float | None:
    """Return the last period's value of what an alarm watches; none without data."""
    since = datetime.now(UTC) - timedelta(seconds=int(alarm.period))
    values = [
        datum.value
        for datum in backend.metric_data
        if datum.namespace == alarm.namespace
        and datum.name == alarm.metric_name
        and {(one.name, one.value) for one in datum.dimensions}
        == {(one.name, one.value) for one in alarm.dimensions}
        and datum.timestamp.replace(tzinfo=UTC) >= since
    ]
    if not values:
        return None
    statistics = {
        "Sum": sum(values),
        "Maximum": max(values),
        "Minimum": min(values),
        "SampleCount": float(len(values)),
        "Average": sum(values) / len(values),
    }
    return float(statistics[alarm.statistic])


def _judge(backend: Any, alarm: Any, value: float) -> None:
    """Let an alarm begin whose threshold is crossed. This double has no alarm of more than one period."""
    if int(alarm.evaluation_periods) != 1:
        raise AssertionError(f"{alarm.name}: alarms of several periods are not in this double")
    if alarm.state_value != _ON and _COMPARISONS[alarm.comparison_operator](value, float(alarm.threshold)):
        reason = f"Threshold Crossed: 1 datapoint [{value}] was {alarm.comparison_operator} {alarm.threshold}"
        backend.set_alarm_state(alarm.name, reason, "{}", _ON)


def _told(method: Callable[..., Any]) -> Callable[..., Any]:
    """Do what an alarm does when its state changes."""

    def set_alarm_state(
        backend: Any, alarm_name: str, reason: str, reason_data: str, state_value: str
    ) -> None:
        before = backend.alarms[alarm_name].state_value if alarm_name in backend.alarms else None
        method(backend, alarm_name, reason, reason_data, state_value)
        alarm = backend.alarms[alarm_name]
        if state_value != before and alarm.actions_enabled:
            actions = {
                _ON: alarm.alarm_actions,
                "OK": alarm.ok_actions,
                "INSUFFICIENT_DATA": alarm.insufficient_data_actions,
            }
            for arn in actions[state_value]:
                _tell(alarm, arn, before)

    return set_alarm_state


def _tell(alarm: Any, arn: str, before: str | None) -> None:
    if arn.split(":")[2] != "sns":
        raise AssertionError(f"{alarm.name}: only actions of SNS are in this double, got {arn}")
    message = {
        "AlarmName": alarm.name,
        "AlarmDescription": alarm.description,
        "AWSAccountId": ACCOUNT,
        "NewStateValue": alarm.state_value,
        "NewStateReason": alarm.state_reason,
        "OldStateValue": before,
        "Region": alarm.region_name,
        "AlarmArn": alarm.alarm_arn,
    }
    sns.publish(
        _SERVICE,
        arn,
        json.dumps(message),
        subject=f'{alarm.state_value}: "{alarm.name}" in {alarm.region_name}'[:100],
        keys={"aws:SourceAccount": ACCOUNT, "aws:SourceArn": alarm.alarm_arn},
    )


def _check_dashboard(_backend: Any, asked: Mapping[str, Any]) -> None:
    """Refuse a body that CloudWatch refuses: no JSON, or widgets without type and properties."""
    try:
        widgets = json.loads(asked["body"])["widgets"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidParameterValue(
            f"The field DashboardBody must be a valid JSON object: {error}"
        ) from error
    for number, widget in enumerate(widgets):
        missing = {"type", "properties"} - set(widget)
        if missing:
            raise InvalidParameterValue(f"/widgets/{number}: should have {', '.join(sorted(missing))}")
