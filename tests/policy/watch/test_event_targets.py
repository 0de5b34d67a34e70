from __future__ import annotations

import json

import pytest

ID = "EventTargets"


def _rule(template):
    return template["Resources"]["HealthRule"]["Properties"]


@pytest.mark.parametrize("change", [{}, {"State": "ENABLED"}], ids=str)
def test_a_rule_that_leads_somewhere_complies(judge, template, change):
    _rule(template).update(change)
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"State": "DISABLED"}, ("State",), "is DISABLED, so nobody hears"),
        ({"Targets": []}, ("Targets",), "names no target"),
        ({"Targets": None}, ("Targets",), "names no target"),
    ],
    ids=str,
)
def test_a_rule_that_leads_nowhere_fails(judge, template, change, path, words):
    _rule(template).update(change)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("HealthRule", path, "warning")
    assert words in finding.message


@pytest.mark.parametrize(
    "change",
    [
        {"State": "DISABLED", "EventPattern": {"detail-type": ["EC2 Instance State-change Notification"]}},
        {"State": "DISABLED", "EventPattern": None, "ScheduleExpression": "rate(1 day)"},
    ],
    ids=str,
)
def test_other_rules_are_their_owners_matter(judge, template, change):
    _rule(template).update(change)
    assert judge(ID, template).findings == ()


def test_what_deployment_alone_can_tell(judge, template):
    _rule(template)["State"] = {"Fn::ImportValue": "state"}
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_without_a_cluster_nothing_is_judged(judge, template):
    del template["Resources"]["Cluster"]
    _rule(template)["State"] = "DISABLED"
    assert judge(ID, template).findings == ()


STATES = {"source": ["aws.sagemaker"], "detail-type": ["SageMaker HyperPod Cluster State Change"]}


def test_a_pattern_written_as_text_is_read(judge, template):
    _rule(template).update(EventPattern=json.dumps(STATES), Targets=[])
    (finding,) = judge(ID, template).failures
    assert finding.found.startswith("names no target")


def test_a_topic_that_carries_nothing_fails(judge, template, obstacle):
    change, words = obstacle
    _rule(template)["EventPattern"] = STATES
    change(template["Resources"])
    (finding,) = judge(ID, template).failures
    assert words in finding.message


def test_other_ways_of_the_same_comply(judge, template, benign):
    _rule(template)["EventPattern"] = STATES
    benign(template["Resources"])
    assert judge(ID, template).outcome(ID) == "pass"


def test_what_topics_leave_open_is_undetermined(judge, template, unclear):
    _rule(template)["EventPattern"] = STATES
    unclear(template["Resources"])
    assert judge(ID, template).failures == ()
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_second_target_that_is_reached_is_enough(judge, template):
    _rule(template)["EventPattern"] = STATES
    del template["Resources"]["Subscription"]
    _rule(template)["Targets"].append({"Id": "pager", "Arn": {"Fn::ImportValue": "pager"}})
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_function_that_refuses_them_fails(judge, template):
    template["Resources"]["Hook"] = {"Type": "AWS::Lambda::Function", "Properties": {}}
    _rule(template).update(
        EventPattern=STATES, Targets=[{"Id": "hook", "Arn": {"Fn::GetAtt": ["Hook", "Arn"]}}]
    )
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.found) == (
        "Hook",
        "has no permission for events.amazonaws.com to call it",
    )


def test_health_events_are_the_matter_of_another_rule(judge, template):
    del template["Resources"]["Subscription"]
    assert judge(ID, template).outcome(ID) == "pass"


def test_what_health_events_say_is_not_said_twice(judge, template):
    resources = template["Resources"]
    resources["StateRule"] = {
        "Type": "AWS::Events::Rule",
        "Properties": {**_rule(template), "EventPattern": STATES},
    }
    del resources["Subscription"]
    assert judge("HealthEvents", template).failures[0].found == "has no subscription, so nobody reads it"
    assert judge(ID, template).findings == ()
