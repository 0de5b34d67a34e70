from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match
from custom_resource_handlers import Handler
from stacks import lint, only, resources, template_of

from hyperpod_constructs.cluster_observability import (
    EXISTING_TOPIC_WARNING,
    NO_RECEIVER_WARNING,
    SHORT_RETENTION_WARNING,
    ClusterObservability,
)
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster, HyperPodClusterBase
from hyperpod_constructs.hyperpod_stack import HyperPodStack
from hyperpod_constructs.notice_topic import NoticeTopic
from hyperpod_lifecycle.failure_line import FAILURE_WORDS
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_model.catalog.events import CLUSTER_EVENT, CLUSTER_STATE_CHANGE, NODE_HEALTH
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.faults import InvalidInputError
from hyperpod_policy import review

ACCOUNT = "111122223333"
ENV = Environment(account=ACCOUNT, region="us-west-2")
ARN = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:cluster/abcdefgh1234"
TOPIC = f"arn:aws:sns:us-west-2:{ACCOUNT}:oncall"
EMAILS = ["oncall@example.com", "team@example.org"]
NODE_LOGS = "/aws/sagemaker/Clusters/llm-train/abcdefgh1234"
CLUSTERS = Path(__file__).parents[2] / "examples" / "clusters"
SWITCHES = (
    "health_events",
    "state_changes",
    "cluster_events",
    "health_detections",
    "deep_health_failures",
    "lifecycle_failures",
    "failing_slots",
    "crash_loops",
    "dashboard",
)


def _cluster(stack: Stack) -> HyperPodClusterBase:
    return HyperPodCluster.from_cluster_attributes(
        stack, "Cluster", cluster_arn=ARN, cluster_name="llm-train"
    )


def _watched(**props: Any) -> tuple[Stack, ClusterObservability]:
    stack = Stack(App(), "Training", env=ENV)
    given = {"emails": EMAILS, "continuous_provisioning": True, **props}
    return stack, ClusterObservability(stack, "Watch", cluster=_cluster(stack), **given)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return template_of(_watched()[0])


@pytest.fixture(scope="module")
def stack_template() -> dict[str, Any]:
    spec = load_cluster(CLUSTERS / "llm-train.yaml").spec
    return template_of(HyperPodStack(App(), "HyperPodStack", spec=spec, env=ENV))


def _properties(template: dict[str, Any], kind: str, part: str) -> dict[str, Any]:
    (found,) = [one for name, one in resources(template, kind).items() if part in name]
    properties: dict[str, Any] = found["Properties"]
    return properties


def _statements(properties: dict[str, Any], member: str) -> dict[str, dict[str, Any]]:
    return {one["Sid"]: one for one in properties[member]["Statement"] if "Sid" in one}


# The topic.


def test_the_topic_is_encrypted_and_read(template: dict[str, Any]) -> None:
    name, topic = only(template, "AWS::SNS::Topic")
    assert topic["Properties"]["KmsMasterKeyId"]["Fn::GetAtt"][1] == "Arn"
    subscriptions = [one["Properties"] for one in resources(template, "AWS::SNS::Subscription").values()]
    assert subscriptions == [
        {"Endpoint": address, "Protocol": "email", "TopicArn": {"Ref": name}} for address in EMAILS
    ]


def test_an_address_that_leaves_takes_no_other_with_it() -> None:
    before = template_of(_watched()[0])
    after = template_of(_watched(emails=EMAILS[1:])[0])
    kept = resources(after, "AWS::SNS::Subscription")
    assert kept.items() <= resources(before, "AWS::SNS::Subscription").items()


