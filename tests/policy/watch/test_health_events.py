from __future__ import annotations

import pytest

ID = "HealthEvents"


def _rule(template):
    return template["Resources"]["HealthRule"]["Properties"]


def test_events_that_reach_somebody_comply(judge, template, eks_template):
    for found in (template, eks_template):
        assert judge(ID, found).outcome(ID) == "pass"


def test_a_cluster_whose_events_nobody_takes_fails(judge, template):
    del template["Resources"]["HealthRule"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Cluster", "warning")
    assert "no event rule of this template takes the health events" in finding.message


@pytest.mark.parametrize(
    "change",
    [
        {"State": "DISABLED"},
        {"EventBusName": "training"},
        {"EventPattern": {"source": ["aws.ec2"]}},
        {
            "EventPattern": {
                "source": ["aws.sagemaker"],
                "detail-type": ["SageMaker Training Job State Change"],
            }
        },
        {"EventPattern": {"resources": ["arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"]}},
        {"EventPattern": {"source": [{"prefix": "aws.ec2"}]}},
        {"EventPattern": None},
    ],
    ids=str,
)
def test_a_rule_for_other_events_does_not_count(judge, template, change):
    _rule(template).update(change)
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Cluster"


@pytest.mark.parametrize(
    "change",
    [
        {"EventPattern": {"source": ["aws.sagemaker"]}},
        {"EventPattern": {"source": [{"prefix": "aws.sage"}]}},
        {"EventPattern": {"detail-type": [{"prefix": "SageMaker HyperPod"}]}},
        {"EventPattern": '{"source": ["aws.sagemaker"]}'},
        {"EventBusName": "default", "State": "ENABLED"},
        {"EventBusName": "arn:aws:events:us-west-2:111122223333:event-bus/default"},
        {"EventPattern": {"resources": [{"Ref": "Cluster"}]}},
        {"EventPattern": {"resources": [{"Fn::GetAtt": ["Cluster", "ClusterArn"]}]}},
    ],
    ids=str,
)
def test_a_wider_rule_complies(judge, template, change):
    _rule(template).update(change)
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_topic_that_carries_nothing_fails(judge, template, obstacle):
    change, words = obstacle
    change(template["Resources"])
    (finding,) = judge(ID, template).failures
    assert words in finding.message
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_topic_with_its_default_policy_fails(judge, template):
    del template["Resources"]["TopicPolicy"]
    (finding,) = judge(ID, template).failures
    assert "has no topic policy, so events.amazonaws.com may not publish" in finding.message


def test_a_policy_of_another_topic_does_not_count(judge, template):
    template["Resources"]["Other"] = {"Type": "AWS::SNS::Topic", "Properties": {}}
    template["Resources"]["TopicPolicy"]["Properties"]["Topics"] = [{"Ref": "Other"}]
    (finding,) = judge(ID, template).failures
    assert "has no topic policy" in finding.message


@pytest.mark.parametrize(("rule", "outcome"), [("HealthRule", "undetermined"), ("Other", "fail")])
def test_a_policy_for_one_rule_admits_no_other(judge, template, rule, outcome):
    template["Resources"]["Other"] = {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "x"}}
    statement, _ = template["Resources"]["TopicPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statement["Condition"] = {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": [rule, "Arn"]}}}
    assert judge(ID, template).outcome(ID) == outcome


def test_a_condition_on_the_source_may_keep_eventbridge_out(judge, template, for_the_account):
    """SNS developer guide, sns-key-management: not supported for EventBridge."""
    for_the_account(template["Resources"])
    report = judge(ID, template)
    assert report.failures == ()
    assert "on a condition that AWS says it never meets" in report.findings[0].message


def test_other_ways_of_the_same_comply(judge, template, benign):
    benign(template["Resources"])
    assert judge(ID, template).outcome(ID) == "pass"


def test_what_deployment_alone_can_tell_is_undetermined(judge, template, unclear):
    unclear(template["Resources"])
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("arn:aws:sns:us-west-2:111122223333:others", "sns:us-west-2:111122223333:others, which is not in"),
        ({"Fn::ImportValue": "topic"}, "import topic, which is not in this template"),
        ({"Fn::GetAtt": ["Function", "Arn"]}, "Function (AWS::Lambda::Function)"),
    ],
    ids=["literal", "import", "function"],
)
def test_another_target_is_undetermined(judge, template, target, words):
    template["Resources"]["Function"] = {"Type": "AWS::Lambda::Function", "Properties": {}}
    template["Resources"]["Permission"] = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {"FunctionName": {"Ref": "Function"}, "Principal": "events.amazonaws.com"},
    }
    _rule(template)["Targets"] = [{"Id": "a", "Arn": target}]
    (finding,) = judge(ID, template).findings
    assert finding.outcome == "undetermined"
    assert words in finding.message


def test_a_rule_without_targets_fails(judge, template):
    del _rule(template)["Targets"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.found) == ("HealthRule", "names no target")


def test_one_target_that_reaches_somebody_is_enough(judge, template):
    _rule(template)["Targets"].insert(0, {"Id": "other", "Arn": {"Fn::ImportValue": "topic"}})
    assert judge(ID, template).findings == ()


