"""What watches a cluster in the double: who is told, who is not, and what the services refuse."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from identities import ROOT_ARN, allow, document
from local_resources import create, delete, update
from notices import DETECTION, Reader, reading, send_event, unhealthy, write_line
from told import assert_told, live

from aws_double.resource import Resource, ResourceFailure
from aws_double.session import Session
from hyperpod_model.catalog.events import NODE_HEALTH
from hyperpod_model.catalog.logs import DEEP_HEALTH_FAILURE_FILTER, HEALTH_EVENT_FILTER

CLUSTER_ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/0123456789ab"
OTHER_ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/ba9876543210"
KEY_USE = ("kms:Decrypt", "kms:GenerateDataKey")
OF_THIS_ACCOUNT = {"StringEquals": {"aws:SourceAccount": "111122223333"}}
FAULT = unhealthy("i-0123456789abcdef0", "NvidiaGpuXidError")
PATTERN = {"source": ["aws.sagemaker"], "resources": [CLUSTER_ARN]}
NODE, DETAIL = "$.detail.InstanceId", "$.detail.HealthSummary.HealthStatusReason"
Watching = tuple[Resource, Reader]


def service(name: str, *actions: str, **condition: Any) -> dict[str, Any]:
    return allow(
        *actions,
        Principal={"Service": f"{name}.amazonaws.com"},
        **({"Condition": condition} if condition else {}),
    )


@pytest.fixture
def topic(root: Session) -> Iterator[Watching]:
    """An encrypted topic and a reader; its policy and its key's are still to be said."""
    key = create(root, "AWS::KMS::Key", KeyPolicy=policy_of_key())
    made = create(root, "AWS::SNS::Topic", KmsMasterKeyId=key.attributes["Arn"])
    with reading(root, made.physical_id, name=f"queue-{uuid.uuid4()}") as reader:
        yield made, reader
    delete(root, made)


def policy_of_key(*statements: dict[str, Any]) -> dict[str, Any]:
    return document(allow("kms:*", Principal={"AWS": ROOT_ARN}), *statements)


def admit(root: Session, made: Resource, *, topic: list[Any], key: list[Any]) -> None:
    root.client("kms").put_key_policy(
        KeyId=made.properties["KmsMasterKeyId"], PolicyName="default", Policy=json.dumps(policy_of_key(*key))
    )
    own = [{**statement, "Resource": made.physical_id} for statement in topic]
    create(root, "AWS::SNS::TopicPolicy", Topics=[made.physical_id], PolicyDocument=document(*own))


@pytest.fixture
def rule(root: Session, topic: Watching) -> Iterator[Resource]:
    made = create(
        root,
        "AWS::Events::Rule",
        logical_id=f"Rule{uuid.uuid4().hex}",
        EventPattern=PATTERN,
        State="ENABLED",
        Targets=[
            {
                "Id": "Notices",
                "Arn": topic[0].physical_id,
                "InputTransformer": {
                    "InputPathsMap": {"node": NODE, "fault": DETAIL, "unsaid": "$.detail.Unsaid"},
                    "InputTemplate": '"node <node>"\n"fault <fault><unsaid>"',
                },
            }
        ],
    )
    yield made
    delete(root, made)


EVENTS = service("events", "sns:Publish")
EVENTS_KEY = service("events", *KEY_USE)


def failed(root: Session, rule: Resource) -> int:
    metrics = root.client("cloudwatch").list_metrics(
        Namespace="AWS/Events",
        MetricName="FailedInvocations",
        Dimensions=[{"Name": "RuleName", "Value": rule.physical_id}],
    )
    return len(metrics["Metrics"])


def test_an_event_reaches_the_reader_as_text(root: Session, topic: Watching, rule: Resource) -> None:
    admit(root, topic[0], topic=[EVENTS], key=[EVENTS_KEY])
    assert_told(root, rule)
    send_event(root, NODE_HEALTH, cluster_arn=OTHER_ARN, detail=FAULT)
    assert topic[1].messages() == []
    send_event(root, NODE_HEALTH, cluster_arn=CLUSTER_ARN, detail=FAULT)
    assert topic[1].messages() == ['"node i-0123456789abcdef0"\n"fault NvidiaGpuXidError"']
    assert failed(root, rule) == 0


