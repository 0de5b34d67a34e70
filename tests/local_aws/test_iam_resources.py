"""Roles, policies and identity providers: each comes, changes and goes as the API tells."""

from __future__ import annotations

import pytest
import read_back.iam  # noqa: F401
from identities import ADMINISTRATOR, a_role, allow, document, trust
from local_resources import create
from told import live

from aws_double.resource import ResourceFailure
from aws_double.session import Session

RED, BLUE = [{"Key": "colour", "Value": "red"}], [{"Key": "shade", "Value": "blue"}]
READ_LOGS = document(allow("logs:Get*"))
WRITE_LOGS = document(allow("logs:Put*"))


def test_role(root: Session) -> None:
    live(
        root,
        "AWS::IAM::Role",
        {"AssumeRolePolicyDocument": trust()},
        {
            "AssumeRolePolicyDocument": trust("sagemaker.amazonaws.com"),
            "Description": "nodes",
            "ManagedPolicyArns": [ADMINISTRATOR, "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"],
            "MaxSessionDuration": 7200,
            "PermissionsBoundary": ADMINISTRATOR,
            "Policies": [{"PolicyName": "read", "PolicyDocument": READ_LOGS}],
            "Tags": RED,
        },
        {
            "AssumeRolePolicyDocument": trust(),
            "ManagedPolicyArns": [ADMINISTRATOR],
            "Policies": [
                {"PolicyName": "read", "PolicyDocument": WRITE_LOGS},
                {"PolicyName": "more", "PolicyDocument": READ_LOGS},
            ],
            "Tags": BLUE,
        },
    )


def test_policies_of_roles(root: Session) -> None:
    one, other = (a_role(root, logical_id=name).physical_id for name in ("One", "Other"))
    live(
        root,
        "AWS::IAM::Policy",
        {"PolicyName": "read", "PolicyDocument": READ_LOGS, "Roles": [one]},
        {"PolicyName": "read", "PolicyDocument": WRITE_LOGS, "Roles": [other, one]},
        {"PolicyName": "read", "PolicyDocument": WRITE_LOGS, "Roles": [other]},
    )
    versions = [
        {"PolicyDocument": policy, "Description": "to read", "Path": "/team/", "Roles": roles}
        for policy, roles in ((READ_LOGS, [one]), (WRITE_LOGS, [other, one]), (READ_LOGS, [other]))
    ]
    live(root, "AWS::IAM::ManagedPolicy", *versions)


def test_policy_needs_a_role(root: Session) -> None:
    with pytest.raises(ResourceFailure, match="must be non-empty"):
        create(root, "AWS::IAM::Policy", PolicyName="read", PolicyDocument=READ_LOGS, Roles=[])


def test_identity_provider(root: Session) -> None:
    issuer = "https://oidc.eks.us-west-2.amazonaws.com/id/ABC"
    live(
        root,
        "AWS::IAM::OIDCProvider",
        {"Url": issuer, "ClientIdList": ["sts.amazonaws.com"], "ThumbprintList": ["a" * 40]},
        {"Url": issuer, "ClientIdList": ["sts.amazonaws.com"], "ThumbprintList": ["b" * 40]},
    )
    with pytest.raises(ResourceFailure, match="https://"):
        create(root, "AWS::IAM::OIDCProvider", Url="oidc.eks.us-west-2.amazonaws.com/id/ABC")
