"""Figures of jobs: graphs by queue, and alarms on waiting and preemptions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack, assertions
from aws_cdk import aws_cloudwatch as cloudwatch
from clusters import cluster, stack
from registry_schema import registry_violations
from stacks import only, resources

from hyperpod_constructs.budget_guard import BudgetGuard
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.job_figures import NO_READER_WARNING, JobFigures
from hyperpod_constructs.notice_topic import NoticeTopic
from hyperpod_model.faults import InvalidInputError

ALARM = "AWS::CloudWatch::Alarm"
ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
QUEUES = ["hyperpod-ns-research", "hyperpod-ns-product"]
OF_CLUSTER = [{"Name": "ClusterName", "Value": "llm-train"}]


def figures(where: Stack | None = None, **props: Any) -> JobFigures:
    scope = stack() if where is None else where
    if "cluster" not in props:
        props["cluster"] = cluster(scope)
    return JobFigures(scope, "Figures", **props)


def watched(where: Stack | None = None, **props: Any) -> JobFigures:
    scope = stack() if where is None else where
    notices = NoticeTopic(scope, "Notices", emails=["oncall@example.com"])
    limits = {"wait_alert_minutes": 90, "preemption_alert_count": 20}
    return figures(scope, notices=notices, **(limits | props))


def rendered(made: JobFigures) -> dict[str, Any]:
    return dict(assertions.Template.from_stack(Stack.of(made)).to_json())


def warnings_of(made: JobFigures) -> list[str]:
    found = assertions.Annotations.from_stack(Stack.of(made)).find_warning(
        f"/{made.node.path}", assertions.Match.any_value()
    )
    return [str(one.entry.data) for one in found]


def shown(made: JobFigures, **props: Any) -> dict[str, Any]:
    """Widgets by their title, as a dashboard has them."""
    where = Stack.of(made)
    widgets = [part for widget in made.widgets(**props) for part in where.resolve(widget.to_json())]
    return {widget["properties"]["title"]: widget["properties"] for widget in widgets}


def alarm(template: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (
        one["Properties"]
        for one in resources(template, ALARM).values()
        if one["Properties"]["AlarmName"] == f"hyperpod-llm-train-{name}"
    )
    return dict(found)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return rendered(watched())


def test_the_registry_accepts_all_of_it(template: dict[str, Any]) -> None:
    assert registry_violations(template, region="us-west-2", kinds=(ALARM,)) == []


class TestWaitAlarm:
    def test_begins_when_a_job_waits_at_three_checks_in_a_row(self, template: dict[str, Any]) -> None:
        made = alarm(template, "wait-time")
        expression, metric = made["Metrics"]
        assert expression["Expression"] == "wait / 60"
        assert metric["MetricStat"] == {
            "Metric": {
                "Namespace": "/aws/sagemaker/Clusters",
                "MetricName": "LongestWait",
                "Dimensions": OF_CLUSTER,
            },
            "Period": 600,
            "Stat": "Maximum",
        }
        assert (made["Threshold"], made["EvaluationPeriods"]) == (90, 3)
        assert made["ComparisonOperator"] == "GreaterThanThreshold"
        assert "DatapointsToAlarm" not in made

    def test_says_what_to_do_and_where_to_look(self, template: dict[str, Any]) -> None:
        words = alarm(template, "wait-time")["AlarmDescription"]
        assert words.startswith("A job on HyperPod cluster llm-train has waited longer than 90 minutes")
        assert "squeue --states=PENDING" in words
        assert "kubectl" not in words
        assert "hyperpod-nodes list llm-train --region us-west-2" in words


class TestPreemptionAlarm:
    def test_counts_an_hour(self, template: dict[str, Any]) -> None:
        made = alarm(template, "preemptions")
        assert (made["MetricName"], made["Namespace"]) == ("PreemptedJobs", "/aws/sagemaker/Clusters")
        assert made["Dimensions"] == OF_CLUSTER
        assert (made["Statistic"], made["Period"], made["EvaluationPeriods"]) == ("Sum", 3600, 1)
        assert (made["Threshold"], made["ComparisonOperator"]) == (20, "GreaterThanThreshold")

    def test_says_what_to_do_and_where_to_look(self, template: dict[str, Any]) -> None:
        words = alarm(template, "preemptions")["AlarmDescription"]
        assert words.startswith("More than 20 jobs on HyperPod cluster llm-train gave way")
        assert "sacct --allusers --state=PREEMPTED" in words


class TestAlarms:
    def test_no_data_is_unknown(self, template: dict[str, Any]) -> None:
        assert {one["Properties"]["TreatMissingData"] for one in resources(template, ALARM).values()} == {
            "missing"
        }

    def test_tell_the_topic_which_admits_them(self, template: dict[str, Any]) -> None:
        topic, _ = only(template, "AWS::SNS::Topic")
        for one in resources(template, ALARM).values():
            assert one["Properties"]["AlarmActions"] == [{"Ref": topic}]
        assert "cloudwatch.amazonaws.com" in json.dumps(only(template, "AWS::SNS::TopicPolicy"))

    def test_none_by_default(self) -> None:
        made = figures()
        assert (made.wait_alarm, made.preemption_alarm, made.alarms) == (None, None, [])
        assert resources(rendered(made), ALARM) == {}
        assert warnings_of(made) == []

    def test_without_a_reader_there_is_a_warning(self) -> None:
        made = figures(wait_alert_minutes=5)
        (warning,) = warnings_of(made)
        assert NO_READER_WARNING in warning
        assert "AlarmActions" not in only(rendered(made), ALARM)[1]["Properties"]

    def test_with_a_reader_there_is_none(self) -> None:
        assert warnings_of(watched()) == []

    def test_of_an_imported_cluster_name_the_commands_of_both_orchestrators(self) -> None:
        where = stack()
        imported = HyperPodCluster.from_cluster_attributes(
            where, "Imported", cluster_arn=ARN, cluster_name="llm-train"
        )
        words = alarm(rendered(watched(where, cluster=imported)), "wait-time")["AlarmDescription"]
        assert "squeue --states=PENDING" in words
        assert "kubectl get workloads" in words


class TestGraphs:
    def test_of_each_figure_for_the_cluster_and_each_known_queue(self) -> None:
        graphs = shown(figures(queues=QUEUES))
        for title, metric in {
            "Running jobs": "RunningJobs",
            "Pending jobs": "PendingJobs",
            "Jobs that gave way": "PreemptedJobs",
            "Longest wait": "LongestWait",
            "Longest run": "LongestRun",
        }.items():
            of_cluster, *of_queues = graphs[title]["metrics"]
            assert of_cluster[:4] == ["/aws/sagemaker/Clusters", metric, "ClusterName", "llm-train"]
            assert of_cluster[4]["label"] == "whole cluster"
            assert [one[4:6] for one in of_queues] == [["Queue", queue] for queue in QUEUES]
            assert [one[6]["label"] for one in of_queues] == QUEUES
            assert {one[-1]["stat"] for one in graphs[title]["metrics"]} == {
                "Sum" if metric == "PreemptedJobs" else "Maximum"
            }

    def test_of_whatever_queues_there_are_where_they_are_not_known(self) -> None:
        of_cluster, search = shown(figures())["Pending jobs"]["metrics"]
        assert of_cluster[1] == "PendingJobs"
        (said,) = search
        assert said["expression"] == (
            'SEARCH(\'{"/aws/sagemaker/Clusters",ClusterName,Queue} MetricName="PendingJobs" '
            "ClusterName=\"llm-train\"', 'Maximum')"
        )
        assert said["label"] == "${PROP('Dim.Queue')}"

    def test_show_the_limit_and_the_alarms(self) -> None:
        where = stack()
        made = watched(where)
        idle = cloudwatch.Alarm.from_alarm_arn(
            where, "Idle", "arn:aws:cloudwatch:us-west-2:111122223333:alarm:idle"
        )
        graphs = shown(made, more_alarms=[idle])
        assert graphs["Longest wait"]["annotations"]["horizontal"][0]["value"] == 90 * 60
        assert len(graphs["Alarms on jobs"]["alarms"]) == 3
        assert "Alarms on jobs" not in shown(figures())

    def test_fit_on_a_dashboard(self) -> None:
        where = stack()
        made = watched(where)
        cloudwatch.Dashboard(where, "Dashboard").add_widgets(*made.widgets())
        _, dashboard = only(rendered(made), "AWS::CloudWatch::Dashboard")
        text = "".join(
            part if isinstance(part, str) else "x"
            for part in dashboard["Properties"]["DashboardBody"]["Fn::Join"][1]
        )
        widgets = json.loads(text)["widgets"]
        assert len(widgets) == 6
        assert all(widget["x"] + widget["width"] <= 24 for widget in widgets)


def test_figures_of_one_queue() -> None:
    of_queue = figures().of_queue("train")
    assert set(of_queue) == {"RunningJobs", "PendingJobs", "PreemptedJobs", "LongestWait", "LongestRun"}
    assert of_queue["PendingJobs"].dimensions == {"ClusterName": "llm-train", "Queue": "train"}


def test_the_alarm_on_an_idle_fleet_watches_the_same_metric() -> None:
    where = stack()
    made = figures(where)
    guard = BudgetGuard(where, "Guard", cluster=cluster(stack()), emails=["a@example.com"])
    for member in ("namespace", "metric_name", "dimensions", "statistic"):
        assert getattr(guard.running_jobs, member) == getattr(made.running, member)


@pytest.mark.parametrize(
    ("props", "message"),
    [
        ({"wait_alert_minutes": 0}, "wait_alert_minutes: must be a whole number of 1 or more, got 0"),
        ({"preemption_alert_count": 1.5}, "preemption_alert_count: must be a whole number of 1 or more"),
        ({"queues": [""]}, r"queues\[0\]: must be the name of a partition"),
        ({"queues": ["a", "a"]}, r"queues\[1\]: 'a' is given twice"),
        ({"queues": "train"}, "queues: must be a list of queues, got 'train'; put it in brackets"),
        ({"cluster": "llm-train"}, "cluster: must be a HyperPodCluster"),
        ({"notices": "arn"}, r"notices: must be a NoticeTopic\(\.\.\.\)"),
    ],
)
def test_refuses(props: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=f"figures of jobs 'Stack/Figures'.*{message}"):
        figures(**props)


def test_tokens_pass() -> None:
    where = stack()
    number = CfnParameter(where, "Limit", type="Number").value_as_number
    queue = CfnParameter(where, "Queue").value_as_string
    made = watched(where, wait_alert_minutes=number, preemption_alert_count=number, queues=[queue, queue])
    template = rendered(made)
    for name in ("wait-time", "preemptions"):
        said = alarm(template, name)
        assert said["Threshold"] == {"Ref": "Limit"}
        assert {"Ref": "Limit"} in said["AlarmDescription"]["Fn::Join"][1]
    graphs = shown(made)
    assert {"Ref": "Queue"} in graphs["Longest wait"]["metrics"][1]
    assert "annotations" not in graphs["Longest wait"]
