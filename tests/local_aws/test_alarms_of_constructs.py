"""Alarms as the constructs synthesize them, in the double, on values as services and checks put them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aws_cdk import assertions
from clusters import cluster, stack
from local_resources import create, delete
from moto.cloudwatch.models import cloudwatch_backends
from stacks import resources

import hyperpod_constructs
from aws_double import ACCOUNT
from aws_double.services.cloudwatch import look_at_alarms
from aws_double.session import Session
from hyperpod_constructs.budget_guard import BudgetGuard
from hyperpod_constructs.cluster_observability import ClusterObservability
from hyperpod_constructs.job_figures import JobFigures
from hyperpod_model.catalog.job_figures import (
    CHECK_MINUTES,
    CLUSTER_DIMENSION,
    LONGEST_WAIT,
    PREEMPTED_JOBS,
    QUEUE_DIMENSION,
    RUNNING_JOBS,
)
from hyperpod_model.catalog.logs import METRIC_NAMESPACE

ALARM, RANKING, FILTER = "AWS::CloudWatch::Alarm", "AWS::CloudWatch::InsightRule", "AWS::Logs::MetricFilter"
ON, OFF, UNKNOWN = "ALARM", "OK", "INSUFFICIENT_DATA"
NAME = "llm-train"
HOURS, WAIT_MINUTES, PREEMPTIONS = 4, 60, 10
MAKE_ALARMS = {"budget_guard", "failing_slots", "job_figures", "log_alarm"}
"""Modules whose constructs are in the template below."""

Values = Mapping[int, float]


class Story(NamedTuple):
    """What is put at which minutes, and the state of the alarm at others."""

    alarm: str
    title: str
    put: Values
    states: Mapping[int, str]


def checks(until: int, value: float, *, since: int = 0, without: int = 0) -> dict[int, float]:
    """Checks of so many minutes, in the middle of each ten; without so many in the middle of them all."""
    minutes = list(range(since + CHECK_MINUTES // 2, until, CHECK_MINUTES))
    middle = len(minutes) // 2
    return dict.fromkeys(minutes[:middle] + minutes[middle + without :], value)


IDLE = HOURS * 60
LINES = ("health-detections", "deep-health-failures", "lifecycle-failures", "crash-loops")
STORIES = [
    *(
        Story(name, title, put, states)
        for name in LINES
        for title, put, states in (
            (
                "the first line, and the next ones",
                {100: 1, 200: 1, 201: 1},
                {99: OFF, 101: ON, 190: OFF, 202: ON},
            ),
            ("no line", {}, {1: OFF, 1440: OFF}),
        )
    ),
    Story(
        "idle-fleet", "hours without a job", checks(IDLE + 60, 0), {IDLE - 20: OFF, IDLE: ON, IDLE + 60: ON}
    ),
    Story("idle-fleet", "without one check", checks(IDLE, 0, without=1), {IDLE: ON}),
    Story("idle-fleet", "without two checks", checks(IDLE, 0, without=2), {IDLE: OFF}),
    Story("idle-fleet", "a job at one check", checks(IDLE, 0) | {125: 1}, {IDLE: OFF}),
    Story("idle-fleet", "a job as long ago", checks(IDLE, 0) | {5: 1}, {IDLE: OFF}),
    Story("idle-fleet", "a job longer ago", {-5: 1} | checks(IDLE, 0), {IDLE - 20: OFF, IDLE: ON}),
    Story("idle-fleet", "no check", {}, {1: UNKNOWN, IDLE: UNKNOWN}),
    Story("idle-fleet", "jobs all the time", checks(IDLE, 3), {IDLE: OFF}),
    Story(
        "idle-fleet",
        "a job comes",
        checks(IDLE, 0) | checks(IDLE + 60, 1, since=IDLE),
        {IDLE: ON, IDLE + 10: OFF, IDLE + 60: OFF},
    ),
    Story("idle-fleet", "checks end", checks(IDLE, 0), {IDLE: ON, IDLE + 30: OFF, 4 * IDLE: UNKNOWN}),
    Story(
        "wait-time",
        "three checks in a row",
        {5: 1800, 15: 3601, 25: 4201, 35: 4801, 45: 0},
        {20: OFF, 30: OFF, 40: ON, 50: OFF},
    ),
    Story("wait-time", "as long as it may", checks(60, 3600), {60: OFF}),
    Story("wait-time", "longer at two checks", {5: 0, 15: 3700, 25: 4300, 35: 0}, {30: OFF, 40: OFF}),
    Story(
        "wait-time", "one check in between missing", {5: 0, 15: 3700, 35: 4900, 45: 5500}, {40: OFF, 50: ON}
    ),
    Story("wait-time", "nobody waits", checks(120, 0), {120: OFF}),
    Story("wait-time", "no check", {}, {1: UNKNOWN, 120: UNKNOWN}),
    Story("wait-time", "checks end", {5: 0, 15: 3700}, {20: OFF, 200: UNKNOWN}),
    Story(
        "preemptions",
        "one more than may be, within an hour",
        checks(180, 0) | {5: 4, 25: 3, 35: 3, 55: 1},
        {50: OFF, 60: ON, 70: OFF},
    ),
    Story("preemptions", "as many as may be", checks(120, 0) | {5: 5, 55: 5}, {60: OFF, 120: OFF}),
    Story("preemptions", "more, but in two hours", checks(180, 0) | {5: 10, 75: 10}, {60: OFF, 80: OFF}),
    Story("preemptions", "more at one check", checks(60, 0) | {25: 11}, {30: ON}),
    Story("preemptions", "no check", {}, {1: UNKNOWN, 120: UNKNOWN}),
]
RANKED = {
    "failing-node": (
        "Nodes",
        lambda whom: _event(InstanceId=whom, HealthSummary={"HealthStatus": "Unhealthy"}),
    ),
    "failing-group": (
        "Groups",
        lambda whom: _event(EventDetails={"InstanceGroupName": whom, "EventLevel": "Error"}),
    ),
}
METRICS = {"idle-fleet": RUNNING_JOBS, "wait-time": LONGEST_WAIT, "preemptions": PREEMPTED_JOBS}


def _event(**detail: Any) -> str:
    return json.dumps({"detail": detail})


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    """All constructs that make alarms, for one cluster."""
    where = stack()
    made = cluster(where)
    notices = ClusterObservability(where, "Watch", cluster=made, emails=["oncall@example.com"]).notices
    BudgetGuard(where, "Guard", cluster=made, limit_usd=650_000, notices=notices, idle_hours=HOURS)
    JobFigures(
        where,
        "Jobs",
        cluster=made,
        notices=notices,
        wait_alert_minutes=WAIT_MINUTES,
        preemption_alert_count=PREEMPTIONS,
    )
    rendered: dict[str, Any] = assertions.Template.from_stack(where).to_json()
    return rendered


@pytest.fixture(scope="module")
def alarms(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Properties of the alarms by what their names say beside the cluster's."""
    return {
        properties["AlarmName"].removeprefix(f"hyperpod-{NAME}-"): properties
        for properties in (one["Properties"] for one in resources(template, ALARM).values())
    }


