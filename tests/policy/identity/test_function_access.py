from __future__ import annotations

import pytest

ID = "FunctionAccess"
OWN = "111122223333"
OTHER = "444455556666"


def _permission(template, principal, **more):
    template["Parameters"] = {"Partner": {"Type": "String"}}
    template["Resources"]["Permission"] = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "FunctionName": {"Ref": "BackupFunction"},
            "Action": "lambda:InvokeFunction",
            "Principal": principal,
            **more,
        },
    }


def _url(template, kind):
    template["Parameters"] = {"Kind": {"Type": "String"}}
    template["Resources"]["Url"] = {
        "Type": "AWS::Lambda::Url",
        "Properties": {"TargetFunctionArn": {"Ref": "BackupFunction"}, "AuthType": kind},
    }


def test_a_function_that_nobody_else_calls_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("principal", "more", "outcome"),
    [
        ("*", {}, "fail"),
        ("*", {"PrincipalOrgID": "o-0123456789"}, "pass"),
        (OTHER, {}, "fail"),
        (f"arn:aws:iam::{OTHER}:root", {}, "fail"),
        (OWN, {}, "pass"),
        ({"Fn::GetAtt": "NodeRole.Arn"}, {}, "pass"),
        ({"Ref": "AWS::AccountId"}, {}, "pass"),
        ({"Ref": "Partner"}, {}, "undetermined"),
        ("events.amazonaws.com", {}, "fail"),
        ("events.amazonaws.com", {"SourceArn": {"Fn::GetAtt": "Rule.Arn"}}, "pass"),
        ("alexa-connectedhome.amazon.com", {"EventSourceToken": "skill"}, "pass"),
        ("s3.amazonaws.com", {"SourceAccount": OTHER}, "fail"),
        ("*", {"SourceAccount": OTHER}, "fail"),
        ("*", {"SourceAccount": {"Ref": "Partner"}}, "pass"),
        ("*", {"SourceAccount": {"Ref": "AWS::AccountId"}}, "pass"),
        ("s3.amazonaws.com", {"SourceAccount": OWN}, "pass"),
    ],
    ids=str,
)
def test_who_may_call(judge, template, principal, more, outcome):
    _permission(template, principal, **more)
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


def test_an_open_permission_is_told(judge, template):
    _permission(template, "*")
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("Permission", ("Principal",), "warning")
    assert "lets everybody call it" in finding.message


@pytest.mark.parametrize(
    ("kind", "outcome"), [("NONE", "fail"), ("AWS_IAM", "pass"), ({"Ref": "Kind"}, "undetermined")], ids=str
)
def test_urls(judge, template, kind, outcome):
    _url(template, kind)
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert outcome != "fail" or "anybody on the internet may call the function" in report.text()


def test_a_template_without_cluster_is_left_alone(judge, template):
    _url(template, "NONE")
    del template["Resources"]["Cluster"]
    assert judge(ID, template).verdicts == ()


def test_a_service_that_comes_for_anybody_is_told(judge, template):
    _permission(template, "s3.amazonaws.com")
    (finding,) = judge(ID, template, account=OWN).failures
    assert finding.path == ("Principal",)
    assert "lets s3.amazonaws.com, on whosever behalf it comes, call it" in finding.message


def test_a_service_that_comes_for_another_account_is_told(judge, template):
    _permission(template, "s3.amazonaws.com", SourceAccount=OTHER)
    (finding,) = judge(ID, template, account=OWN).failures
    assert finding.path == ("SourceAccount",)
    assert f"for account {OTHER}, which is another" in finding.message
