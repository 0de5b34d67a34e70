"""What IAM, STS and KMS of the double refuse, as on AWS, where moto would do it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from identities import a_role, allow, document
from local_resources import create, delete

from aws_double import usage
from aws_double.session import Session

MISSING = "arn:aws:iam::111122223333:role/missing"


def large(characters: int) -> dict[str, Any]:
    """A policy of about as many characters."""
    return document(allow(*(f"s3:Get{number:06}" for number in range(characters // 15))))


def test_role_that_is_used_stays(root: Session) -> None:
    role = a_role(root)
    usage.hold("arn:aws:sagemaker:us-west-2:111122223333:cluster/one", [role.attributes["Arn"]])
    with pytest.raises(ClientError, match=r"DeleteConflict.*cluster/one"):
        delete(root, role)
    usage.release("arn:aws:sagemaker:us-west-2:111122223333:cluster/one")
    delete(root, role)
    with pytest.raises(ClientError, match="NoSuchEntity"):
        root.client("iam").get_role(RoleName=role.physical_id)


def test_role_and_policy_stay_while_attached(root: Session) -> None:
    role = a_role(root)
    policy = create(
        root, "AWS::IAM::ManagedPolicy", PolicyDocument=document(allow("s3:*")), Roles=[role.physical_id]
    )
    with pytest.raises(ClientError, match="DeleteConflict"):
        delete(root, role)
    with pytest.raises(ClientError, match="DeleteConflict"):
        root.client("iam").delete_policy(PolicyArn=policy.physical_id)
    delete(root, policy)
    inline = create(
        root,
        "AWS::IAM::Policy",
        PolicyName="own",
        PolicyDocument=document(allow("s3:*")),
        Roles=[role.physical_id],
    )
    with pytest.raises(ClientError, match="DeleteConflict"):
        delete(root, role)
    delete(root, inline)
    delete(root, role)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"ManagedPolicyArns": ["arn:aws:iam::aws:policy/NoSuchPolicy"]}, "NoSuchEntity"),
        ({"PermissionsBoundary": "arn:aws:iam::aws:policy/NoSuchPolicy"}, "NoSuchEntity"),
        ({"Policies": [{"PolicyName": "own", "PolicyDocument": large(11_000)}]}, "LimitExceeded"),
    ],
)
def test_role_refused(root: Session, properties: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        a_role(root, **properties)


def test_eleventh_attachment_is_refused(root: Session) -> None:
    policies = [
        create(root, "AWS::IAM::ManagedPolicy", PolicyDocument=document(allow("s3:*"))).physical_id
        for _ in range(11)
    ]
    a_role(root, ManagedPolicyArns=policies[:10])
    with pytest.raises(ClientError, match=r"LimitExceeded.*PoliciesPerRole: 10"):
        a_role(root, ManagedPolicyArns=policies)


def test_large_managed_policy_is_refused(root: Session) -> None:
    create(root, "AWS::IAM::ManagedPolicy", PolicyDocument=large(5_500))
    with pytest.raises(ClientError, match=r"LimitExceeded.*PolicySize: 6144"):
        create(root, "AWS::IAM::ManagedPolicy", PolicyDocument=large(7_000))


@pytest.mark.parametrize("effect", ["Allow", "Deny"])
def test_trust_in_nobody_is_refused(root: Session, effect: str) -> None:
    statement = {"Effect": effect, "Action": "sts:AssumeRole", "Principal": {"AWS": MISSING}}
    with pytest.raises(ClientError, match=r"MalformedPolicyDocument.*Invalid principal.*role/missing"):
        a_role(root, AssumeRolePolicyDocument=document(statement))
    friend = a_role(root, logical_id="Friend").attributes["Arn"]
    statement["Principal"] = {"AWS": [friend, "arn:aws:iam::999999999999:role/not-ours-to-know"]}
    role = a_role(root, AssumeRolePolicyDocument=document(statement))
    with pytest.raises(ClientError, match="MalformedPolicyDocument"):
        root.client("iam").update_assume_role_policy(
            RoleName=role.physical_id,
            PolicyDocument=json.dumps(document({**statement, "Principal": {"AWS": MISSING}})),
        )


def test_key_policy_that_names_nobody_is_refused(root: Session) -> None:
    policy = document(allow("kms:*", Principal={"AWS": MISSING}))
    with pytest.raises(ClientError, match="MalformedPolicyDocument"):
        create(root, "AWS::KMS::Key", KeyPolicy=policy)
    key = create(root, "AWS::KMS::Key", KeyPolicy=document(allow("kms:*", Principal="*")))
    with pytest.raises(ClientError, match="MalformedPolicyDocument"):
        root.client("kms").put_key_policy(
            KeyId=key.physical_id, PolicyName="default", Policy=json.dumps(policy)
        )


def test_role_that_is_not_there_cannot_be_taken(root: Session) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        root.assume(MISSING)


def test_documents_of_aws_managed_policies_are_real(root: Session) -> None:
    iam = root.client("iam")
    arn = "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    document = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]
    actions = {action for statement in document["Statement"] for action in statement["Action"]}
    assert "logs:PutLogEvents" in actions