class Looked:
    """One alarm of the double, with minutes since a moment some days ago."""

    def __init__(self, root: Session, properties: dict[str, Any]) -> None:
        self._root = root
        self._began = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(days=5)
        # Actions are tried elsewhere; a description is text with names that are known at deployment.
        said = {
            key: one for key, one in properties.items() if key not in ("AlarmActions", "AlarmDescription")
        }
        self._made = create(root, ALARM, **said)

    def moment(self, minute: int) -> datetime:
        return self._began + timedelta(minutes=minute)

    def put(self, namespace: str, name: str, values: Values, **dimensions: str) -> None:
        data = [
            {
                "MetricName": name,
                "Value": value,
                "Timestamp": self.moment(minute),
                "Dimensions": [{"Name": key, "Value": item} for key, item in dimensions.items()],
            }
            for minute, value in values.items()
        ]
        if data:
            self._root.client("cloudwatch").put_metric_data(Namespace=namespace, MetricData=data)

    def state(self, minute: int) -> str:
        look_at_alarms(self._root.region, self.moment(minute))
        told = self._root.client("cloudwatch").describe_alarms(AlarmNames=[self._made.physical_id])
        return str(told["MetricAlarms"][0]["StateValue"])

    def end(self) -> None:
        delete(self._root, self._made)