def test_a_topic_by_its_name_counts(judge, template):
    template["Resources"]["Topic"]["Properties"]["TopicName"] = "health"
    arn = {"Fn::Sub": "arn:${AWS::Partition}:sns:${AWS::Region}:${AWS::AccountId}:health"}
    _rule(template)["Targets"][0]["Arn"] = arn
    assert judge(ID, template).outcome(ID) == "pass"
    del template["Resources"]["Subscription"]
    assert judge(ID, template).outcome(ID) == "fail"


@pytest.mark.parametrize("member", ["EventPattern", "State", "EventBusName"])
def test_an_unresolved_rule_is_undetermined(judge, template, member):
    template["Parameters"] = {"Value": {"Type": "String"}}
    _rule(template)[member] = {"Ref": "Value"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_rule_under_a_condition_says_when(judge, template):
    template["Parameters"] = {"Watch": {"Type": "String", "Default": "yes", "AllowedValues": ["yes", "no"]}}
    template["Conditions"] = {"Watched": {"Fn::Equals": [{"Ref": "Watch"}, "yes"]}}
    template["Resources"]["HealthRule"]["Condition"] = "Watched"
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameter Watch is no"


def test_both_branches_of_a_target_are_judged(judge, template):
    template["Conditions"] = {"Here": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    template["Resources"]["Bare"] = {"Type": "AWS::SNS::Topic", "Properties": {}}
    _rule(template)["Targets"][0]["Arn"] = {"Fn::If": ["Here", {"Ref": "Bare"}, {"Ref": "Topic"}]}
    findings = judge(ID, template).failures
    assert {finding.logical_id for finding in findings} == {"Bare"}
    assert {finding.when for finding in findings} == {"condition Here is true"}


def test_a_notification_rule_is_undetermined(judge, template):
    template["Resources"]["HealthRule"]["Type"] = "AWS::Notifications::EventRule"
    (finding,) = judge(ID, template).findings
    assert (finding.outcome, finding.logical_id) == ("undetermined", "Cluster")


def test_each_cluster_counts(judge, template):
    _rule(template)["EventPattern"] = {"resources": [{"Ref": "Cluster"}]}
    template["Resources"]["Second"] = {
        "Type": "AWS::SageMaker::Cluster",
        "Properties": {"ClusterName": "second"},
    }
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Second"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("AWS::Lambda::Function", "has no permission for events.amazonaws.com to call it"),
        ("AWS::SQS::Queue", "has no policy that lets events.amazonaws.com sqs:SendMessage"),
    ],
)
def test_a_target_that_refuses_them_fails(judge, template, kind, words):
    template["Resources"]["Inbox"] = {"Type": kind, "Properties": {}}
    _rule(template)["Targets"] = [{"Id": "a", "Arn": {"Fn::GetAtt": ["Inbox", "Arn"]}}]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Inbox", "warning")
    assert words in finding.message


@pytest.mark.parametrize(
    "detail",
    [
        {"HealthSummary": {"HealthStatus": ["UNHEALTHY"]}},
        {"HealthSummary": {"HealthStatus": [{"anything-but": ["Unhealthy", "Healthy"]}]}},
        {"HealthSummary": {"HealthStatus": [{"prefix": "un"}]}},
        {"HealthStatus": ["Unhealthy"]},
        {"HealthSummary": ["Unhealthy"]},
        {"ClusterName": ["another"]},
    ],
    ids=str,
)
def test_details_that_no_event_has_fail(judge, template, detail):
    template["Resources"]["Cluster"]["Properties"]["ClusterName"] = "training"
    _rule(template)["EventPattern"]["detail"] = detail
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Cluster"
    assert "no event on a failed node of it has the details that HealthRule asks for" in finding.message


@pytest.mark.parametrize(
    "detail",
    [
        {"HealthSummary": {"HealthStatus": ["Unhealthy"]}},
        {"HealthSummary": {"HealthStatus": [{"anything-but": "Healthy"}], "RepairAction": ["replace"]}},
        {"HealthSummary": {"HealthStatus": [{"equals-ignore-case": "unhealthy"}]}},
        {"ClusterName": ["training"], "InstanceId": [{"exists": True}]},
        {"ClusterArn": [{"Ref": "Cluster"}]},
    ],
    ids=str,
)
def test_details_of_such_events_comply(judge, template, detail):
    template["Resources"]["Cluster"]["Properties"]["ClusterName"] = "training"
    _rule(template)["EventPattern"]["detail"] = detail
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "detail",
    [
        {"InstanceGroupName": ["gpu"]},
        {"HealthSummary": {"HealthStatus": [{"wildcard": "Un*"}]}},
        {"ClusterName": [{"Fn::ImportValue": "name"}]},
        {"$or": [{"ClusterName": ["another"]}, {"ClusterName": ["training"]}]},
    ],
    ids=str,
)
def test_details_that_nobody_can_tell_are_undetermined(judge, template, detail):
    template["Resources"]["Cluster"]["Properties"]["ClusterName"] = "training"
    _rule(template)["EventPattern"]["detail"] = detail
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"
