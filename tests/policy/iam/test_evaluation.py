"""The evaluation of requests, against the cases that the IAM user guide explains, each retold."""

from __future__ import annotations

import pytest

from hyperpod_policy.documents import Document
from hyperpod_policy.iam.context import ABSENT, SOMEBODY, SOMEBODYS_ID
from hyperpod_policy.iam.evaluation import Request, permitted, refused
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.template import Template
from hyperpod_policy.values import Anything, Pseudo, Text

ALICE = "arn:aws:iam::111122223333:user/alice"
ROLE = "arn:aws:iam::111122223333:role/trainer"
OTHERS_ROLE = "arn:aws:iam::444455556666:role/trainer"
ANY_OBJECT = Text(("arn:aws:s3:::data/", Anything("object")))


def _policy(*statements):
    body = {
        "Resources": {
            "Policy": {
                "Type": "AWS::IAM::ManagedPolicy",
                "Properties": {"PolicyDocument": {"Statement": list(statements)}},
            }
        }
    }
    (holder,) = Template([Document(body=body, account="111122223333")]).of_type("AWS::IAM::ManagedPolicy")
    found = list(statements_of(holder, "PolicyDocument"))
    assert all(isinstance(statement, Statement) for statement in found)
    return found


def _allow(action, resource="*", **more):
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def _deny(action, resource="*", **more):
    return {"Effect": "Deny", "Action": action, "Resource": resource, **more}


def _request(action, resource, principal=ALICE, **context):
    return Request(
        action, resource, principal, {key.replace("__", ":"): item for key, item in context.items()}
    )


