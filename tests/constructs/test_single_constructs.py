"""Constructs that another team takes one by one: arguments of any kind, Tokens, names, places."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from aws_cdk import App, CfnParameter, Environment, Fn, Stack, Token, assertions
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns

from hyperpod_constructs.budget_guard import BudgetGuard
from hyperpod_constructs.cluster_observability import ClusterObservability
from hyperpod_constructs.container_insights import ContainerInsights
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster, HyperPodClusterBase
from hyperpod_constructs.hyperpod_observability_add_on import HyperPodObservabilityAddOn
from hyperpod_constructs.job_figures import JobFigures
from hyperpod_constructs.managed_grafana import ManagedGrafana
from hyperpod_constructs.managed_prometheus import ManagedPrometheus
from hyperpod_constructs.notice_topic import NoticeTopic
from hyperpod_constructs.recovery_figures import RecoveryFigures
from hyperpod_constructs.task_governance import TaskGovernance, TeamQuota
from hyperpod_constructs.tokens import known
from hyperpod_model.faults import UNKNOWN, InvalidInputError

ACCOUNT, REGION = "111122223333", "us-west-2"
EMAILS = ["oncall@example.com"]
TEAMS = [TeamQuota(team="research", instances={"ml.p5.48xlarge": 1})]
Make = Callable[[Stack], object]


def stack(name: str = "Theirs", *, app: App | None = None, region: str = REGION) -> Stack:
    return Stack(App() if app is None else app, name, env=Environment(account=ACCOUNT, region=region))


def cluster(where: Stack, id: str = "Cluster") -> HyperPodClusterBase:
    return HyperPodCluster.from_cluster_attributes(
        where,
        id,
        cluster_arn=f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghijkl",
        cluster_name="llm-train",
    )


def eks(where: Stack) -> Any:
    return EksControlPlane.from_existing(
        where,
        "Eks",
        cluster_arn=f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/training",
        dependency_chart=DependencyChart.installed(),
    )


def number(where: Stack) -> Any:
    return CfnParameter(where, "Number", type="Number").value_as_number


def text(where: Stack) -> Any:
    return CfnParameter(where, "Text").value_as_string


def texts(where: Stack) -> Any:
    return CfnParameter(where, "Texts", type="CommaDelimitedList").value_as_list


def prometheus(where: Stack, **props: Any) -> ManagedPrometheus:
    return ManagedPrometheus(where, "Prometheus", cluster=cluster(where), **props)


def resources(where: Stack, kind: str) -> list[dict[str, Any]]:
    found = assertions.Template.from_stack(where).find_resources(kind)
    return [resource["Properties"] for resource in found.values()]


def watch(where: Stack, **props: Any) -> ClusterObservability:
    return ClusterObservability(where, "Watch", **{"cluster": cluster(where), "emails": EMAILS, **props})


def guard(where: Stack, **props: Any) -> BudgetGuard:
    return BudgetGuard(
        where, "Guard", **{"cluster": cluster(where), "limit_usd": 5, "emails": EMAILS, **props}
    )


def govern(where: Stack, **props: Any) -> TaskGovernance:
    return TaskGovernance(where, "Sharing", **{"cluster": cluster(where), "teams": TEAMS, **props})


def figures(where: Stack, **props: Any) -> JobFigures:
    return JobFigures(where, "Figures", **{"cluster": cluster(where), **props})


def records(where: Stack, name: Any) -> RecoveryFigures:
    group = logs.LogGroup.from_log_group_name(where, "Records", "/records")
    return RecoveryFigures(where, "Recoveries", log_group=group, cluster_name=name)


def add_on(where: Stack, levels: Any) -> HyperPodObservabilityAddOn:
    made = prometheus(where)
    return HyperPodObservabilityAddOn(
        where,
        "AddOn",
        control_plane=eks(where),
        cluster=cluster(where, "Again"),
        prometheus=made,
        metric_levels=levels,
    )


LATE_LIST = r"whose length is known at synthesis.*Fn\.select\(0"
LATE_NUMBER = r"must be a number, got a token of another kind; use value_as_number"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        # Of another kind.
        (lambda s: guard(s, cluster="c"), r"cluster: must be a HyperPodCluster.*from_cluster_attributes\("),
        (lambda s: guard(s, notices=sns.Topic(s, "T")), r"notices: must be a NoticeTopic\(\.\.\.\)"),
        (lambda s: guard(s, emails="a@b.example"), "emails: must be a list of e-mail addresses.*brackets"),
        (
            lambda s: guard(s, actual_alert_percentages=80),
            "actual_alert_percentages: must be a list.*brackets",
        ),
        (lambda s: guard(s, start_date=datetime.date(2027, 1, 1)), "start_date: must be a date such as"),
        (lambda s: guard(s, cost_allocation_tag_value=5), "cost_allocation_tag_value"),
        (lambda s: prometheus(s, notices=sns.Topic(s, "T")), r"notices: must be a NoticeTopic\(\.\.\.\)"),
        (lambda s: prometheus(s, governance_rules="no"), "governance_rules: must be True or False, got 'no'"),
        (lambda s: govern(s, cluster="c"), "cluster: must be a HyperPodCluster"),
        (lambda s: govern(s, control_plane="eks"), "control_plane: must be an EKS cluster"),
        (lambda s: govern(s, teams=TEAMS[0]), r"teams: must be a list.*brackets"),
        (
            lambda s: govern(s, teams=[{"team": "a"}]),
            r"teams\[0\]: must be a TeamQuota\(\.\.\.\), got a mapping",
        ),
        (
            lambda s: govern(s, teams=[TeamQuota(team="a", instances=["ml.p5.48xlarge"])]),  # type: ignore[arg-type]
            r"teams\[0\]\.instances: must be a mapping, numbers by instance type, got a list",
        ),
        (
            lambda s: govern(s, priority_classes=["a"]),
            "priority_classes: must be a mapping, weights by class",
        ),
        (lambda s: govern(s, capacity=16), "capacity: must be a mapping, numbers by instance type, got 16"),
        (lambda s: govern(s, fair_share="Disabled"), "fair_share: must be True or False, got 'Disabled'"),
        (lambda s: add_on(s, ["trainingMetrics"]), "metric_levels: must be a mapping, levels by category"),
        (lambda s: records(s, cluster(s)), "cluster_name: must be the name of a cluster.*got an object of"),
        (lambda s: records(s, ""), "cluster_name: must be the name of a cluster.*got ''"),
        (lambda s: watch(s, health_events="false"), "health_events: must be True or False, got 'false'"),
        (lambda s: watch(s).watch_job_logs("/jobs"), "log_group: must be a log group"),  # type: ignore[arg-type]
        (
            lambda s: ManagedGrafana(
                s,
                "Grafana",
                cluster=cluster(s, "Again"),
                prometheus=prometheus(s),
                authentication_providers="AWS_SSO",
            ),
            "authentication_providers: must be a list of ways to sign in.*brackets",
        ),
        # Known at deployment only, where synthesis has to know.
        (lambda s: guard(s, idle_hours=number(s)), "idle_hours: must be known at synthesis, got a Token"),
        (lambda s: guard(s, emails=texts(s)), f"emails: .*{LATE_LIST}"),
        (lambda s: guard(s, limit_usd=text(s)), f"limit_usd: {LATE_NUMBER}"),
        (lambda s: watch(s, emails=texts(s)), f"emails: .*{LATE_LIST}"),
        (lambda s: watch(s, continuous_provisioning=text(s)), "continuous_provisioning: .*got a Token"),
        (lambda s: watch(s, log_retention_days=text(s)), f"log_retention_days: {LATE_NUMBER}"),
        (lambda s: figures(s, queues=texts(s)), f"queues: .*{LATE_LIST}"),
        (lambda s: figures(s, wait_alert_minutes=text(s)), f"wait_alert_minutes: {LATE_NUMBER}"),
        (lambda s: prometheus(s, preemption_alert_count=text(s)), f"preemption_alert_count: {LATE_NUMBER}"),
        (
            lambda s: govern(s, teams=[TeamQuota(team="a", instances={"ml.p5.48xlarge": text(s)})]),
            rf"teams\[0\]\.instances\..*{LATE_NUMBER}",
        ),
        # Elsewhere.
        (
            lambda s: NoticeTopic.from_topic(s, "N", topic=sns.Topic(s, "T", fifo=True)),
            "topic: must be a standard topic, got a FIFO topic",
        ),
        (
            lambda s: watch(
                s, topic=sns.Topic.from_topic_arn(s, "T", f"arn:aws:sns:eu-west-1:{ACCOUNT}:theirs")
            ),
            "topic: must be of the region of the stack, us-west-2, got a topic of eu-west-1",
        ),
    ],
)
def test_refuses(make: Make, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make(stack())


@pytest.mark.parametrize("make", [watch, govern, figures, lambda s: guard(s, limit_usd=None)])
def test_a_cluster_of_another_region_is_refused(make: Make) -> None:
    with pytest.raises(
        InvalidInputError, match="cluster: must be of the region of the stack, eu-west-1, got"
    ):
        make(stack(region="eu-west-1"))


@pytest.mark.parametrize("make", [watch, govern, figures, lambda s: guard(s, limit_usd=None)])
def test_a_stack_for_any_region_takes_it(make: Make) -> None:
    make(Stack(App(), "Anywhere"))


def test_a_budget_alone_may_be_elsewhere() -> None:
    guard(stack(region="us-east-1"), idle_hours=None)


def test_notices_of_another_region_are_refused() -> None:
    app = App()
    notices = NoticeTopic(stack("There", app=app, region="us-east-1"), "Notices")
    with pytest.raises(InvalidInputError, match="notices: must be of the region of the stack, us-west-2"):
        figures(stack(app=app), notices=notices, wait_alert_minutes=5)


def test_notices_of_another_stack_are_told() -> None:
    app = App()
    notices = NoticeTopic(stack("There", app=app), "Notices")
    here = stack(app=app)
    figures(here, notices=notices, wait_alert_minutes=5)
    (alarm,) = resources(here, "AWS::CloudWatch::Alarm")
    assert "Fn::ImportValue" in alarm["AlarmActions"][0]


class TestNames:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda s, n: guard(_part(s, n)), "idle_hours: the alarm of .*idle_hours=None"),
            (lambda s, n: watch(_part(s, n)), "cluster: the observability of 'llm-train'"),
            (lambda s, n: govern(_part(s, n)), "cluster: the scheduling policy of 'llm-train'"),
            (lambda s, n: figures(_part(s, n), wait_alert_minutes=5), "wait_alert_minutes: the alarm of"),
        ],
    )
    def test_two_stacks_of_a_place(self, make: Callable[[App, str], object], message: str) -> None:
        app = App()
        make(app, "One")
        with pytest.raises(InvalidInputError, match=message):
            make(app, "Two")

    def test_stacks_of_places_that_are_not_known(self) -> None:
        app = App()
        for name in ("One", "Two"):
            watch(Stack(app, name))

    def test_an_add_on_twice(self) -> None:
        where = stack()
        plane, made = eks(where), cluster(where)
        ContainerInsights(where, "One", control_plane=plane, cluster=made)
        with pytest.raises(
            InvalidInputError, match=r"control_plane: the add-on amazon-cloudwatch-observ.*once"
        ):
            ContainerInsights(where, "Two", control_plane=plane, cluster=made)

    def test_budgets_of_one_cluster(self) -> None:
        where = stack()
        made = cluster(where)
        first = BudgetGuard(where, "Monthly", cluster=made, limit_usd=5, emails=EMAILS)
        for id, dates in (("Year", {}), ("Campaign", {"start_date": "2027-01-01", "end_date": "2027-02-01"})):
            BudgetGuard(where, id, cluster=made, limit_usd=9, idle_hours=None, notices=first.notices, **dates)
        names = [budget["Budget"]["BudgetName"] for budget in resources(where, "AWS::Budgets::Budget")]
        assert len(set(names)) == 3, names


def _part(app: App, name: str) -> Stack:
    return stack(name, app=app)


class TestLimitsAtDeployment:
    def rules(self, where: Stack, values: dict[str, str]) -> list[dict[str, Any]]:
        (namespace,) = resources(where, "AWS::APS::RuleGroupsNamespace")
        parts = namespace["Data"]["Fn::Join"][1]
        said = "".join(part if isinstance(part, str) else values[part["Ref"]] for part in parts)
        groups: list[dict[str, Any]] = yaml.safe_load(said)["groups"]
        return groups[1]["rules"]  # type: ignore[no-any-return]

    def test_prometheus_computes_with_them(self) -> None:
        where = stack()
        count = CfnParameter(where, "Count", type="Number").value_as_number
        prometheus(where, wait_alert_minutes=number(where), preemption_alert_count=count)
        climbing, stuck, spiking = self.rules(where, {"Number": "90", "Count": "20"})
        assert climbing["expr"].startswith(
            "(hyperpod:wait_seconds:p90_1h > 90 * 60 or hyperpod:wait_seconds:mean_1h > 90 * 60) unless"
        )
        assert stuck["for"] == "90m"
        assert "for 90 minutes" in stuck["annotations"]["summary"]
        assert spiking["expr"].startswith("hyperpod:preempted_jobs:increase1h > 20 unless")

    def test_known_ones_stay_seconds(self) -> None:
        where = stack()
        prometheus(where, wait_alert_minutes=90)
        (namespace,) = resources(where, "AWS::APS::RuleGroupsNamespace")
        assert "p90_1h > 5400 or" in namespace["Data"]


def test_numbers_and_texts_at_deployment_are_refused_nowhere() -> None:
    where = stack()
    made = cluster(where)
    alarm_at, words = number(where), text(where)
    JobFigures(
        where,
        "Jobs",
        cluster=made,
        wait_alert_minutes=alarm_at,
        queues=[words, Fn.select(0, texts(where))],
    )
    BudgetGuard(
        where, "Guard", cluster=made, limit_usd=alarm_at, emails=[words], cost_allocation_tag_value=words
    )
    TaskGovernance(
        where,
        "Sharing",
        cluster=made,
        teams=[
            TeamQuota(team="research", instances={"ml.p5.48xlarge": alarm_at}, fair_share_weight=alarm_at)
        ],
        fair_share=words,
        capacity={"ml.p5.48xlarge": alarm_at},
    )
    ClusterObservability(where, "Watch", cluster=made, emails=[words], log_retention_days=alarm_at)
    rendered = json.dumps(assertions.Template.from_stack(where).to_json())
    assert "Token[" not in rendered
    assert "e+2" not in rendered


def test_a_log_group_is_searched_once() -> None:
    where = stack()
    group = logs.LogGroup.from_log_group_name(where, "Jobs", "/jobs")
    watch(where, job_log_groups=[group, group]).watch_job_logs(group)
    filters = [one for one in resources(where, "AWS::Logs::MetricFilter") if one["LogGroupName"] == "/jobs"]
    assert len(filters) == 1


def test_several_log_groups_of_containers_are_kept() -> None:
    where = stack()
    made = watch(where)
    first = made.keep_container_logs("/one")
    assert made.keep_container_logs("/one") is first
    made.keep_container_logs("/two")
    names = [one["LogGroupName"] for one in resources(where, "Custom::NodeLogGroup")]
    assert [name for name in names if not name.startswith("/aws/")] == ["/one", "/two"]


def test_plain_objects_are_known() -> None:
    day = datetime.date(2027, 1, 1)
    assert known(day) is day
    assert known(Token.as_string(Fn.ref("Any"))) is UNKNOWN
    assert known(CfnParameter(stack(), "Any").value) is UNKNOWN
