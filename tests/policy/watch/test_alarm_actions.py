from __future__ import annotations

import pytest

ID = "AlarmActions"


def _alarm(template):
    return template["Resources"]["Alarm"]["Properties"]


def test_an_alarm_that_tells_somebody_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("kind", ["AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"AlarmActions": []}, "names no action"),
        ({"AlarmActions": None}, "names no action"),
        ({"ActionsEnabled": False}, "is false, so its actions never run"),
        ({"ActionsEnabled": "false"}, "is false, so its actions never run"),
    ],
    ids=["none", "absent", "disabled", "disabled-as-text"],
)
def test_a_silent_alarm_fails(judge, template, kind, change, words):
    template["Resources"]["Alarm"]["Type"] = kind
    _alarm(template).update(change)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Alarm", "warning")
    assert words in finding.message


def test_a_topic_that_carries_nothing_fails(judge, template, obstacle):
    change, words = obstacle
    change(template["Resources"])
    (finding,) = judge(ID, template).failures
    assert words in finding.message


def test_a_topic_with_its_default_policy_complies(judge, template):
    """It admits the account's own alarms."""
    del template["Resources"]["TopicPolicy"]
    assert judge(ID, template).outcome(ID) == "pass"


def test_other_ways_of_the_same_comply(judge, template, benign):
    benign(template["Resources"])
    assert judge(ID, template).outcome(ID) == "pass"


def test_what_deployment_alone_can_tell_is_undetermined(judge, template, unclear):
    unclear(template["Resources"])
    assert judge(ID, template).failures == ()
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "action",
    [
        "arn:aws:sns:us-west-2:111122223333:others",
        {"Fn::Sub": "arn:aws:automate:${AWS::Region}:ec2:recover"},
        {"Fn::ImportValue": "topic"},
    ],
    ids=["topic", "recovery", "import"],
)
def test_an_action_elsewhere_complies(judge, template, action):
    _alarm(template)["AlarmActions"] = [action]
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("member", ["AlarmActions", "ActionsEnabled"])
def test_an_unresolved_value_is_undetermined(judge, template, member):
    template["Parameters"] = {"Value": {"Type": "CommaDelimitedList"}}
    _alarm(template)[member] = {"Ref": "Value"}
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "rule",
    [
        {"Fn::Sub": "ALARM(${Alarm})"},
        {"Fn::Join": ["", ['ALARM("', {"Ref": "Alarm"}, '") OR ALARM("other")']]},
        'ALARM("xid") AND NOT OK(other)',
    ],
    ids=["sub", "join", "name"],
)
def test_an_alarm_that_a_composite_one_reads_needs_no_action(judge, template, rule):
    _alarm(template).update(AlarmActions=[], AlarmName="xid")
    template["Resources"]["Composite"] = {
        "Type": "AWS::CloudWatch::CompositeAlarm",
        "Properties": {"AlarmRule": rule, "AlarmActions": [{"Ref": "Topic"}]},
    }
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize("name", [{"Ref": "Alarm"}, "xid"], ids=["reference", "name"])
def test_an_alarm_that_rolls_updates_back_needs_no_action(judge, template, name):
    _alarm(template).update(AlarmActions=[], AlarmName="xid")
    group = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][0]
    group["ScheduledUpdateConfig"] = {
        "DeploymentConfig": {"AutoRollbackConfiguration": [{"AlarmName": name}]}
    }
    assert judge(ID, template).findings == ()


