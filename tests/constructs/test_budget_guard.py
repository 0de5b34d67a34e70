"""What a cluster may cost, and an alarm on a fleet without a job."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack, assertions
from aws_cdk import aws_sns as sns
from clusters import cluster, stack
from registry_schema import registry_violations
from stacks import only, resources

from hyperpod_constructs.budget_guard import (
    BUDGET_WARNING,
    IMPORTED_TAG_WARNING,
    NO_READER_WARNING,
    TAG_NOTE,
    BudgetGuard,
)
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.notice_topic import NoticeTopic
from hyperpod_constructs.operator_commands import all_jobs, orchestrator_of
from hyperpod_model.faults import InvalidInputError

BUDGET, ALARM, TOPIC = "AWS::Budgets::Budget", "AWS::CloudWatch::Alarm", "AWS::SNS::Topic"
EMAILS = ["finance@example.com"]


def guarded(where: Stack | None = None, **props: Any) -> BudgetGuard:
    scope = stack() if where is None else where
    if "cluster" not in props:
        props["cluster"] = cluster(scope)
    return BudgetGuard(scope, "Guard", **{"limit_usd": 650_000, "emails": EMAILS, **props})


def rendered(made: BudgetGuard) -> dict[str, Any]:
    template: dict[str, Any] = assertions.Template.from_stack(Stack.of(made)).to_json()
    return template


def budget_of(made: BudgetGuard) -> dict[str, Any]:
    _, resource = only(rendered(made), BUDGET)
    properties: dict[str, Any] = resource["Properties"]
    return properties


def warnings_of(made: BudgetGuard) -> list[str]:
    found = assertions.Annotations.from_stack(Stack.of(made)).find_warning(
        f"/{made.node.path}", assertions.Match.any_value()
    )
    return [str(one.entry.data) for one in found]


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return rendered(guarded(cost_per_hour_usd=890.5))


def test_the_registry_accepts_all_of_it(template: dict[str, Any]) -> None:
    kinds = (BUDGET, ALARM, TOPIC, "AWS::SNS::TopicPolicy", "AWS::KMS::Key")
    assert registry_violations(template, region="us-east-1", kinds=kinds) == []


def test_a_budget_of_each_month_counts_what_has_the_cluster_s_tag(template: dict[str, Any]) -> None:
    _, resource = only(template, BUDGET)
    budget = resource["Properties"]["Budget"]
    assert budget.pop("BudgetName").startswith("hyperpod-llm-train-us-west-2-")
    assert budget == {
        "BudgetType": "COST",
        "BudgetLimit": {"Amount": 650_000, "Unit": "USD"},
        "TimeUnit": "MONTHLY",
        "CostFilters": {"TagKeyValue": ["user:hyperpod-cluster$llm-train"]},
    }
    _, made = only(template, "AWS::SageMaker::Cluster")
    assert {"Key": "hyperpod-cluster", "Value": "llm-train"} in made["Properties"]["Tags"]


def test_alerts_at_each_percentage_go_to_the_topic(template: dict[str, Any]) -> None:
    _, resource = only(template, BUDGET)
    topic, _ = only(template, TOPIC)
    alerts = resource["Properties"]["NotificationsWithSubscribers"]
    assert [
        (alert["Notification"]["NotificationType"], alert["Notification"]["Threshold"]) for alert in alerts
    ] == [("ACTUAL", 50), ("ACTUAL", 80), ("ACTUAL", 100), ("FORECASTED", 100)]
    assert {alert["Notification"]["ThresholdType"] for alert in alerts} == {"PERCENTAGE"}
    assert {alert["Notification"]["ComparisonOperator"] for alert in alerts} == {"GREATER_THAN"}
    assert all(
        alert["Subscribers"] == [{"SubscriptionType": "SNS", "Address": {"Ref": topic}}] for alert in alerts
    )
    (subscription,) = resources(template, "AWS::SNS::Subscription").values()
    assert subscription["Properties"]["Endpoint"] == "finance@example.com"


def test_budgets_and_alarms_of_this_account_may_publish(template: dict[str, Any]) -> None:
    _, policy = only(template, "AWS::SNS::TopicPolicy")
    admitted = {
        statement["Principal"].get("Service"): statement["Condition"]["StringEquals"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    }
    own = {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    assert admitted == {"budgets.amazonaws.com": own, "cloudwatch.amazonaws.com": own}


class TestIdleAlarm:
    def test_begins_when_checks_came_in_and_none_saw_a_job(self, template: dict[str, Any]) -> None:
        _, resource = only(template, ALARM)
        alarm = resource["Properties"]
        expression, *metrics = alarm["Metrics"]
        assert expression["Expression"] == "checks * (running < 1)"
        looked_at = {one["Id"]: one["MetricStat"] for one in metrics}
        assert {name: (one["Stat"], one["Period"]) for name, one in looked_at.items()} == {
            "checks": ("SampleCount", 4 * 3600),
            "running": ("Maximum", 4 * 3600),
        }
        assert all(
            one["Metric"]
            == {
                "Namespace": "/aws/sagemaker/Clusters",
                "MetricName": "RunningJobs",
                "Dimensions": [{"Name": "ClusterName", "Value": "llm-train"}],
            }
            for one in looked_at.values()
        )
        # Six checks an hour for four hours; one may have been missed.
        assert (alarm["Threshold"], alarm["EvaluationPeriods"]) == (23, 1)
        assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"

    def test_no_data_is_unknown_and_not_idle(self, template: dict[str, Any]) -> None:
        _, resource = only(template, ALARM)
        assert resource["Properties"]["TreatMissingData"] == "missing"

    def test_tells_the_topic_what_it_costs(self, template: dict[str, Any]) -> None:
        topic, _ = only(template, TOPIC)
        _, resource = only(template, ALARM)
        alarm = resource["Properties"]
        assert alarm["AlarmActions"] == [{"Ref": topic}]
        assert alarm["AlarmDescription"].startswith(
            "No job has run on HyperPod cluster llm-train for 4 hours, at 890.50 USD an hour: 3,562.00 USD "
            "so far."
        )

    def test_names_commands_that_show_jobs_and_nodes(self, template: dict[str, Any]) -> None:
        _, resource = only(template, ALARM)
        words = resource["Properties"]["AlarmDescription"]
        assert "Look: squeue --all, and hyperpod-nodes list llm-train" in words

    def test_names_both_commands_of_a_cluster_that_is_imported(self) -> None:
        cluster = HyperPodCluster.from_cluster_attributes(
            Stack(App(), "Stack", env=Environment(account="111122223333", region="us-west-2")),
            "Cluster",
            cluster_arn="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
            cluster_name="llm-train",
        )
        assert all_jobs(orchestrator_of(cluster)) == "squeue --all or kubectl get pods --all-namespaces"

    def test_names_no_amount_that_nobody_gave(self) -> None:
        made = guarded(idle_hours=1)
        _, resource = only(rendered(made), ALARM)
        assert "USD" not in resource["Properties"]["AlarmDescription"]
        assert resource["Properties"]["Threshold"] == 5

    def test_is_off_by_name(self) -> None:
        made = guarded(idle_hours=None)
        assert made.idle_alarm is None
        template = rendered(made)
        assert resources(template, ALARM) == {}
        _, policy = only(template, "AWS::SNS::TopicPolicy")
        assert "cloudwatch.amazonaws.com" not in json.dumps(policy)


def test_a_campaign_has_dates() -> None:
    budget = budget_of(guarded(start_date="2027-01-15", end_date="2027-03-31"))["Budget"]
    assert budget["TimeUnit"] == "CUSTOM"
    assert budget["TimePeriod"] == {"Start": "1799971200", "End": "1806451200"}


def test_another_alert_makes_another_name() -> None:
    """CloudFormation replaces a budget for other alerts, and two of one name cannot be."""

    def name(**props: Any) -> str:
        text: str = budget_of(guarded(**props))["Budget"]["BudgetName"]
        return text

    assert name() == name(limit_usd=1) == name(cost_per_hour_usd=1)
    assert len({name(), name(actual_alert_percentages=[80]), name(forecast_alert_percentages=[])}) == 3


class TestReaders:
    def test_an_existing_topic_and_addresses_of_the_budget_alone(self) -> None:
        where = stack()
        arn = "arn:aws:sns:us-west-2:111122223333:oncall"
        notices = NoticeTopic.from_topic(where, "Notices", topic=sns.Topic.from_topic_arn(where, "T", arn))
        made = guarded(where, notices=notices)
        template = rendered(made)
        assert resources(template, TOPIC) == {}
        assert resources(template, "AWS::SNS::Subscription") == {}
        (first, *_) = budget_of(made)["NotificationsWithSubscribers"]
        assert first["Subscribers"] == [
            {"SubscriptionType": "SNS", "Address": arn},
            {"SubscriptionType": "EMAIL", "Address": "finance@example.com"},
        ]
        assert warnings_of(made) == []

    def test_nobody_is_warned_of(self) -> None:
        assert any(NO_READER_WARNING in text for text in warnings_of(guarded(emails=[])))

    def test_somebody_is_no_reason_to_warn(self) -> None:
        assert warnings_of(guarded()) == []


class TestTag:
    def test_a_note_says_that_it_has_to_be_activated(self) -> None:
        made = guarded()
        (note,) = assertions.Annotations.from_stack(Stack.of(made)).find_info(
            f"/{made.node.path}", assertions.Match.string_like_regexp("must be activated once")
        )
        assert TAG_NOTE in str(note.entry.data)

    def test_one_that_is_there_is_not_set(self) -> None:
        made = guarded(cost_allocation_tag="team", cost_allocation_tag_value="research")
        template = rendered(made)
        assert "user:team$research" in json.dumps(template)
        _, resource = only(template, "AWS::SageMaker::Cluster")
        assert "research" not in json.dumps(resource["Properties"]["Tags"])

    def test_of_an_imported_cluster_is_warned_of(self) -> None:
        where = stack()
        arn = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
        imported = HyperPodCluster.from_cluster_attributes(
            where, "Imported", cluster_arn=arn, cluster_name="theirs"
        )
        made = guarded(where, cluster=imported)
        assert any(IMPORTED_TAG_WARNING in text for text in warnings_of(made))
        assert budget_of(made)["Budget"]["CostFilters"] == {"TagKeyValue": ["user:hyperpod-cluster$theirs"]}
        other = BudgetGuard(
            where,
            "Other",
            cluster=imported,
            limit_usd=1,
            emails=EMAILS,
            cost_allocation_tag_value="theirs",
            idle_hours=None,
        )
        assert warnings_of(other) == []


class TestAlarmAlone:
    def test_makes_no_budget_and_no_tag(self) -> None:
        made = guarded(limit_usd=None)
        template = rendered(made)
        assert made.budget is None
        assert resources(template, BUDGET) == {}
        assert only(template, ALARM)
        assert "hyperpod-cluster" not in json.dumps(template)
        _, policy = only(template, "AWS::SNS::TopicPolicy")
        assert "budgets.amazonaws.com" not in json.dumps(policy)
        notes = assertions.Annotations.from_stack(Stack.of(made))
        assert notes.find_info(f"/{made.node.path}", assertions.Match.any_value()) == []

    def test_a_region_without_budgets_is_no_reason_to_warn(self) -> None:
        where = Stack(App(), "Stack", env=Environment(region="eu-north-1"))
        assert warnings_of(guarded(where, limit_usd=None)) == []

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("start_date", "2027-01-15"),
            ("end_date", "2027-01-15"),
            ("actual_alert_percentages", [80]),
            ("forecast_alert_percentages", [80]),
            ("cost_allocation_tag", "team"),
            ("cost_allocation_tag_value", "research"),
        ],
    )
    def test_refuses_what_a_budget_needs(self, name: str, value: Any) -> None:
        with pytest.raises(InvalidInputError, match=f"{name}: is .*without limit_usd"):
            guarded(limit_usd=None, **{"end_date": "2027-02-15", "start_date": "2027-01-01", name: value})

    def test_refuses_addresses_that_would_get_nothing(self) -> None:
        where = stack()
        with pytest.raises(InvalidInputError, match=r"emails: is for a budget, .*without limit_usd"):
            guarded(where, limit_usd=None, notices=NoticeTopic(where, "Notices"))

    def test_nothing_at_all_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="limit_usd: is missing, and idle_hours is off"):
            guarded(limit_usd=None, idle_hours=None)


@pytest.mark.parametrize(
    ("props", "message"),
    [
        (
            {"limit_usd": 0},
            r"budget 'Stack/Guard'.*limit_usd: must be an amount of US dollars above 0, got 0",
        ),
        ({"start_date": "2027-01-15"}, "end_date: is required with start_date"),
        ({"actual_alert_percentages": [0]}, r"actual_alert_percentages\[0\]: must be 0.1 to"),
        ({"emails": ["finance"]}, r"emails\[0\]: must be an e-mail address"),
        ({"idle_hours": 48}, "idle_hours: must be a whole number of hours from 1 to 24, got 48"),
        ({"cost_allocation_tag": "aws:x"}, "cost_allocation_tag: must not begin with aws:"),
        ({"cluster": "llm-train"}, "cluster: must be a HyperPodCluster"),
    ],
)
def test_refuses(props: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        guarded(**props)


def test_a_cost_without_an_alarm_is_warned_of() -> None:
    (text,) = warnings_of(guarded(idle_hours=None, cost_per_hour_usd=5))
    assert BUDGET_WARNING in text


def test_a_region_that_may_lack_the_type_is_warned_of() -> None:
    where = Stack(App(), "Stack", env=Environment(region="eu-north-1"))
    assert any("describe-type" in text and BUDGET in text for text in warnings_of(guarded(where)))


def test_tokens_pass() -> None:
    where = stack()
    limit = CfnParameter(where, "Limit", type="Number").value_as_number
    cost = CfnParameter(where, "Cost", type="Number").value_as_number
    email = CfnParameter(where, "Email").value_as_string
    made = guarded(where, limit_usd=limit, cost_per_hour_usd=cost, emails=[email])
    assert budget_of(made)["Budget"]["BudgetLimit"]["Amount"] == {"Ref": "Limit"}
    _, alarm = only(rendered(made), ALARM)
    assert {"Ref": "Cost"} in alarm["Properties"]["AlarmDescription"]["Fn::Join"][1]