@pytest.mark.parametrize(
    ("of_topic", "of_key"),
    [
        pytest.param([], [EVENTS_KEY], id="the topic admits nobody"),
        pytest.param([service("cloudwatch", "sns:Publish")], [EVENTS_KEY], id="the topic admits another"),
        pytest.param([EVENTS], [], id="the key admits nobody"),
        pytest.param([EVENTS], [service("events", "kms:Decrypt")], id="the key admits half"),
        pytest.param(
            [service("events", "sns:Publish", **OF_THIS_ACCOUNT)],
            [EVENTS_KEY],
            id="the topic asks for a source",
        ),
        pytest.param(
            [EVENTS], [service("events", *KEY_USE, **OF_THIS_ACCOUNT)], id="the key asks for a source"
        ),
    ],
)
def test_an_event_is_dropped_in_silence(
    root: Session, topic: Watching, rule: Resource, of_topic: list[Any], of_key: list[Any]
) -> None:
    someone = allow("sns:Publish", Principal={"AWS": ROOT_ARN})
    admit(root, topic[0], topic=[*of_topic, someone], key=of_key)
    send_event(root, NODE_HEALTH, cluster_arn=CLUSTER_ARN, detail=FAULT)
    assert topic[1].messages() == []
    assert failed(root, rule) == 1


def test_a_rule_that_is_off_tells_nobody(root: Session, topic: Watching, rule: Resource) -> None:
    admit(root, topic[0], topic=[EVENTS], key=[EVENTS_KEY])
    root.client("events").disable_rule(Name=rule.physical_id)
    send_event(root, NODE_HEALTH, cluster_arn=CLUSTER_ARN, detail=FAULT)
    assert topic[1].messages() == []


def test_nobody_but_the_service_sends_its_events(root: Session) -> None:
    entry = {"Source": "aws.sagemaker", "DetailType": NODE_HEALTH.detail_type, "Detail": "{}"}
    told = root.client("events").put_events(Entries=[entry])
    assert [one["ErrorCode"] for one in told["Entries"]] == ["NotAuthorizedForSourceException"]


def test_policies_that_sns_refuses(root: Session, topic: Watching) -> None:
    gone = allow("sns:Publish", Principal={"AWS": "arn:aws:iam::111122223333:role/nobody"})
    with pytest.raises(ClientError, match="PrincipalNotFound: arn:aws:iam::111122223333:role/nobody"):
        admit(root, topic[0], topic=[gone], key=[])
    with pytest.raises(ClientError, match="out of service scope"):
        admit(root, topic[0], topic=[service("events", "kms:Decrypt")], key=[])


@pytest.fixture
def log_group(root: Session) -> Iterator[str]:
    made = create(root, "AWS::Logs::LogGroup", LogGroupName=f"/aws/sagemaker/Clusters/c/{uuid.uuid4()}")
    yield made.physical_id
    delete(root, made)


def alarm_on(root: Session, topic_arn: str, metric: str) -> Resource:
    return create(
        root,
        "AWS::CloudWatch::Alarm",
        AlarmName=f"alarm-{uuid.uuid4()}",
        AlarmActions=[topic_arn],
        ComparisonOperator="GreaterThanOrEqualToThreshold",
        EvaluationPeriods=1,
        MetricName=metric,
        Namespace="HyperPod/c",
        Period=300,
        Statistic="Sum",
        Threshold=1,
        TreatMissingData="notBreaching",
    )


def filtered(root: Session, log_group: str, pattern: str, metric: str) -> Resource:
    return create(
        root,
        "AWS::Logs::MetricFilter",
        FilterPattern=pattern,
        LogGroupName=log_group,
        MetricTransformations=[
            {"MetricName": metric, "MetricNamespace": "HyperPod/c", "MetricValue": "1", "Unit": "Count"}
        ],
    )


@pytest.mark.parametrize(
    ("pattern", "others_line", "line"),
    [
        (HEALTH_EVENT_FILTER, '{"HealthMonitoringAgentDetectionEvent": "Heartbeat"}', DETECTION),
        (HEALTH_EVENT_FILTER, "HealthMonitoringAgentDetectionEvent: HealthEvent", DETECTION),
        (DEEP_HEALTH_FAILURE_FILTER, "no FaultyInstance here", "Encountered FaultyInstance. Replace it."),
    ],
)
def test_a_line_begins_an_alarm(
    root: Session, topic: Watching, log_group: str, pattern: str, others_line: str, line: str
) -> None:
    source = {"ArnLike": {"aws:SourceArn": "arn:aws:cloudwatch:us-west-2:111122223333:alarm:*"}}
    admit(
        root,
        topic[0],
        topic=[service("cloudwatch", "sns:Publish", **OF_THIS_ACCOUNT, **source)],
        key=[service("cloudwatch", *KEY_USE, **OF_THIS_ACCOUNT, **source)],
    )
    metric = f"metric-{uuid.uuid4()}"
    found = filtered(root, log_group, pattern, metric)
    alarm = alarm_on(root, topic[0].physical_id, metric)
    assert_told(root, alarm)
    assert_told(root, found)
    write_line(root, log_group=log_group, stream="one", line=others_line)
    assert topic[1].messages() == []
    write_line(root, log_group=log_group, stream="two", line=line)
    write_line(root, log_group=log_group, stream="three", line=line)
    (message,) = topic[1].messages()
    assert json.loads(message)["AlarmName"] == alarm.physical_id
    delete(root, alarm)
    delete(root, found)