OWN_BUCKET_BUT_NO_LOGS = (
    _allow("s3:*", ["arn:aws:s3:::alice", "arn:aws:s3:::alice/*"]),
    _deny("s3:*", "arn:aws:s3:::*log*"),
)
WITHOUT_MFA_ONLY_MFA = (
    _allow("*"),
    {
        "Effect": "Deny",
        "NotAction": ["iam:EnableMFADevice", "iam:ListMFADevices"],
        "Resource": "*",
        "Condition": {"BoolIfExists": {"aws:MultiFactorAuthPresent": "false"}},
    },
)
NOTHING_BUT_ONE_BUCKET = (
    _allow("s3:*"),
    {"Effect": "Deny", "Action": "s3:*", "NotResource": ["arn:aws:s3:::hr", "arn:aws:s3:::hr/*"]},
)
HOME_FOLDER = (
    _allow(
        "s3:ListBucket",
        "arn:aws:s3:::shared",
        Condition={"StringLike": {"s3:prefix": ["", "home/", "home/${aws:username}/*"]}},
    ),
    _allow("s3:*", "arn:aws:s3:::shared/home/${aws:username}/*"),
)
ONLY_THESE_ATTRIBUTES = (
    _allow(
        "dynamodb:GetItem",
        Condition={
            "ForAllValues:StringEquals": {"dynamodb:Attributes": ["ID", "Message", "Tags"]},
            "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
        },
    ),
)
NEVER_THESE_ATTRIBUTES = (
    _allow("dynamodb:*"),
    _deny("dynamodb:*", Condition={"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["ID", "PostDate"]}}),
)
ONLY_KEYS_IN_USE = (_allow("iam:*", Condition={"Null": {"aws:TokenIssueTime": "true"}}),)


@pytest.mark.parametrize(
    ("statements", "request_", "expected"),
    [
        ((), _request("s3:GetObject", "arn:aws:s3:::alice/a"), False),
        (OWN_BUCKET_BUT_NO_LOGS, _request("s3:GetObject", "arn:aws:s3:::alice/a"), True),
        (OWN_BUCKET_BUT_NO_LOGS, _request("s3:GetObject", "arn:aws:s3:::alice/catalogue"), False),
        (OWN_BUCKET_BUT_NO_LOGS, _request("s3:GetObject", "arn:aws:s3:::alice/diary"), True),
        (OWN_BUCKET_BUT_NO_LOGS, _request("s3:GetObject", "arn:aws:s3:::bob/a"), False),
        (OWN_BUCKET_BUT_NO_LOGS, _request("ec2:RunInstances", "*"), False),
        (
            WITHOUT_MFA_ONLY_MFA,
            _request("s3:GetObject", "arn:aws:s3:::a/b", aws__multifactorauthpresent="true"),
            True,
        ),
        (
            WITHOUT_MFA_ONLY_MFA,
            _request("s3:GetObject", "arn:aws:s3:::a/b", aws__multifactorauthpresent="false"),
            False,
        ),
        (
            WITHOUT_MFA_ONLY_MFA,
            _request("s3:GetObject", "arn:aws:s3:::a/b", aws__multifactorauthpresent=ABSENT),
            False,
        ),
        (WITHOUT_MFA_ONLY_MFA, _request("iam:ListMFADevices", "*", aws__multifactorauthpresent=ABSENT), True),
        (NOTHING_BUT_ONE_BUCKET, _request("s3:GetObject", "arn:aws:s3:::hr/a"), True),
        (NOTHING_BUT_ONE_BUCKET, _request("s3:GetObject", "arn:aws:s3:::other/a"), False),
        (HOME_FOLDER, _request("s3:ListBucket", "arn:aws:s3:::shared", s3__prefix="home/"), True),
        (HOME_FOLDER, _request("s3:ListBucket", "arn:aws:s3:::shared", s3__prefix=""), True),
        (
            HOME_FOLDER,
            _request("s3:ListBucket", "arn:aws:s3:::shared", s3__prefix="home/bob/", aws__username="alice"),
            False,
        ),
        (
            HOME_FOLDER,
            _request("s3:PutObject", "arn:aws:s3:::shared/home/alice/x", aws__username="alice"),
            True,
        ),
        (
            HOME_FOLDER,
            _request("s3:PutObject", "arn:aws:s3:::shared/home/bob/x", aws__username="alice"),
            False,
        ),
        (HOME_FOLDER, _request("s3:PutObject", "arn:aws:s3:::shared/home/bob/x"), None),
        (
            ONLY_THESE_ATTRIBUTES,
            _request(
                "dynamodb:GetItem",
                "*",
                dynamodb__attributes=["ID", "Tags"],
                dynamodb__select="ALL_ATTRIBUTES",
            ),
            False,
        ),
        (
            ONLY_THESE_ATTRIBUTES,
            _request("dynamodb:GetItem", "*", dynamodb__attributes=["ID", "Tags"], dynamodb__select=ABSENT),
            True,
        ),
        (
            ONLY_THESE_ATTRIBUTES,
            _request("dynamodb:GetItem", "*", dynamodb__attributes=["ID", "Salary"], dynamodb__select=ABSENT),
            False,
        ),
        (
            NEVER_THESE_ATTRIBUTES,
            _request("dynamodb:GetItem", "*", dynamodb__attributes=["ID", "Salary"]),
            False,
        ),
        (NEVER_THESE_ATTRIBUTES, _request("dynamodb:GetItem", "*", dynamodb__attributes=["Salary"]), True),
        (NEVER_THESE_ATTRIBUTES, _request("dynamodb:GetItem", "*", dynamodb__attributes=ABSENT), True),
        (ONLY_KEYS_IN_USE, _request("iam:ListUsers", "*", aws__tokenissuetime=ABSENT), True),
        (ONLY_KEYS_IN_USE, _request("iam:ListUsers", "*", aws__tokenissuetime="2026-01-01"), False),
    ],
    ids=str,
)
def test_identity_policies(statements, request_, expected):
    assert permitted(_policy(*statements), request_) is expected


@pytest.mark.parametrize(
    ("identity", "bucket", "expected"),
    [
        ((_allow("s3:GetObject"),), (), True),
        ((), (_allow("s3:GetObject", Principal={"AWS": ROLE}),), True),
        ((), (_allow("s3:GetObject", Principal={"AWS": OTHERS_ROLE}),), False),
        ((), (_allow("s3:GetObject", Principal="*"),), True),
        ((), (_allow("s3:GetObject", Principal={"Service": "logging.s3.amazonaws.com"}),), False),
        # an allowance of the account leaves it to the account's own policies
        ((), (_allow("s3:GetObject", Principal={"AWS": "arn:aws:iam::111122223333:root"}),), False),
        ((_allow("s3:*"),), (_deny("s3:GetObject", Principal="*"),), False),
        ((_allow("s3:*"),), (_deny("s3:GetObject", Principal={"AWS": ROLE}),), False),
        ((_allow("s3:*"),), (_deny("s3:GetObject", Principal={"AWS": OTHERS_ROLE}),), True),
        ((_allow("s3:*"),), (_deny("s3:GetObject", NotPrincipal={"AWS": ROLE}),), True),
        ((_allow("s3:*"),), (_deny("s3:GetObject", NotPrincipal={"AWS": OTHERS_ROLE}),), False),
        ((_allow("s3:*"),), (_deny("s3:PutObject", Principal="*"),), True),
        (
            (_allow("s3:*"),),
            (
                _deny(
                    "s3:GetObject",
                    Principal="*",
                    Condition={"ArnNotLike": {"aws:PrincipalArn": [ROLE, ALICE]}},
                ),
            ),
            True,
        ),
    ],
    ids=str,
)
def test_identity_and_bucket_policies_of_one_account(identity, bucket, expected):
    request = _request("s3:GetObject", "arn:aws:s3:::data/a", ROLE, aws__principalaccount="111122223333")
    assert permitted([*_policy(*identity), *_policy(*bucket)], request) is expected


@pytest.mark.parametrize(
    ("identity", "boundary", "action", "expected"),
    [
        ((_allow("iam:CreateUser"),), (_allow(["s3:*", "cloudwatch:*", "ec2:*"]),), "iam:CreateUser", False),
        ((_allow("s3:*"),), (_allow(["s3:*", "cloudwatch:*", "ec2:*"]),), "s3:GetObject", True),
        ((), (_allow("s3:*"),), "s3:GetObject", False),
        ((_allow("s3:*"),), (), "s3:GetObject", False),
        ((_allow("s3:*"),), (_allow("*"), _deny("s3:Get*")), "s3:GetObject", False),
    ],
    ids=str,
)
def test_a_permissions_boundary_limits_and_grants_nothing(identity, boundary, action, expected):
    request = _request(action, "arn:aws:s3:::data/a")
    assert permitted(_policy(*identity), request, boundary=_policy(*boundary)) is expected


STRANGER = {
    "aws__principalaccount": Pseudo("AWS::AccountId"),
    "aws__userid": SOMEBODYS_ID,
    "aws__sourceaccount": ABSENT,
}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (_deny("s3:PutObject", "arn:aws:s3:::data/*", Principal="*"), True),
        (_deny("s3:Put*", "arn:aws:s3:::*", Principal={"AWS": "*"}), True),
        (_deny("s3:PutObject", "arn:aws:s3:::data/runs/*", Principal="*"), False),
        (_deny("s3:PutObject", "arn:aws:s3:::data", Principal="*"), False),
        (_deny("s3:PutObjectAcl", "*", Principal="*"), False),
        ({"Effect": "Deny", "NotAction": "s3:Get*", "Resource": "*", "Principal": "*"}, True),
        ({"Effect": "Deny", "NotAction": "s3:Put*", "Resource": "*", "Principal": "*"}, False),
        (
            {"Effect": "Deny", "Action": "s3:*", "NotResource": "arn:aws:s3:::data/a*", "Principal": "*"},
            False,
        ),
        ({"Effect": "Deny", "Action": "s3:*", "NotResource": "arn:aws:s3:::data", "Principal": "*"}, True),
        (_deny("s3:*", NotPrincipal={"AWS": ROLE}), True),
        (_deny("s3:*", Principal={"AWS": ROLE}), False),
        (_deny("s3:*", Principal={"AWS": "arn:aws:iam::111122223333:root"}), True),
        (_deny("s3:*", Principal={"AWS": "111122223333"}), True),
        (_deny("s3:*", Principal={"AWS": {"Ref": "AWS::AccountId"}}), True),
        (_deny("s3:*", Principal={"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}), True),
        (_deny("s3:*", Principal={"AWS": "444455556666"}), False),
        (_deny("s3:*", Principal="*", Condition={"ArnNotEquals": {"aws:PrincipalArn": ROLE}}), True),
        (_deny("s3:*", Principal="*", Condition={"ArnNotLikeIfExists": {"aws:PrincipalArn": ROLE}}), True),
        (
            _deny("s3:*", Principal="*", Condition={"StringNotLike": {"aws:userId": ["AROAEXAMPLEID:*"]}}),
            True,
        ),
        (_deny("s3:*", Principal="*", Condition={"StringNotLike": {"aws:userId": ["AROA*"]}}), False),
        (_deny("s3:*", Principal="*", Condition={"StringNotEquals": {"aws:SourceAccount": "1"}}), True),
        # weakened: the caller chooses tags, network and organisation
        (
            _deny("s3:*", Principal="*", Condition={"StringNotEquals": {"aws:PrincipalTag/writer": "true"}}),
            False,
        ),
        (_deny("s3:*", Principal="*", Condition={"StringNotEquals": {"aws:SourceVpce": "vpce-1"}}), False),
        (_deny("s3:*", Principal="*", Condition={"StringNotEquals": {"aws:PrincipalOrgID": "o-1"}}), False),
        (
            _deny(
                "s3:*",
                Principal="*",
                Condition={"ArnNotEquals": {"aws:PrincipalArn": ROLE}, "Bool": {"aws:ViaAWSService": "true"}},
            ),
            False,
        ),
    ],
    ids=str,
)
def test_a_denial_of_everybody_but_some(statement, expected):
    request = _request("s3:PutObject", ANY_OBJECT, SOMEBODY, **STRANGER)
    assert refused(_policy(statement), request) is expected