@pytest.fixture
def looked(
    root: Session, alarms: dict[str, dict[str, Any]], request: pytest.FixtureRequest
) -> Iterator[Looked]:
    """The alarm of a test's first parameter, with nothing put."""
    wanted = request.param
    # The double forgets no value, and all tests of a process have one.
    cloudwatch_backends[ACCOUNT][root.region].metric_data.clear()
    made = Looked(root, alarms[wanted])
    yield made
    made.end()


def test_each_alarm_has_a_case(alarms: dict[str, dict[str, Any]]) -> None:
    cases = {story.alarm for story in STORIES} | set(RANKED)
    missing, gone = sorted(set(alarms) - cases), sorted(cases - set(alarms))
    assert not missing, f"no case for alarm {', '.join(missing)}"
    assert not gone, f"no alarm for case {', '.join(gone)}"


def test_each_construct_that_makes_alarms_is_in_the_template() -> None:
    modules = Path(hyperpod_constructs.__file__).parent.rglob("*.py")
    found = {path.stem for path in modules if "cloudwatch.Alarm(" in path.read_text()}
    assert found == MAKE_ALARMS, "add what makes alarms to the template of this test, and cases"


@pytest.mark.parametrize(
    ("looked", "story"),
    [pytest.param(one.alarm, one, id=f"{one.alarm}: {one.title}") for one in STORIES],
    indirect=["looked"],
)
def test_what_is_put_and_the_state_after_it(looked: Looked, story: Story, template: dict[str, Any]) -> None:
    if story.alarm in METRICS:
        figure = METRICS[story.alarm].name
        looked.put(METRIC_NAMESPACE, figure, story.put, **{CLUSTER_DIMENSION: NAME})
        # Figures of queues and of other clusters are none of its business.
        others = dict.fromkeys(range(-10, 200, 10), 7200.0)
        looked.put(METRIC_NAMESPACE, figure, others, **{CLUSTER_DIMENSION: NAME, QUEUE_DIMENSION: "gpu"})
        looked.put(METRIC_NAMESPACE, figure, others, **{CLUSTER_DIMENSION: "other"})
    else:
        (sent,) = {
            (sent["MetricNamespace"], sent["MetricName"])
            for one in resources(template, FILTER).values()
            for sent in one["Properties"]["MetricTransformations"]
            if _dashed(sent["MetricName"]) == story.alarm
        }
        looked.put(*sent, story.put)
    assert {minute: looked.state(minute) for minute in story.states} == story.states


@pytest.mark.parametrize(("looked", "name"), [(name, name) for name in RANKED], indirect=["looked"])
def test_the_third_failure_of_one_within_a_day(
    root: Session, looked: Looked, name: str, template: dict[str, Any]
) -> None:
    ranking, line = RANKED[name]
    (rule,) = (
        one["Properties"]
        for one in resources(template, RANKING).values()
        if one["Properties"]["RuleName"].endswith(ranking.lower())
    )
    made = create(root, RANKING, **rule)
    (group,) = json.loads(rule["RuleBody"])["LogGroupNames"]
    logs = root.client("logs")
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName="events")
    hour, third = 60, 25 * 60 + 30
    # Two of one and two of another. The next of the one comes a day after its first, and only then a third.
    for minute, whom in (
        (0, "a"),
        (hour, "b"),
        (2 * hour, "a"),
        (3 * hour, "b"),
        (25 * hour, "a"),
        (third, "a"),
    ):
        at = int(looked.moment(minute).timestamp() * 1000)
        event = {"timestamp": at, "message": line(whom)}
        logs.put_log_events(logGroupName=group, logStreamName="events", logEvents=[event])
    states = {
        minute: looked.state(minute)
        for minute in (-1, 4 * hour, 25 * hour + 1, third + 1, 27 * hour, 200 * hour)
    }
    logs.delete_log_group(logGroupName=group)
    delete(root, made)
    assert list(states.values()) == [OFF, OFF, OFF, ON, OFF, OFF]


def _dashed(name: str) -> str:
    return "".join(f"-{sign.lower()}" if sign.isupper() else sign for sign in name).removeprefix("-")