def test_an_alarm_that_the_topic_does_not_admit_tells_nobody(root: Session, topic: Watching) -> None:
    admit(root, topic[0], topic=[EVENTS], key=[EVENTS_KEY])
    alarm = alarm_on(root, topic[0].physical_id, "Any")
    root.client("cloudwatch").set_alarm_state(
        AlarmName=alarm.physical_id, StateValue="ALARM", StateReason="to try it"
    )
    assert topic[1].messages() == []
    delete(root, alarm)


def test_an_alarm_without_data_is_as_it_says_and_stays_in_its_state(root: Session, topic: Watching) -> None:
    cloudwatch = root.client("cloudwatch")
    alarm = alarm_on(root, topic[0].physical_id, "Any")

    def state() -> str:
        return str(
            cloudwatch.describe_alarms(AlarmNames=[alarm.physical_id])["MetricAlarms"][0]["StateValue"]
        )

    assert state() == "OK"
    cloudwatch.set_alarm_state(AlarmName=alarm.physical_id, StateValue="ALARM", StateReason="to try it")
    changed = update(root, alarm, **{**alarm.properties, "TreatMissingData": "missing"})
    assert state() == "ALARM"
    delete(root, changed)
    alarm = create(root, "AWS::CloudWatch::Alarm", **changed.properties)
    assert state() == "INSUFFICIENT_DATA"
    delete(root, alarm)


def test_a_filter_needs_its_log_group(root: Session) -> None:
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        filtered(root, "/there/is/none", HEALTH_EVENT_FILTER, "Any")


def test_a_filter_goes_with_its_log_group(root: Session, log_group: str) -> None:
    group = create(root, "AWS::Logs::LogGroup")
    filtered(root, group.physical_id, HEALTH_EVENT_FILTER, "Any")
    delete(root, group)
    logs = root.client("logs")
    assert logs.describe_metric_filters(logGroupName=group.physical_id)["metricFilters"] == []


def test_a_pattern_that_the_double_does_not_know_is_refused(root: Session, log_group: str) -> None:
    with pytest.raises(ClientError):
        filtered(root, log_group, "?one ?other", "Any")


def test_a_key_that_does_not_admit_logs_is_refused_later_too(root: Session, log_group: str) -> None:
    key = create(root, "AWS::KMS::Key", KeyPolicy=policy_of_key()).attributes["Arn"]
    with pytest.raises(ClientError, match="does not let CloudWatch Logs use it"):
        root.client("logs").associate_kms_key(logGroupName=log_group, kmsKeyId=key)


@pytest.mark.parametrize("admitted", [True, False])
def test_events_are_kept_where_a_policy_of_logs_lets_them(root: Session, admitted: bool) -> None:
    name = f"/aws/events/hyperpod/{uuid.uuid4()}"
    group = create(root, "AWS::Logs::LogGroup", LogGroupName=name)
    arn = f"arn:aws:logs:us-west-2:111122223333:log-group:{name}"
    writers = ["events.amazonaws.com", "delivery.logs.amazonaws.com"]
    statement = allow(
        *("logs:CreateLogStream", "logs:PutLogEvents"),
        Principal={"Service": writers if admitted else writers[:1]},
    )
    text = json.dumps(document({**statement, "Resource": f"{arn}:*"}))
    policy = create(root, "AWS::Logs::ResourcePolicy", PolicyName=f"p-{uuid.uuid4()}", PolicyDocument=text)
    assert_told(root, policy)
    rule = create(
        root,
        "AWS::Events::Rule",
        logical_id=f"Kept{uuid.uuid4().hex}",
        EventPattern=PATTERN,
        Targets=[{"Id": "Log", "Arn": arn}],
    )
    send_event(root, NODE_HEALTH, cluster_arn=CLUSTER_ARN, detail=FAULT)
    lines = root.client("logs").filter_log_events(logGroupName=name)["events"]
    assert [json.loads(line["message"])["detail"]["InstanceId"] for line in lines] == (
        [FAULT["InstanceId"]] if admitted else []
    )
    for made in (rule, policy, group):
        delete(root, made)


