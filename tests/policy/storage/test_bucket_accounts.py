from __future__ import annotations

import pytest

ID = "BucketAccounts"
OWN = "111122223333"
OTHER = "444455556666"


def _statements(template):
    return template["Resources"]["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"]


def _allow(template, principal, **more):
    _statements(template).append(
        {
            "Effect": "Allow",
            "Principal": principal,
            "Action": "s3:PutObject",
            "Resource": {"Fn::Sub": "${Checkpoints.Arn}/*"},
            **more,
        }
    )


def _exempt(template, value, operator="ArnNotEquals", key="aws:PrincipalArn"):
    _statements(template)[2]["Condition"] = {operator: {key: [{"Fn::GetAtt": "NodeRole.Arn"}, value]}}


def test_principals_of_the_template_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


PRINCIPALS = [
    (f"arn:aws:iam::{OWN}:role/writer", "pass"),
    (f"arn:aws:iam::{OTHER}:role/writer", "fail"),
    ({"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/writer"}, "pass"),
    ({"Fn::Sub": "arn:aws:iam::${Partner}:role/writer"}, "undetermined"),
    (
        {"Fn::Join": ["", ["arn:aws:iam::", {"Fn::FindInMap": ["Accounts", "all", "partner"]}, ":role/w"]]},
        "fail",
    ),
    ({"Fn::ImportValue": "writer-arn"}, "pass"),
    ({"Ref": "Partner"}, "undetermined"),
]


def _judged(judge, template, **more):
    template["Parameters"] = {"Partner": {"Type": "String"}}
    template["Mappings"] = {"Accounts": {"all": {"partner": OTHER}}}
    return judge(ID, template, **more)


@pytest.mark.parametrize(
    ("principal", "outcome"),
    [*PRINCIPALS, (OTHER, "fail"), (OWN, "pass"), (f"arn:aws:iam::{OTHER}:root", "fail")],
    ids=str,
)
def test_whom_the_policy_allows(judge, template, principal, outcome):
    _allow(template, {"AWS": principal})
    assert _judged(judge, template, account=OWN).outcome(ID) == outcome


@pytest.mark.parametrize(("value", "outcome"), [*PRINCIPALS, ("arn:aws:iam::*:role/writer", "fail")], ids=str)
def test_whom_a_denial_leaves_out(judge, template, value, outcome):
    _exempt(template, value)
    assert _judged(judge, template, account=OWN).outcome(ID) == outcome


@pytest.mark.parametrize(("value", "outcome"), [(OTHER, "fail"), (OWN, "pass")])
def test_an_exempt_account(judge, template, value, outcome):
    _statements(template)[2]["Condition"] = {"StringNotEquals": {"aws:PrincipalAccount": value}}
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


def test_not_principal_leaves_out_as_well(judge, template):
    del _statements(template)[2]["Principal"], _statements(template)[2]["Condition"]
    _statements(template)[2]["NotPrincipal"] = {"AWS": [f"arn:aws:iam::{OTHER}:role/writer"]}
    (finding,) = judge(ID, template, account=OWN).failures
    assert (finding.logical_id, finding.path) == ("CheckpointsPolicy", ("PolicyDocument", "Statement", 2))
    assert "exempts" in finding.message
    assert "of another account" in finding.message


def test_an_account_cannot_be_compared_with_one_that_is_not_known(judge, template):
    _allow(template, {"AWS": f"arn:aws:iam::{OTHER}:role/writer"})
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("principal", "more", "outcome"),
    [
        ({"Service": "logging.s3.amazonaws.com"}, {}, "fail"),
        (
            {"Service": "logging.s3.amazonaws.com"},
            {"Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}},
            "pass",
        ),
        ({"CanonicalUser": "abc"}, {}, "fail"),
        ({"Federated": "cognito-identity.amazonaws.com"}, {}, "fail"),
    ],
    ids=str,
)
def test_other_kinds_of_principals(judge, template, principal, more, outcome):
    _allow(template, principal, **more)
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


def test_a_service_on_anybodys_behalf_is_a_warning(judge, template):
    _allow(template, {"Service": "logging.s3.amazonaws.com"})
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "on whosever behalf it comes" in finding.message


def test_buckets_of_others_are_left_alone(judge, template):
    template["Resources"]["Web"] = {"Type": "AWS::S3::Bucket"}
    template["Resources"]["WebPolicy"] = {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {
            "Bucket": {"Ref": "Web"},
            "PolicyDocument": {
                "Statement": {
                    "Effect": "Allow",
                    "Principal": {"AWS": f"arn:aws:iam::{OTHER}:root"},
                    "Action": "s3:GetObject",
                    "Resource": "*",
                }
            },
        },
    }
    assert judge(ID, template, account=OWN).findings == ()


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ({"StringEquals": {"aws:SourceAccount": OWN}}, "pass"),
        ({"StringEquals": {"aws:SourceAccount": OTHER}}, "fail"),
        ({"StringEqualsIfExists": {"aws:SourceAccount": OWN}}, "fail"),
        ({"StringLike": {"aws:SourceAccount": "*"}}, "fail"),
        ({"ArnLike": {"aws:SourceArn": {"Fn::GetAtt": "Scripts.Arn"}}}, "pass"),
        ({"StringEquals": {"aws:SourceAccount": {"Ref": "Partner"}}}, "undetermined"),
    ],
    ids=str,
)
def test_on_whose_behalf_a_service_comes(judge, template, condition, outcome):
    _allow(template, {"Service": "logging.s3.amazonaws.com"}, Condition=condition)
    assert _judged(judge, template, account=OWN).outcome(ID) == outcome


def test_the_bucket_of_the_logs_is_judged_as_well(judge, template):
    statements = template["Resources"]["LogsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    reader = {"AWS": f"arn:aws:iam::{OTHER}:role/reader"}
    statements.append(
        {
            "Effect": "Allow",
            "Principal": reader,
            "Action": "s3:GetObject",
            "Resource": {"Fn::Sub": "${Logs.Arn}/*"},
        }
    )
    (finding,) = judge(ID, template, account=OWN).failures
    assert "access log bucket Logs, of another account" in finding.message


@pytest.mark.parametrize("operator", ["ArnNotEquals", "ArnNotLike", "StringNotEquals"])
def test_the_account_of_whoever_calls_is_any_account(judge, template, operator):
    _exempt(template, "arn:aws:iam::${aws:PrincipalAccount}:role/writer", operator)
    (finding,) = judge(ID, template).failures
    assert "of another account" in finding.message
