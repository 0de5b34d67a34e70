from __future__ import annotations

import pytest

ID = "LogRetention"


def _group(template):
    return template["Resources"]["FlowLogGroup"]["Properties"]


@pytest.mark.parametrize("days", [30, 365, "365", 3653])
def test_logs_that_are_kept_for_a_while_comply(judge, template, days):
    _group(template)["RetentionInDays"] = days
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("days", "words"),
    [(None, "is not set, so the log never expires"), (1, "is 1"), ("14", "is 14"), ("always", "is always")],
)
def test_logs_without_an_end_or_with_an_early_one_fail(judge, template, days, words):
    _group(template)["RetentionInDays"] = days
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("FlowLogGroup", "warning")
    assert f"{words}; expected: 30 days or more, with an end" in finding.message


def test_an_absent_value_fails(judge, template):
    del _group(template)["RetentionInDays"]
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_value_from_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Days": {"Type": "Number"}}
    _group(template)["RetentionInDays"] = {"Ref": "Days"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_each_allowed_value_of_a_parameter_counts(judge, template):
    template["Parameters"] = {"Days": {"Type": "Number", "Default": 90, "AllowedValues": [7, 90]}}
    _group(template)["RetentionInDays"] = {"Ref": "Days"}
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameter Days is 7"


def test_both_branches_are_judged(judge, template):
    template["Conditions"] = {"Kept": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _group(template)["RetentionInDays"] = {"Fn::If": ["Kept", 365, {"Ref": "AWS::NoValue"}]}
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameters and conditions have their defaults"


def test_a_template_without_cluster_has_no_verdicts(judge, template):
    del template["Resources"]["Cluster"]
    assert judge(ID, template).verdicts == ()


@pytest.fixture
def kept(template):
    """The nodes' own log group, by the custom resource of ClusterObservability."""
    retain = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    template["Resources"]["LogKey"] = {
        "Type": "AWS::KMS::Key",
        "Properties": {"EnableKeyRotation": True},
        **retain,
    }
    template["Resources"]["NodeLogs"] = {
        "Type": "Custom::NodeLogGroup",
        "Properties": {"RetentionInDays": 365, "KmsKeyArn": {"Fn::GetAtt": ["LogKey", "Arn"]}},
    }
    return template


def test_logs_of_nodes_that_are_kept_comply(judge, kept):
    assert judge(ID, kept).outcome(ID) == "pass"


def test_logs_of_nodes_expire_too(judge, kept):
    kept["Resources"]["NodeLogs"]["Properties"]["RetentionInDays"] = 7
    (finding,) = judge(ID, kept).failures
    assert finding.logical_id == "NodeLogs"


@pytest.mark.parametrize("attribute", ["DeletionPolicy", "UpdateReplacePolicy"])
def test_the_key_of_logs_that_outlive_the_stack_does_so_too(judge, kept, attribute):
    del kept["Resources"]["LogKey"][attribute]
    (finding,) = judge(ID, kept).failures
    assert finding.logical_id == "LogKey"
    assert "the logs of NodeLogs cannot be read any more" in finding.message
