"""CloudWatch of the double: moto's, which keeps alarms and never looks at what they watch.

AWS looks at each alarm every minute. A stand-in for that: here an alarm is looked at when a value of its
metric or a line of its log groups comes, with the minute that runs as the end of its newest period, and when
a test calls ``look_at_alarms`` with a moment. Nobody looks in between: without a value no alarm ends, and
none turns to INSUFFICIENT_DATA.

What an alarm looks at is ``alarm_values``, expressions are ``metric_math``, and what comes of it is
``alarm_state``.
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
from aws_double.services.alarm_state import OFF, ON, UNKNOWN, alarm_state
from aws_double.services.alarm_values import breaches, uses, values_of

_SERVICE = "cloudwatch.amazonaws.com"
_CONTRIBUTORS = re.compile(r"INSIGHT_RULE_METRIC\(\s*[\"'](?P<rule>[^\"']+)")
_MOST = "MaxContributorValue"


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
        rules = {
            found["rule"]
            for query in alarm.metric_data_queries
            for found in _CONTRIBUTORS.finditer(query.expression or "")
        }
        if any(
            log_group in json.loads(backend.insight_rules[name].definition)["LogGroupNames"]
            for name in rules & set(backend.insight_rules)
        ):
            _look(backend, alarm, _running_minute())


def look_at_alarms(region: str, at: datetime) -> None:
    """Look at all alarms as AWS does each minute.

    Args:
        region: The region.
        at: The moment; the newest periods end with the minute before it.
    """
    backend = cloudwatch_backends[ACCOUNT][region]
    for alarm in list(backend.alarms.values()):
        _look(backend, alarm, at.replace(second=0, microsecond=0))


def _running_minute() -> datetime:
    """The end of the minute that runs."""
    return datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)


def _look(backend: Any, alarm: Any, end: datetime) -> None:
    def ranked(rule: str, metric: str, since: datetime, until: datetime) -> float | None:
        return _ranked(backend, rule, metric, since, until)

    values = values_of(backend, alarm, end=end, ranked=ranked)
    state = alarm_state(
        alarm.state_value,
        breaches(alarm, values),
        evaluated=int(alarm.evaluation_periods),
        needed=None if alarm.datapoints_to_alarm is None else int(alarm.datapoints_to_alarm),
        missing=alarm.treat_missing_data,
    )
    if state != alarm.state_value:
        newest = ", ".join(f"{values[at]:g}" for at in sorted(values)) or "none"
        reason = f"Looked at: {newest}; {alarm.comparison_operator} {alarm.threshold}"
        backend.set_alarm_state(alarm.name, reason, "{}", state)


def _ranked(backend: Any, rule: str, metric: str, since: datetime, until: datetime) -> float | None:
    if metric != _MOST:
        raise AssertionError(f"{rule}: only {_MOST} of Contributor Insights is in this double, got {metric}")
    found = backend.insight_rules.get(rule)
    if found is None or found.state != "ENABLED":
        return None
    return _largest(backend.region_name, json.loads(found.definition), since, until)


def _largest(region: str, body: Mapping[str, Any], since: datetime, until: datetime) -> float | None:
    """Return how many lines the most frequent contributor has; none if there is no contributor."""
    counted: Counter[tuple[Any, ...]] = Counter()
    for line in _lines(region, body["LogGroupNames"], since, until):
        fits = all(_at(line, one["Match"]) in one["In"] for one in body["Contribution"].get("Filters", []))
        keys = tuple(_at(line, key) for key in body["Contribution"]["Keys"])
        if fits and None not in keys:
            counted[keys] += 1
    return float(max(counted.values())) if counted else None


def _lines(region: str, groups: list[str], since: datetime, until: datetime) -> Iterator[Any]:
    for name in groups:
        group = logs_backends[ACCOUNT][region].groups.get(name)
        for stream in [] if group is None else group.streams.values():
            for event in stream.events:
                if since.timestamp() * 1000 <= event.timestamp < until.timestamp() * 1000:
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
            made.state_value = UNKNOWN
        return made

    return put_metric_alarm


def _looked_at(method: Callable[..., Any]) -> Callable[..., Any]:
    def put_metric_data(backend: Any, namespace: str, metric_data: list[dict[str, Any]]) -> None:
        method(backend, namespace, metric_data)
        names = {datum["MetricName"] for datum in metric_data}
        for alarm in list(backend.alarms.values()):
            if uses(alarm, namespace, names):
                _look(backend, alarm, _running_minute())

    return put_metric_data


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
                ON: alarm.alarm_actions,
                OFF: alarm.ok_actions,
                UNKNOWN: alarm.insufficient_data_actions,
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
