from __future__ import annotations

import json

import pytest

ID = "WorkspaceAccess"
OWN = "111122223333"
OTHER = "444455556666"
READ = ["aps:QueryMetrics", "aps:GetSeries"]


def _allow(principal, condition=None, **more):
    statement = {"Effect": "Allow", "Principal": principal, "Action": READ, "Resource": "*", **more}
    return statement if condition is None else {**statement, "Condition": condition}


def _say(template, *statements):
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    template["Resources"]["FiguresPolicy"]["Properties"]["PolicyDocument"] = json.dumps(document)


def test_a_role_of_the_account_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    _say(template, _allow({"AWS": f"arn:aws:iam::{OWN}:role/reader"}))
    assert judge(ID, template, account=OWN).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("statement", "words", "severity"),
    [
        (_allow("*"), "lets everybody read the figures", "error"),
        (_allow({"AWS": "*"}, Action="aps:RemoteWrite"), "lets everybody write the figures", "error"),
        (_allow({"AWS": OTHER}), f"lets AWS {OTHER} read the figures, of another account", "warning"),
        (
            _allow({"AWS": f"arn:aws:iam::{OTHER}:root"}, Action=[*READ, "aps:RemoteWrite"]),
            f"lets AWS arn:aws:iam::{OTHER}:root write and read the figures, of another account",
            "error",
        ),
        (_allow({"AWS": f"arn:aws:iam::{OTHER}:root"}, Action="APS:*"), "write and read", "error"),
        (_allow({"Service": "grafana.amazonaws.com"}), "lets Service grafana.amazonaws.com read", "warning"),
        (
            _allow("*", {"StringEqualsIfExists": {"aws:PrincipalAccount": OWN}}),
            "lets everybody read",
            "error",
        ),
        (_allow("*", {"StringEquals": {"aws:PrincipalAccount": OTHER}}), "lets everybody read", "error"),
        (_allow("*", {"StringNotEquals": {"aws:PrincipalOrgID": "o-1"}}), "lets everybody read", "error"),
        (_allow("*", {"StringLike": {"aws:PrincipalOrgID": "*"}}), "lets everybody read", "error"),
        (_allow("*", {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}), "lets everybody read", "error"),
    ],
    ids=str,
)
def test_strangers_fail(judge, template, statement, words, severity):
    _say(template, statement)
    (finding,) = judge(ID, template, account=OWN).failures
    assert (finding.logical_id, finding.severity) == ("FiguresPolicy", severity)
    assert words in finding.message


def test_everybody_but_some_fails(judge, template):
    statement = _allow("-", NotPrincipal={"AWS": f"arn:aws:iam::{OTHER}:root"})
    del statement["Principal"]
    _say(template, statement)
    (finding,) = judge(ID, template).failures
    assert "lets everybody read the figures" in finding.message


def test_every_action_but_some_fails(judge, template):
    statement = _allow("*", NotAction="aps:GetLabels")
    del statement["Action"]
    _say(template, statement)
    (finding,) = judge(ID, template).failures
    assert "lets everybody write and read the figures" in finding.message


@pytest.mark.parametrize(
    "statement",
    [
        _allow("*", {"StringEquals": {"aws:PrincipalOrgID": "o-abcdefgh12"}}),
        _allow("*", {"StringEquals": {"aws:PrincipalAccount": OWN}}),
        _allow("*", {"ArnLike": {"aws:PrincipalArn": f"arn:aws:iam::{OWN}:role/*"}}),
        _allow({"Service": "grafana.amazonaws.com"}, {"StringEquals": {"aws:SourceAccount": OWN}}),
        {"Effect": "Deny", "Principal": "*", "Action": "aps:RemoteWrite", "Resource": "*"},
    ],
    ids=["organization", "account", "roles", "service", "denial"],
)
def test_what_is_held_to_the_account_complies(judge, template, statement):
    _say(template, statement)
    assert judge(ID, template, account=OWN).outcome(ID) == "pass"


def _join(*parts):
    return {"Fn::Join": ["", list(parts)]}


@pytest.mark.parametrize(
    ("principal", "outcome"),
    [
        ({"Fn::GetAtt": ["NodeRole", "Arn"]}, "pass"),
        ({"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}, "pass"),
        ({"Fn::ImportValue": "reader"}, "pass"),
        ({"Ref": "Reader"}, "undetermined"),
    ],
    ids=str,
)
def test_principals_that_functions_make(judge, template, principal, outcome):
    template["Parameters"] = {"Reader": {"Type": "String"}}
    document = json.dumps({"Statement": [_allow({"AWS": "READER"}, Action="aps:RemoteWrite")]})
    before, after = document.split("READER")
    template["Resources"]["FiguresPolicy"]["Properties"]["PolicyDocument"] = _join(before, principal, after)
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == outcome


def test_another_account_may_be_the_own_where_that_is_unknown(judge, template):
    _say(template, _allow({"AWS": OTHER}, Action="aps:RemoteWrite"))
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


@pytest.mark.parametrize("document", ["no JSON", {"Ref": "Document"}])
def test_a_document_that_cannot_be_read(judge, template, document):
    template["Parameters"] = {"Document": {"Type": "String"}}
    template["Resources"]["FiguresPolicy"]["Properties"]["PolicyDocument"] = document
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_without_a_cluster_nothing_is_judged(judge, template):
    del template["Resources"]["Cluster"]
    _say(template, _allow("*"))
    assert judge(ID, template).findings == ()