def test_who_fails_most_begins_an_alarm_at_the_third_failure(root: Session, topic: Watching) -> None:
    admit(
        root,
        topic[0],
        topic=[service("cloudwatch", "sns:Publish")],
        key=[service("cloudwatch", *KEY_USE)],
    )
    group = create(root, "AWS::Logs::LogGroup").physical_id
    name = f"ranking-{uuid.uuid4()}"
    body = {
        "Schema": {"Name": "CloudWatchLogRule", "Version": 1},
        "LogGroupNames": [group],
        "LogFormat": "JSON",
        "Contribution": {"Keys": ["$.node"], "Filters": [{"Match": "$.status", "In": ["Unhealthy"]}]},
        "AggregateOn": "Count",
    }
    ranking = create(
        root, "AWS::CloudWatch::InsightRule", RuleName=name, RuleState="ENABLED", RuleBody=json.dumps(body)
    )
    assert_told(root, ranking)
    alarm = create(
        root,
        "AWS::CloudWatch::Alarm",
        AlarmName=f"alarm-{uuid.uuid4()}",
        AlarmActions=[topic[0].physical_id],
        ComparisonOperator="GreaterThanOrEqualToThreshold",
        EvaluationPeriods=1,
        Metrics=[
            {
                "Id": "most",
                "Expression": f'INSIGHT_RULE_METRIC("{name}", "MaxContributorValue")',
                "Label": "most failures",
                "Period": 86400,
                "ReturnData": True,
            }
        ],
        Threshold=3,
    )
    assert_told(root, alarm)
    lines = [("a", "Unhealthy"), ("b", "Unhealthy"), ("a", "Healthy"), ("a", "Unhealthy"), ("b", "Unhealthy")]
    for number, (node, status) in enumerate(lines):
        line = json.dumps({"node": node, "status": status})
        write_line(root, log_group=group, stream=str(number), line=line)
    assert topic[1].messages() == []
    write_line(root, log_group=group, stream="last", line=json.dumps({"node": "a", "status": "Unhealthy"}))
    assert len(topic[1].messages()) == 1
    delete(root, alarm)
    delete(root, ranking)


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        (
            "AWS::CloudWatch::Alarm",
            {
                "AlarmName": "twice",
                "ComparisonOperator": "GreaterThanThreshold",
                "EvaluationPeriods": 1,
                "MetricName": "Any",
                "Namespace": "Any",
                "Period": 60,
                "Statistic": "Sum",
                "Threshold": 1,
            },
        ),
        ("AWS::CloudWatch::Dashboard", {"DashboardName": "twice", "DashboardBody": '{"widgets": []}'}),
        (
            "AWS::CloudWatch::InsightRule",
            {"RuleName": "twice", "RuleState": "ENABLED", "RuleBody": '{"LogGroupNames": []}'},
        ),
    ],
)
def test_a_name_is_taken_once(root: Session, kind: str, properties: dict[str, Any]) -> None:
    made = create(root, kind, **properties)
    with pytest.raises(ResourceFailure, match="twice already exists"):
        create(root, kind, **properties)
    delete(root, made)


@pytest.mark.parametrize("body", ["no JSON", '{"start": "-P1D"}', '{"widgets": [{"type": "text"}]}'])
def test_a_dashboard_that_is_none_is_refused(root: Session, body: str) -> None:
    with pytest.raises(ClientError):
        create(root, "AWS::CloudWatch::Dashboard", DashboardName="broken", DashboardBody=body)


def test_each_comes_changes_and_goes(root: Session) -> None:
    live(
        root,
        "AWS::SNS::Topic",
        {"DisplayName": "one"},
        {"DisplayName": "two", "Tags": [{"Key": "a", "Value": "b"}]},
    )
    live(
        root,
        "AWS::Events::Rule",
        {"EventPattern": PATTERN, "Targets": []},
        {
            "EventPattern": {"source": ["aws.sagemaker"]},
            "State": "DISABLED",
            "Description": "off",
            "Targets": [],
        },
    )
    live(
        root,
        "AWS::Budgets::Budget",
        {"Budget": budget(100)},
        {"Budget": budget(200)},
    )


def budget(amount: float) -> dict[str, Any]:
    return {
        "BudgetName": "campaign",
        "BudgetType": "COST",
        "BudgetLimit": {"Amount": amount, "Unit": "USD"},
        "TimeUnit": "MONTHLY",
        "CostFilters": {"TagKeyValue": ["user:hyperpod-cluster$c"]},
    }


def test_who_is_told_of_a_budget_changes_by_another_budget(root: Session) -> None:
    told = {
        "Notification": {
            "ComparisonOperator": "GREATER_THAN",
            "NotificationType": "ACTUAL",
            "Threshold": 80,
            "ThresholdType": "PERCENTAGE",
        },
        "Subscribers": [{"SubscriptionType": "EMAIL", "Address": "a@example.com"}],
    }
    made = create(root, "AWS::Budgets::Budget", Budget=budget(100), NotificationsWithSubscribers=[told])
    assert_told(root, made)
    with pytest.raises(ClientError, match="DuplicateRecord"):
        create(root, "AWS::Budgets::Budget", Budget=budget(100))
    delete(root, made)
