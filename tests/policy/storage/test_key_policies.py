from __future__ import annotations

import pytest

ID = "KeyPolicies"
OWN = "111122223333"
OTHER = "444455556666"


def _policy(template, *statements):
    template["Resources"]["Key"]["Properties"]["KeyPolicy"] = {"Statement": list(statements)}


def _allow(principal, **more):
    return {"Effect": "Allow", "Principal": principal, "Action": "kms:*", "Resource": "*", **more}


ROOT = _allow({"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}})


def test_the_default_policy_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("statement", "outcome"),
    [
        (ROOT, "pass"),
        (_allow("*"), "fail"),
        (_allow({"AWS": "*"}), "fail"),
        (_allow({"AWS": "*"}, Condition={"StringEquals": {"kms:CallerAccount": OWN}}), "pass"),
        (_allow({"AWS": "*"}, Condition={"StringNotEquals": {"kms:CallerAccount": OTHER}}), "fail"),
        (_allow({"AWS": "*"}, Condition={"StringEqualsIfExists": {"aws:PrincipalOrgID": "o-1"}}), "fail"),
        (_allow({"AWS": "*"}, Condition={"StringLike": {"aws:PrincipalArn": "*"}}), "fail"),
        (_allow({"AWS": "*"}, Condition={"StringLike": {"kms:ViaService": "s3.*"}}), "fail"),
        (_allow({"AWS": f"arn:aws:iam::{OTHER}:root"}), "fail"),
        (_allow({"AWS": f"arn:aws:iam::{OWN}:role/x"}), "pass"),
        (_allow({"AWS": {"Fn::Sub": "arn:aws:iam::${Partner}:root"}}), "undetermined"),
        (_allow({"AWS": {"Fn::GetAtt": "NodeRole.Arn"}}), "pass"),
        (_allow({"Service": "logs.us-west-2.amazonaws.com"}), "fail"),
        ({**_allow("x"), "NotPrincipal": {"AWS": OWN}}, "fail"),
        ({**_allow("*"), "Effect": "Deny"}, "pass"),
        ({"Ref": "Partner"}, "undetermined"),
    ],
    ids=str,
)
def test_whom_a_key_admits(judge, template, statement, outcome):
    template["Parameters"] = {"Partner": {"Type": "String"}}
    if "NotPrincipal" in statement:
        del statement["Principal"]
    _policy(template, ROOT, statement)
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


def test_the_finding_points_at_the_statement(judge, template):
    _policy(template, ROOT, _allow("*"))
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("Key", ("KeyPolicy", "Statement", 1))
    assert "with the key of lifecycle script bucket Scripts to everybody" in finding.message


def test_other_keys_of_the_stack_count(judge, template):
    template["Resources"]["LogKey"] = {
        "Type": "AWS::KMS::Key",
        "Properties": {"KeyPolicy": {"Statement": [_allow("*")]}},
    }
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "LogKey"
    assert "with the key of the stack to everybody" in finding.message


@pytest.mark.parametrize("user", ["FileSystem", "Checkpoints"])
def test_the_finding_says_what_the_key_is_for(judge, template, user):
    template["Resources"]["OtherKey"] = {
        "Type": "AWS::KMS::Key",
        "Properties": {"KeyPolicy": {"Statement": [_allow("*")]}},
    }
    template["Resources"]["OtherAlias"] = {
        "Type": "AWS::KMS::Alias",
        "Properties": {"AliasName": "alias/x", "TargetKeyId": {"Ref": "OtherKey"}},
    }
    properties = template["Resources"][user]["Properties"]
    if user == "FileSystem":
        properties["KmsKeyId"] = {"Fn::GetAtt": "OtherKey.Arn"}
    else:
        default = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"][0]
        default["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] = {"Ref": "OtherAlias"}
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "OtherKey"
    assert f"bucket {user} to" in finding.message or f"file system {user} to" in finding.message


def test_keys_without_cluster_are_left_alone(judge, template):
    _policy(template, _allow("*"))
    del template["Resources"]["Cluster"]
    assert judge(ID, template).verdicts == ()


SERVICE = {"Service": "logs.us-west-2.amazonaws.com"}
USE = {"Action": ["kms:Decrypt", "kms:GenerateDataKey*"]}
OF_LOGS = "kms:EncryptionContext:aws:logs:arn"


@pytest.mark.parametrize(
    ("condition", "outcome", "words"),
    [
        ({}, "fail", "on whosever behalf it comes"),
        ({"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}, "pass", ""),
        ({"StringEquals": {"aws:SourceAccount": OWN}}, "pass", ""),
        ({"StringEquals": {"aws:SourceAccount": [OWN, OTHER]}}, "fail", "on whosever behalf it comes"),
        ({"StringLike": {"aws:SourceAccount": "*"}}, "fail", "on whosever behalf it comes"),
        ({"StringNotEquals": {"kms:CallerAccount": OWN}}, "fail", "on whosever behalf it comes"),
        ({"StringEqualsIfExists": {"kms:CallerAccount": OWN}}, "fail", "on whosever behalf it comes"),
        ({"ForAllValues:StringEquals": {"kms:CallerAccount": OWN}}, "fail", "on whosever behalf it comes"),
        ({"Null": {"kms:CallerAccount": "false"}}, "fail", "on whosever behalf it comes"),
        ({"StringEquals": {"aws:SourceAccount": {"Ref": "Partner"}}}, "undetermined", "may be others"),
        ({"StringEquals": {"aws:SourceOrgID": "o-0123456789"}}, "pass", ""),
        ({"StringLike": {"aws:SourceOrgID": "o-*"}}, "fail", "on whosever behalf it comes"),
        ({"ArnLike": {OF_LOGS: {"Fn::Sub": "arn:aws:logs:*:${AWS::AccountId}:log-group:*"}}}, "pass", ""),
        ({"ArnLike": {OF_LOGS: f"arn:aws:logs:us-west-2:{OWN}:log-group:x"}}, "pass", ""),
        ({"ArnLike": {OF_LOGS: "arn:aws:logs:us-west-2:*:log-group:x"}}, "fail", "on whosever behalf"),
        ({"ArnLike": {OF_LOGS: f"arn:aws:logs:us-west-2:{OTHER}:*"}}, "fail", "on whosever behalf"),
        ({"ArnLike": {"aws:SourceArn": "*"}}, "fail", "on whosever behalf"),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:s3:::*"}}, "fail", "on whosever behalf"),
        ({"ArnLike": {"aws:SourceArn": {"Fn::GetAtt": "Scripts.Arn"}}}, "pass", ""),
        ({"ArnLike": {"aws:SourceArn": {"Fn::GetAtt": "Cluster.ClusterArn"}}}, "pass", ""),
        ({"ArnLike": {"aws:SourceArn": {"Ref": "Partner"}}}, "undetermined", "may be others"),
        ({"StringLike": {"kms:ViaService": "s3.*"}}, "fail", "on whosever behalf"),
    ],
    ids=str,
)
def test_for_whom_a_service_may_use_a_key(judge, template, condition, outcome, words):
    template["Parameters"] = {"Partner": {"Type": "String"}}
    _policy(template, ROOT, _allow(SERVICE, **{**USE, "Condition": condition}))
    report = judge(ID, template, account=OWN)
    assert report.outcome(ID) == outcome
    assert words in report.text()


@pytest.mark.parametrize(
    "actions", [{"Action": "kms:*"}, {"Action": "*"}, {"NotAction": "kms:Sign"}], ids=str
)
def test_no_service_administers_a_key(judge, template, actions):
    statement = _allow(SERVICE, Condition={"StringEquals": {"aws:SourceAccount": OWN}})
    del statement["Action"]
    _policy(template, ROOT, {**statement, **actions})
    (finding,) = judge(ID, template, account=OWN).failures
    assert "its deletion and policy included" in finding.message
    assert finding.severity == "warning"
