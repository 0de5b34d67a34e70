from __future__ import annotations

import pytest

ID = "WriterTrust"
OWN = "111122223333"
OTHER = "444455556666"


def _trust(template, *statements, role="UploadRole"):
    template["Resources"][role]["Properties"]["AssumeRolePolicyDocument"] = {"Statement": list(statements)}


def _allow(principal, action="sts:AssumeRole", **more):
    return {"Effect": "Allow", "Principal": principal, "Action": action, **more}


def test_the_upload_role_complies(judge, template):
    _trust(template, _allow({"Service": "lambda.amazonaws.com"}))
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


GITHUB = {"Federated": f"arn:aws:iam::{OWN}:oidc-provider/token.actions.githubusercontent.com"}
AUDIENCE = {"token.actions.githubusercontent.com:aud": "sts.amazonaws.com"}


def _token(operator, subject):
    return _allow(
        GITHUB,
        "sts:AssumeRoleWithWebIdentity",
        Condition={
            "StringEquals": AUDIENCE,
            operator: {"token.actions.githubusercontent.com:sub": subject},
        }
        if operator != "StringEquals"
        else {operator: {**AUDIENCE, "token.actions.githubusercontent.com:sub": subject}},
    )


@pytest.mark.parametrize(
    ("statement", "outcome"),
    [
        (_allow("*"), "fail"),
        (_allow({"AWS": "*"}), "fail"),
        (
            _allow({"AWS": "*"}, Condition={"ArnLike": {"aws:PrincipalArn": f"arn:aws:iam::{OWN}:role/ci"}}),
            "pass",
        ),
        (_allow({"AWS": "*"}, Condition={"StringEquals": {"sts:ExternalId": "x"}}), "fail"),
        ({"Effect": "Allow", "NotPrincipal": {"AWS": OTHER}, "Action": "sts:AssumeRole"}, "fail"),
        (_allow({"AWS": f"arn:aws:iam::{OTHER}:role/ci"}), "fail"),
        (_allow({"AWS": OTHER}), "fail"),
        (_allow({"AWS": f"arn:aws:iam::{OWN}:role/ci"}), "pass"),
        (_allow({"AWS": {"Fn::GetAtt": "NodeRole.Arn"}}), "pass"),
        (_allow({"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}), "fail"),
        (_allow({"AWS": {"Ref": "Who"}}), "undetermined"),
        (_allow({"AWS": {"Fn::FindInMap": ["Accounts", "all", "ci"]}}), "fail"),
        (_allow({"AWS": "*"}, "sts:TagSession"), "pass"),
        ({**_allow("*"), "Effect": "Deny"}, "pass"),
        (_allow(GITHUB, "sts:AssumeRoleWithWebIdentity"), "fail"),
        (_token("StringEquals", "repo:us/scripts:ref:refs/heads/main"), "pass"),
        (_token("StringLike", "repo:us/scripts:*"), "pass"),
        (_token("StringLike", "repo:*"), "fail"),
        (_token("StringLike", "*"), "fail"),
        (_token("StringNotLike", "repo:them/*"), "fail"),
        (_token("StringLikeIfExists", "repo:us/scripts:*"), "fail"),
        ({"Ref": "Who"}, "undetermined"),
    ],
    ids=str,
)
def test_whom_a_listed_writer_trusts(judge, template, statement, outcome):
    template["Parameters"] = {"Who": {"Type": "String"}}
    template["Mappings"] = {"Accounts": {"all": {"ci": OTHER}}}
    _trust(template, statement)
    assert judge(ID, template, account=OWN).outcome(ID) == outcome


def test_an_account_of_ones_own_is_a_warning(judge, template):
    _trust(template, _allow({"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}))
    (finding,) = judge(ID, template).failures
    assert (finding.severity, finding.logical_id) == ("warning", "UploadRole")
    assert finding.path == ("AssumeRolePolicyDocument", "Statement", 0)
    assert "whoever has sts:AssumeRole in the account" in finding.message


def test_administrators_of_the_bucket_count(judge, template):
    template["Resources"]["Administrator"] = {"Type": "AWS::IAM::Role", "Properties": {}}
    _trust(template, _allow("*"), role="Administrator")
    assert judge(ID, template).findings == ()
    statements = template["Resources"]["ScriptsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    statements[1]["Condition"]["ArnNotEquals"]["aws:PrincipalArn"].append({"Fn::GetAtt": "Administrator.Arn"})
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Administrator"
    assert "left out of the lock of lifecycle script bucket Scripts" in finding.message


def test_roles_of_nodes_and_pods_are_left_to_their_own_rules(judge, eks_template):
    for role in ("NodeRole", "PodRole"):
        _trust(eks_template, _allow({"Service": "pods.eks.amazonaws.com"}), _allow("*"), role=role)
    assert judge(ID, eks_template).findings == ()


def _leave_out(template, value, bucket="Checkpoints", number=2):
    statements = template["Resources"][f"{bucket}Policy"]["Properties"]["PolicyDocument"]["Statement"]
    condition = statements[number]["Condition"]
    (operator,) = condition
    if operator == "ArnNotEquals":
        condition[operator]["aws:PrincipalArn"].append(value)
    else:
        statements[number]["Condition"] = {"ArnNotEquals": {"aws:PrincipalArn": [value]}}


SOMEBODY = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/somebody"}
ROOT_USER = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}


@pytest.mark.parametrize("number", [2, 3])
def test_a_role_of_elsewhere_is_undetermined(judge, template, number):
    _leave_out(template, SOMEBODY, number=number)
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "who may take it is not in this template" in report.text()


def test_the_root_user_is_a_warning(judge, template):
    _leave_out(template, ROOT_USER, bucket="Scripts")
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert "the root user, out of the lock of lifecycle script bucket Scripts" in finding.message


def test_the_lock_of_the_logs_counts_as_well(judge, template):
    _leave_out(template, SOMEBODY, bucket="Logs")
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("value", "number"),
    [(SOMEBODY, 1), ({"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/team-*"}, 2)],
    ids=str,
)
def test_administrators_and_patterns_are_for_other_rules(judge, template, value, number):
    _leave_out(template, value, number=number)
    assert judge(ID, template).findings == ()