def test_both_branches_are_judged(judge, template):
    template["Conditions"] = {"Quiet": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _alarm(template)["ActionsEnabled"] = {"Fn::If": ["Quiet", False, True]}
    (finding,) = judge(ID, template).failures
    assert finding.when == "condition Quiet is true"


def test_templates_without_alarm_or_cluster_have_no_verdicts(judge, template):
    kept = dict(template["Resources"])
    for name, resource in kept.items():
        if resource["Type"] == "AWS::CloudWatch::Alarm":
            del template["Resources"][name]
    assert judge(ID, template).verdicts == ()
    template["Resources"] = kept
    del template["Resources"]["Cluster"]
    assert judge(ID, template).verdicts == ()


def test_a_condition_on_the_source_admits_the_account(judge, template, for_the_account):
    for_the_account(template["Resources"])
    assert judge(ID, template).outcome(ID) == "pass"


OWN_ALARMS = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:"


@pytest.mark.parametrize(
    ("pattern", "outcome"),
    [
        ({"Fn::Sub": f"{OWN_ALARMS}*"}, "pass"),
        ({"Fn::Sub": f"{OWN_ALARMS}training-*"}, "pass"),
        ({"Fn::GetAtt": ["Alarm", "Arn"]}, "pass"),
        ({"Fn::Sub": f"{OWN_ALARMS}serving-*"}, "fail"),
        ("arn:aws:cloudwatch:us-west-2:111122223333:metric-stream/*", "fail"),
    ],
    ids=str,
)
def test_a_policy_for_some_alarms_admits_these(judge, template, pattern, outcome):
    template["Resources"]["Alarm"]["Properties"]["AlarmName"] = "training-faults"
    _, statement = template["Resources"]["TopicPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statement["Condition"] = {"ArnLike": {"aws:SourceArn": pattern}}
    assert judge(ID, template).outcome(ID) == outcome


@pytest.mark.parametrize("rule", ["FALSE", " false "])
def test_a_composite_alarm_that_never_begins_fails(judge, template, rule):
    _alarm(template)["AlarmRule"] = rule
    template["Resources"]["Alarm"]["Type"] = "AWS::CloudWatch::CompositeAlarm"
    (finding,) = judge(ID, template).failures
    assert (finding.path, finding.found) == (("AlarmRule",), "is FALSE, so that it never begins")


def _filtered(template, **more):
    template["Resources"]["Subscription"]["Properties"].update(more)


@pytest.mark.parametrize(
    "policy", [{"severity": ["critical"]}, '{"severity": ["critical"]}'], ids=["object", "text"]
)
def test_a_filter_on_attributes_that_no_message_has_fails(judge, template, policy):
    _filtered(template, FilterPolicy=policy)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("Subscription", ("FilterPolicy",))
    assert (
        "attribute 'severity' alone, and cloudwatch.amazonaws.com gives its messages none" in finding.message
    )


@pytest.mark.parametrize(
    "more",
    [
        {"FilterPolicy": {"NewStateValue": ["ALARM"]}, "FilterPolicyScope": "MessageBody"},
        {"FilterPolicy": {"severity": ["critical", {"exists": False}]}},
        {"FilterPolicy": {}},
    ],
    ids=str,
)
def test_filters_that_let_alarms_through_comply(judge, template, more):
    _filtered(template, **more)
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "more",
    [
        {"FilterPolicy": {"Fn::ImportValue": "filter"}},
        {"FilterPolicy": {"severity": ["critical"]}, "FilterPolicyScope": {"Fn::ImportValue": "scope"}},
    ],
    ids=str,
)
def test_filters_that_deployment_tells_are_undetermined(judge, template, more):
    _filtered(template, **more)
    assert judge(ID, template).failures == ()
    assert judge(ID, template).outcome(ID) == "undetermined"


def _read_by(template, kind, protocol):
    template["Resources"]["Reader"] = {"Type": kind, "Properties": {}}
    _filtered(template, Protocol=protocol, Endpoint={"Fn::GetAtt": ["Reader", "Arn"]})


@pytest.mark.parametrize(
    ("kind", "protocol", "words"),
    [
        ("AWS::Lambda::Function", "lambda", "has no permission for sns.amazonaws.com to call it"),
        ("AWS::SQS::Queue", "sqs", "has no policy that lets sns.amazonaws.com sqs:SendMessage"),
    ],
)
def test_a_reader_that_refuses_the_topic_fails(judge, template, kind, protocol, words):
    _read_by(template, kind, protocol)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.found) == ("Reader", words)


@pytest.mark.parametrize("name", [{"Ref": "Reader"}, {"Fn::GetAtt": ["Reader", "Arn"]}], ids=str)
def test_a_function_that_the_topic_may_call_complies(judge, template, name):
    _read_by(template, "AWS::Lambda::Function", "lambda")
    template["Resources"]["Permission"] = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {"FunctionName": name, "Principal": "sns.amazonaws.com", "SourceArn": {"Ref": "Topic"}},
    }
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_permission_for_what_deployment_tells_is_undetermined(judge, template):
    _read_by(template, "AWS::Lambda::Function", "lambda")
    template["Resources"]["Permission"] = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {"FunctionName": {"Fn::ImportValue": "name"}, "Principal": "sns.amazonaws.com"},
    }
    assert judge(ID, template).failures == ()
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ({"Ref": "Topic"}, "pass"),
        ("arn:aws:sns:us-west-2:111122223333:others", "fail"),
        ({"Fn::Sub": "arn:${AWS::Partition}:sns:${AWS::Region}:${AWS::AccountId}:pager"}, "pass"),
        ({"Ref": "Sender"}, "undetermined"),
    ],
    ids=["topic", "others", "text", "parameter"],
)
def test_a_queue_is_judged_by_its_policy(judge, template, source, outcome):
    template["Parameters"] = {"Sender": {"Type": "String"}}
    template["Resources"]["Topic"]["Properties"]["TopicName"] = "pager"
    _read_by(template, "AWS::SQS::Queue", "sqs")
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "sns.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": "*",
        "Condition": {"ArnEquals": {"aws:SourceArn": source}},
    }
    template["Resources"]["QueuePolicy"] = {
        "Type": "AWS::SQS::QueuePolicy",
        "Properties": {"Queues": [{"Ref": "Reader"}], "PolicyDocument": {"Statement": [statement]}},
    }
    assert judge(ID, template).outcome(ID) == outcome
