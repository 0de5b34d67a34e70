"""Roles and policies for the tests of the double."""

from __future__ import annotations

from typing import Any

from local_resources import create

from aws_double import ACCOUNT
from aws_double.resource import Resource
from aws_double.session import Session

ROOT_ARN = f"arn:aws:iam::{ACCOUNT}:root"
ADMINISTRATOR = "arn:aws:iam::aws:policy/AdministratorAccess"


def document(*statements: dict[str, Any]) -> dict[str, Any]:
    """A policy."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(*actions: str, resource: Any = "*", **more: Any) -> dict[str, Any]:
    """A statement that allows; in a resource's policy, say ``Principal`` as well."""
    return {"Effect": "Allow", "Action": list(actions), "Resource": resource, **more}


def deny(*actions: str, resource: Any = "*", **more: Any) -> dict[str, Any]:
    """A statement that denies."""
    return {"Effect": "Deny", "Action": list(actions), "Resource": resource, **more}


def trust(service: str = "lambda.amazonaws.com") -> dict[str, Any]:
    """The trust of a role that a service takes."""
    return document({"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}})


def a_role(
    session: Session, *statements: dict[str, Any], logical_id: str = "Role", **properties: Any
) -> Resource:
    """A role with one inline policy, or none without statements."""
    inline = [{"PolicyName": "own", "PolicyDocument": document(*statements)}] if statements else []
    return create(
        session,
        "AWS::IAM::Role",
        logical_id,
        **{"AssumeRolePolicyDocument": trust(), **({"Policies": inline} if inline else {}), **properties},
    )


def as_role(session: Session, role: Resource) -> Session:
    """What a session of a role sees."""
    return session.assume(role.attributes["Arn"])