def test_eventbridge_is_admitted_without_conditions_on_its_source(template: dict[str, Any]) -> None:
    """SNS developer guide, sns-key-management: not supported for EventBridge and encrypted topics."""
    _, policy = only(template, "AWS::SNS::TopicPolicy")
    publish = _statements(policy["Properties"], "PolicyDocument")["PublishEvents"]
    assert publish["Principal"] == {"Service": "events.amazonaws.com"}
    assert "Condition" not in publish
    encrypt = _statements(_properties(template, "AWS::KMS::Key", "Topic"), "KeyPolicy")["EncryptEvents"]
    assert encrypt["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert list(encrypt["Condition"]) == ["ArnLike"]
    assert list(encrypt["Condition"]["ArnLike"]) == ["kms:EncryptionContext:aws:sns:topicArn"]


def test_alarms_are_admitted_for_this_account_alone(template: dict[str, Any]) -> None:
    _, policy = only(template, "AWS::SNS::TopicPolicy")
    publish = _statements(policy["Properties"], "PolicyDocument")["PublishAlarms"]
    encrypt = _statements(_properties(template, "AWS::KMS::Key", "Topic"), "KeyPolicy")["EncryptAlarms"]
    for statement in (publish, encrypt):
        assert statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
        assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
        assert ":alarm:*" in json.dumps(statement["Condition"]["ArnLike"]["aws:SourceArn"])


def test_nobody_else_is_admitted(template: dict[str, Any]) -> None:
    _, policy = only(template, "AWS::SNS::TopicPolicy")
    allowed = [
        one["Principal"]
        for one in policy["Properties"]["PolicyDocument"]["Statement"]
        if one["Effect"] == "Allow"
    ]
    assert allowed == [{"Service": "events.amazonaws.com"}, {"Service": "cloudwatch.amazonaws.com"}]


def test_budgets_are_admitted_when_asked() -> None:
    stack, watch = _watched()
    watch.notices.admit_budgets()
    watch.notices.admit_budgets()
    template = template_of(stack)
    _, policy = only(template, "AWS::SNS::TopicPolicy")
    publish = _statements(policy["Properties"], "PolicyDocument")["PublishBudgets"]
    assert publish["Principal"] == {"Service": "budgets.amazonaws.com"}
    assert ":budgets::" in json.dumps(publish["Condition"]["ArnLike"])
    assert "EncryptBudgets" in _statements(_properties(template, "AWS::KMS::Key", "Topic"), "KeyPolicy")


def test_plain_text_is_denied(template: dict[str, Any]) -> None:
    _, policy = only(template, "AWS::SNS::TopicPolicy")
    (denial,) = [
        one for one in policy["Properties"]["PolicyDocument"]["Statement"] if one["Effect"] == "Deny"
    ]
    assert denial["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_a_job_may_tell_of_its_own_end() -> None:
    stack, watch = _watched()
    job = iam.Role(stack, "Job", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    watch.grant_notify(job)
    _, policy = only(template_of(stack), "AWS::IAM::Policy")
    publish, encrypt = policy["Properties"]["PolicyDocument"]["Statement"]
    assert publish["Action"] == "sns:Publish"
    assert encrypt["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert "sns." in json.dumps(encrypt["Condition"]["StringLike"]["kms:ViaService"])


def test_an_existing_topic_is_used_and_left_alone() -> None:
    stack = Stack(App(), "Training", env=ENV)
    watch = ClusterObservability(
        stack,
        "Watch",
        cluster=_cluster(stack),
        topic=sns.Topic.from_topic_arn(stack, "Oncall", TOPIC),
        emails=EMAILS[:1],
    )
    watch.notices.admit_budgets()
    template = template_of(stack)
    for kind in ("AWS::SNS::Topic", "AWS::SNS::TopicPolicy"):
        assert resources(template, kind) == {}
    assert only(template, "AWS::SNS::Subscription")[1]["Properties"]["TopicArn"] == TOPIC
    for kind in ("AWS::Events::Rule", "AWS::CloudWatch::Alarm"):
        told = [one for name, one in resources(template, kind).items() if "EventLog" not in name]
        assert told
        assert all(TOPIC in json.dumps(one) for one in told)
    warning = Match.string_like_regexp(EXISTING_TOPIC_WARNING)
    Annotations.from_stack(stack).has_warning("*", warning)


def test_a_cluster_that_nobody_watches_is_said() -> None:
    stack, _ = _watched(emails=[])
    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp(NO_RECEIVER_WARNING))


def test_a_watched_cluster_leaves_no_warning() -> None:
    stack, _ = _watched()
    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


# Events.


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("EventsNodeHealth", NODE_HEALTH),
        ("EventsStateChange", CLUSTER_STATE_CHANGE),
        ("EventsClusterEvent", CLUSTER_EVENT),
    ],
)
def test_events_are_those_of_the_cluster(template: dict[str, Any], part: str, kind: Any) -> None:
    pattern = _properties(template, "AWS::Events::Rule", part)["EventPattern"]
    assert pattern["source"] == ["aws.sagemaker"]
    assert pattern["detail-type"] == [kind.detail_type]
    assert pattern["resources"] == [ARN]


def test_of_cluster_events_failures_alone_are_told(template: dict[str, Any]) -> None:
    pattern = _properties(template, "AWS::Events::Rule", "EventsClusterEvent")["EventPattern"]
    assert pattern["detail"] == {"EventDetails": {"EventLevel": ["Error"]}}


def test_paths_are_fields_that_the_events_have(template: dict[str, Any]) -> None:
    for part, kind in (("NodeHealth", NODE_HEALTH), ("StateChange", CLUSTER_STATE_CHANGE)):
        (target,) = _properties(template, "AWS::Events::Rule", f"Events{part}")["Targets"]
        paths = target["InputTransformer"]["InputPathsMap"].values()
        inside = {path.removeprefix("$.detail.") for path in paths if path.startswith("$.detail.")}
        assert inside <= set(kind.detail_fields)


def _message(template: dict[str, Any], part: str, event: dict[str, Any]) -> str:
    """What EventBridge makes of an event: a stand-in for its input transformer.

    Source: EventBridge user guide, eb-transform-target-input; a variable whose path is not in the event stays
    out of the text.
    """
    (target,) = _properties(template, "AWS::Events::Rule", part)["Targets"]
    transformer = target["InputTransformer"]
    values = {name: _at(event, path) for name, path in transformer["InputPathsMap"].items()}
    lines = [json.loads(line) for line in transformer["InputTemplate"].split("\n")]
    text = "\n".join(lines)
    unknown = set(re.findall(r"<(\w+)>", text)) - values.keys()
    assert unknown == set(), "EventBridge refuses variables without a path"
    return re.sub(r"<(\w+)>", lambda found: values[found[1]], text)


def _at(event: dict[str, Any], path: str) -> str:
    place: Any = event
    for step in path.removeprefix("$.").split("."):
        place = place.get(step, {})
    return place if isinstance(place, str) else ""


def test_the_message_of_a_faulty_node(template: dict[str, Any]) -> None:
    event = {
        "time": "2026-11-30T01:52:12Z",
        "detail": {
            "InstanceId": "i-12345678abcdefghi",
            "HealthSummary": {
                "HealthStatus": "Unhealthy",
                "HealthStatusReason": "HMA has detected fault type NvidiaErrorTerminate on this node",
                "RepairAction": "None",
                "Recommendation": "Please Replace the Faulty Node.",
            },
        },
    }
    assert _message(template, "EventsNodeHealth", event).splitlines() == [
        "HyperPod cluster llm-train: node i-12345678abcdefghi is Unhealthy.",
        "Fault: HMA has detected fault type NvidiaErrorTerminate on this node",
        "Action of HyperPod: None",
        "Recommendation: Please Replace the Faulty Node.",
        "Its group, and what else is down: hyperpod-nodes list llm-train --region us-west-2",
        "What to do: hyperpod-nodes advise llm-train i-12345678abcdefghi --region us-west-2",
        "Time: 2026-11-30T01:52:12Z",
    ]


def test_the_message_of_a_failed_operation(template: dict[str, Any]) -> None:
    details = {
        "InstanceGroupName": "workers",
        "EventLevel": "Error",
        "Description": "Instance creation failed",
        "EventDetails": {"EventMetadata": {"Instance": {"FailureMessage": "no capacity"}}},
    }
    said = _message(template, "EventsClusterEvent", {"detail": {"EventDetails": details}}).splitlines()
    assert said[:4] == [
        "HyperPod cluster llm-train: Error: Instance creation failed",
        "Group: workers",
        "Node: ",
        "Reason: no capacity",
    ]


def test_commands_of_messages_are_commands() -> None:
    """The command line takes what messages name."""
    from hyperpod_constructs import operator_commands
    from hyperpod_lifecycle.operations.command.arguments import parsed

    for words in (
        operator_commands.list_nodes("llm-train", "us-west-2"),
        operator_commands.advise("llm-train", "us-west-2", "i-0123456789abcdef0"),
        operator_commands.advise("llm-train", "us-west-2"),
        operator_commands.node_logs("llm-train", "us-west-2", "i-0123456789abcdef0"),
    ):
        program, *arguments = words.split()
        assert program == "hyperpod-nodes"
        assert parsed(arguments).region == "us-west-2"


_COMMAND = re.compile(r"hyperpod-nodes [^\n\\\"]+?--region [a-z0-9-]+")


@pytest.mark.parametrize("part", ["EventsNodeHealth", "EventsStateChange", "EventsClusterEvent"])
def test_commands_of_messages_run_as_they_are_whatever_the_event_leaves_out(
    template: dict[str, Any], part: str
) -> None:
    """An event of missing capacity names no node: its reader pastes the command all the same."""
    from hyperpod_lifecycle.operations.command.arguments import parsed

    commands = _COMMAND.findall(_message(template, part, {"detail": {}}))
    assert commands
    for command in commands:
        assert parsed(command.split()[1:]).cluster == "llm-train"


@pytest.mark.parametrize("alarm", ["health-detections", "deep-health-failures", "lifecycle-failures"])
def test_alarms_on_nodes_name_the_command_that_finds_the_node(template: dict[str, Any], alarm: str) -> None:
    found = [
        one["Properties"]["AlarmDescription"]
        for one in resources(template, "AWS::CloudWatch::Alarm").values()
        if one["Properties"]["AlarmName"] == f"hyperpod-llm-train-{alarm}"
    ]
    assert len(found) == 1
    assert "Which, and what to do: hyperpod-nodes advise llm-train --region us-west-2" in found[0]


def test_the_alarm_on_a_crash_loop_says_what_to_look_for(template: dict[str, Any]) -> None:
    (found,) = [
        one["Properties"]["AlarmDescription"]
        for one in resources(template, "AWS::CloudWatch::Alarm").values()
        if one["Properties"]["AlarmName"] == "hyperpod-llm-train-crash-loops"
    ]
    assert "look for HYPERPOD_CRASH_LOOP in the log groups of the nodes and of the jobs" in found


def test_a_classic_cluster_sends_no_cluster_events() -> None:
    template = template_of(_watched(continuous_provisioning=False)[0])
    assert len(resources(template, "AWS::Events::Rule")) == 3
    assert len(resources(template, "AWS::CloudWatch::InsightRule")) == 1
    assert not any("ClusterEvent" in name for name in template["Resources"])


# Logs.


def test_metric_filters_wait_for_the_log_group(template: dict[str, Any]) -> None:
    kept, resource = only(template, "Custom::NodeLogGroup")
    assert resource["Properties"]["LogGroupName"] == NODE_LOGS
    assert resource["Properties"]["RetentionInDays"] == 365
    for one in resources(template, "AWS::Logs::MetricFilter").values():
        assert one["Properties"]["LogGroupName"] == {"Ref": kept}


def test_the_key_is_for_the_logs_of_this_cluster(template: dict[str, Any]) -> None:
    key = _statements(_properties(template, "AWS::KMS::Key", "LogKey"), "KeyPolicy")["CloudWatchLogs"]
    groups = json.dumps(key["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"])
    assert "log-group:/aws/sagemaker/Clusters/llm-train/*" in groups
    assert "log-group:/aws/events/hyperpod/llm-train" in groups
    assert "log-group:*" not in groups


def test_the_handler_may_change_one_log_group(template: dict[str, Any]) -> None:
    _, policy = only(template, "AWS::IAM::ManagedPolicy")
    keep = _statements(policy["Properties"], "PolicyDocument")["KeepLogGroup"]
    assert keep["Action"] == ["logs:AssociateKmsKey", "logs:CreateLogGroup", "logs:PutRetentionPolicy"]
    assert all(NODE_LOGS in json.dumps(arn) for arn in keep["Resource"])


@pytest.mark.parametrize(
    ("part", "pattern"),
    [
        ("HealthDetections", '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" }'),
        ("DeepHealthFailures", '"Encountered FaultyInstance"'),
        ("LifecycleFailures", '"FAILED in step"'),
        ("CrashLoops", '"HYPERPOD_CRASH_LOOP"'),
    ],
)
def test_alarms_on_logs(template: dict[str, Any], part: str, pattern: str) -> None:
    counted = _properties(template, "AWS::Logs::MetricFilter", part)
    alarm = _properties(template, "AWS::CloudWatch::Alarm", part)
    assert counted["FilterPattern"] == pattern
    (metric,) = counted["MetricTransformations"]
    assert (metric["MetricNamespace"], metric["MetricName"]) == (alarm["Namespace"], alarm["MetricName"])
    assert metric["MetricValue"] == "1"
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (1, "GreaterThanOrEqualToThreshold")
    assert alarm["TreatMissingData"] == "notBreaching"


def test_the_words_of_a_failed_script_are_those_that_scripts_print() -> None:
    text = (scripts_folder() / "lib" / "log.sh").read_text(encoding="utf-8")
    assert text.count(f'log "{FAILURE_WORDS} ') == 2


def test_jobs_may_log_elsewhere() -> None:
    stack, watch = _watched()
    watch.watch_job_logs(
        logs.LogGroup.from_log_group_name(stack, "Jobs", "/aws/containerinsights/eks/application")
    )
    found = resources(template_of(stack), "AWS::Logs::MetricFilter")
    patterns = [one["Properties"]["FilterPattern"] for one in found.values()]
    assert patterns.count('"HYPERPOD_CRASH_LOOP"') == 2
    watch = _watched(crash_loops=False)[1]
    watch.watch_job_logs(logs.LogGroup.from_log_group_name(watch, "Jobs", "/jobs"))


# Who keeps failing.


@pytest.mark.parametrize(
    ("part", "key"),
    [("Nodes", "$.detail.InstanceId"), ("Groups", "$.detail.EventDetails.InstanceGroupName")],
)
def test_failures_are_counted_by_whom_they_are_about(template: dict[str, Any], part: str, key: str) -> None:
    rule = _properties(template, "AWS::CloudWatch::InsightRule", f"{part}Ranking")
    body = json.loads(rule["RuleBody"])
    assert body["Contribution"]["Keys"] == [key]
    assert body["LogGroupNames"] == ["/aws/events/hyperpod/llm-train"]
    alarm = _properties(template, "AWS::CloudWatch::Alarm", f"{part}Alarm")
    (metric,) = alarm["Metrics"]
    assert metric["Expression"] == f'INSIGHT_RULE_METRIC("{rule["RuleName"]}", "MaxContributorValue")'
    assert (metric["Period"], alarm["Threshold"], alarm["TreatMissingData"]) == (86400, 3, "notBreaching")
    assert alarm["AlarmDescription"].endswith("Look: hyperpod-nodes advise llm-train --region us-west-2")


def test_eventbridge_may_write_the_event_log_before_it_does(template: dict[str, Any]) -> None:
    name, policy = only(template, "AWS::Logs::ResourcePolicy")
    text = json.dumps(policy["Properties"]["PolicyDocument"])
    assert "log-group:/aws/events/hyperpod/llm-train:*" in text
    (rule,) = [
        one for one_name, one in resources(template, "AWS::Events::Rule").items() if "EventLog" in one_name
    ]
    assert name in rule["DependsOn"]
    group = _properties(template, "AWS::Logs::LogGroup", "FailingSlotsEventLog")
    assert group["RetentionInDays"] == 365
    assert "LogKey" in json.dumps(group["KmsKeyId"])


# All of it.


def test_everything_is_valid(template: dict[str, Any]) -> None:
    assert [one for one in lint(template) if "W3005" not in one] == []


def test_everything_can_be_switched_off() -> None:
    stack, watch = _watched(**dict.fromkeys(SWITCHES, False))
    kinds = {one["Type"] for one in template_of(stack)["Resources"].values()}
    assert {kind for kind in kinds if kind.startswith(("AWS::CloudWatch", "AWS::Events"))} == set()
    assert "Custom::NodeLogGroup" in kinds
    assert (watch.alarms, watch.failing_slots, watch.dashboard) == ([], None, None)


MADE_BY = {
    "health_events": "AWS::Events::Rule",
    "state_changes": "AWS::Events::Rule",
    "cluster_events": "AWS::Events::Rule",
    "health_detections": "AWS::Logs::MetricFilter",
    "deep_health_failures": "AWS::Logs::MetricFilter",
    "lifecycle_failures": "AWS::Logs::MetricFilter",
    "failing_slots": "AWS::CloudWatch::InsightRule",
    "crash_loops": "AWS::Logs::MetricFilter",
    "dashboard": "AWS::CloudWatch::Dashboard",
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_each_switch_stands_alone(switch: str) -> None:
    template = template_of(_watched(**{**dict.fromkeys(SWITCHES, False), switch: True})[0])
    kinds = {one["Type"] for one in template["Resources"].values()}
    assert MADE_BY[switch] in kinds
    others = set(MADE_BY.values()) - {MADE_BY[switch]}
    assert kinds & others == ({"AWS::Events::Rule"} if switch == "failing_slots" else set())
    admitted = json.dumps(resources(template, "AWS::SNS::TopicPolicy"))
    assert ("events.amazonaws.com" in admitted) == (MADE_BY[switch] == "AWS::Events::Rule")
    tells = MADE_BY[switch] in ("AWS::Logs::MetricFilter", "AWS::CloudWatch::InsightRule")
    assert ("cloudwatch.amazonaws.com" in admitted) == tells


def test_the_dashboard_shows_every_alarm(template: dict[str, Any]) -> None:
    _, dashboard = only(template, "AWS::CloudWatch::Dashboard")
    body = json.dumps(dashboard["Properties"]["DashboardBody"])
    for name in resources(template, "AWS::CloudWatch::Alarm"):
        assert name in body
    assert "us-west-2" in dashboard["Properties"]["DashboardName"]
    assert "HealthMonitoringAgentDetectionEvent" in body


@pytest.mark.parametrize(
    ("props", "message"),
    [
        ({"emails": "oncall@example.com"}, r"emails: must be a list .*put it in brackets"),
        ({"emails": ["oncall"]}, r"emails\[0\]: must be an e-mail address, such as .*got 'oncall'"),
        ({"emails": ["a@b.example", "a@b.example"]}, r"emails\[1\]: 'a@b.example' is given twice"),
        ({"topic": TOPIC}, r"topic: must be an SNS topic"),
        ({"log_retention_days": 100}, r"log_retention_days: must be one of 1, 3, 5.*got 100"),
        ({"log_retention_days": True}, r"log_retention_days: must be one of 1, 3, 5.*got True"),
        ({"job_log_groups": ["/jobs"]}, r"job_log_groups\[0\]: must be a log group"),
    ],
)
def test_wrong_arguments(props: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _watched(**props)


def test_something_that_is_no_cluster() -> None:
    stack = Stack(App(), "Training")
    with pytest.raises(InvalidInputError, match=r"cluster: must be a HyperPodCluster"):
        ClusterObservability(stack, "Watch", cluster=ARN)  # type: ignore[arg-type]


def test_tokens_pass() -> None:
    stack = Stack(App(), "Training")
    address = CfnParameter(stack, "Address").value_as_string
    days = CfnParameter(stack, "Days", type="Number", default=90).value_as_number
    ClusterObservability(
        stack,
        "Watch",
        cluster=_cluster(stack),
        emails=[address],
        log_retention_days=days,  # type: ignore[arg-type]
    )
    subscription = only(template_of(stack), "AWS::SNS::Subscription")[1]
    assert subscription["Properties"]["Endpoint"] == {"Ref": "Address"}


def test_logs_that_expire_within_a_run() -> None:
    stack, _ = _watched(log_retention_days=7)
    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp(SHORT_RETENTION_WARNING))


def test_a_topic_alone() -> None:
    stack = Stack(App(), "Training")
    NoticeTopic(stack, "Notices", emails=EMAILS[:1])
    assert only(template_of(stack), "AWS::KMS::Key")[1]["DeletionPolicy"] == "Delete"


# The stack.


def test_the_stack_watches_its_cluster(stack_template: dict[str, Any]) -> None:
    cluster, _ = only(stack_template, "AWS::SageMaker::Cluster")
    rules = resources(stack_template, "AWS::Events::Rule")
    assert len(rules) == 4
    for rule in rules.values():
        assert rule["Properties"]["EventPattern"]["resources"] == [{"Fn::GetAtt": [cluster, "ClusterArn"]}]
    found = review(stack_template, region="us-west-2")
    for rule_id in ("HealthEvents", "AlarmActions", "TopicEncryption", "LogRetention", "KeyPolicies"):
        assert found.outcome(rule_id) == "pass"
    assert "NoticeTopicArn" in stack_template["Outputs"]


def test_the_cluster_does_not_wait_for_those_who_watch(stack_template: dict[str, Any]) -> None:
    _, cluster = only(stack_template, "AWS::SageMaker::Cluster")
    assert not any(name.startswith("Observability") for name in cluster["DependsOn"])


def _stack(example: str, **changes: Any) -> dict[str, Any]:
    said = load_cluster(CLUSTERS / example).spec.model_dump(exclude_unset=True)
    spec = ClusterSpec.model_validate({**said, **changes})
    return template_of(HyperPodStack(App(), "HyperPodStack", spec=spec, env=ENV))


def _publishers(template: dict[str, Any]) -> list[str]:
    return [
        name
        for kind in ("AWS::IAM::ManagedPolicy", "AWS::IAM::Policy")
        for name, one in resources(template, kind).items()
        if '"sns:Publish"' in json.dumps(one)
    ]


def test_jobs_have_the_identity_of_nodes_on_slurm(stack_template: dict[str, Any]) -> None:
    (policy,) = _publishers(stack_template)
    assert policy.startswith("ExecutionRole")


def test_jobs_have_their_own_identity_on_eks() -> None:
    (policy,) = _publishers(_stack("llm-train-eks.yaml"))
    assert policy.startswith("TrainingPodRole")


def test_null_leaves_everything_out() -> None:
    template = _stack("llm-train.yaml", observability=None)
    assert not any(name.startswith("Observability") for name in template["Resources"])
    assert "NoticeTopicArn" not in template["Outputs"]
    assert _publishers(template) == []


def test_fields_of_the_specification_are_props() -> None:
    switches = dict.fromkeys(SWITCHES, False)
    said = {"topic_arn": TOPIC, "emails": EMAILS, "log_retention_days": 90, **switches}
    template = _stack("llm-train.yaml", observability=said, budget=None)
    kinds = {one["Type"] for one in template["Resources"].values()}
    assert kinds & {"AWS::SNS::Topic", "AWS::Events::Rule", "AWS::CloudWatch::Alarm"} == set()
    assert only(template, "Custom::NodeLogGroup")[1]["Properties"]["RetentionInDays"] == 90
    assert len(resources(template, "AWS::SNS::Subscription")) == 2


# The handler.


@pytest.fixture
def keeping(
    custom_resource_handler: Callable[[str, str], Handler], monkeypatch: pytest.MonkeyPatch
) -> Handler:
    handler = custom_resource_handler("keep_node_log_group", "logs")
    monkeypatch.setattr(handler.module.time, "sleep", lambda _seconds: None)
    return handler


class _Context:
    """A run of the function that has some looks at the clock left."""

    def __init__(self, looks: int = 100) -> None:
        self.looks = looks

    def get_remaining_time_in_millis(self) -> int:
        self.looks -= 1
        return 60_000 if self.looks >= 0 else 0


def _event(request_type: str) -> dict[str, Any]:
    properties = {"LogGroupName": NODE_LOGS, "RetentionInDays": "365", "KmsKeyArn": "arn:aws:kms:key"}
    return {"RequestType": request_type, "ResourceProperties": properties}


def _expect(handler: Handler, *operations: str) -> None:
    parameters: dict[str, dict[str, Any]] = {
        "create_log_group": {},
        "associate_kms_key": {"kmsKeyId": "arn:aws:kms:key"},
        "put_retention_policy": {"retentionInDays": 365},
    }
    for operation in operations:
        handler.stubber.add_response(operation, {}, {"logGroupName": NODE_LOGS, **parameters[operation]})


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_the_group_is_made(keeping: Handler, request_type: str) -> None:
    _expect(keeping, "create_log_group", "associate_kms_key", "put_retention_policy")
    assert keeping(_event(request_type), _Context()) == [("SUCCESS", NODE_LOGS, None)]
    keeping.stubber.assert_no_pending_responses()


def test_a_group_of_the_nodes_is_adopted(keeping: Handler) -> None:
    keeping.stubber.add_client_error("create_log_group", "ResourceAlreadyExistsException")
    _expect(keeping, "associate_kms_key", "put_retention_policy")
    assert keeping(_event("Create"), _Context()) == [("SUCCESS", NODE_LOGS, None)]
    keeping.stubber.assert_no_pending_responses()


def test_nodes_that_make_it_at_the_same_moment_are_waited_for(keeping: Handler) -> None:
    keeping.stubber.add_client_error("create_log_group", "OperationAbortedException")
    keeping.stubber.add_client_error("create_log_group", "ResourceAlreadyExistsException")
    keeping.stubber.add_client_error("associate_kms_key", "OperationAbortedException")
    _expect(keeping, "associate_kms_key", "put_retention_policy")
    assert keeping(_event("Create"), _Context()) == [("SUCCESS", NODE_LOGS, None)]
    keeping.stubber.assert_no_pending_responses()


def test_waiting_ends_with_the_time_of_the_function(keeping: Handler) -> None:
    keeping.stubber.add_client_error("create_log_group", "OperationAbortedException", "busy")
    ((status, name, reason),) = keeping(_event("Create"), _Context(looks=0))
    assert (status, name) == ("FAILED", NODE_LOGS)
    assert "busy" in str(reason)


def test_a_key_that_is_not_admitted_is_said(keeping: Handler) -> None:
    _expect(keeping, "create_log_group")
    keeping.stubber.add_client_error("associate_kms_key", "InvalidParameterException", "not allowed")
    ((status, _, reason),) = keeping(_event("Create"), _Context())
    assert status == "FAILED"
    assert NODE_LOGS in str(reason)
    assert "not allowed" in str(reason)


def test_deletion_leaves_the_logs(keeping: Handler) -> None:
    assert keeping(_event("Delete"), _Context()) == [("SUCCESS", NODE_LOGS, None)]
    keeping.stubber.assert_no_pending_responses()
