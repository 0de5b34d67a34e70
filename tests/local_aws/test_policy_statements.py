"""Statements of policies: actions, resources and principals, named and excepted."""

from __future__ import annotations

from typing import Any

import pytest

from aws_double.permissions.bucket_policy import is_public
from aws_double.permissions.principals import ANONYMOUS, Principal, root, service
from aws_double.permissions.request import Request, UnknownElementError
from aws_double.permissions.statements import Said, said_by_identity_policy, said_by_resource_policy
from aws_double.permissions.trust import service_may_assume

ACCOUNT = "111122223333"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/trainer"
SESSION = f"arn:aws:sts::{ACCOUNT}:assumed-role/trainer/pod"
ROOT = f"arn:aws:iam::{ACCOUNT}:root"
TRAINER = Principal(kind="AssumedRole", account=ACCOUNT, arn=ROLE, session_arn=SESSION)
STRANGER = Principal(kind="User", account="999999999999", arn="arn:aws:iam::999999999999:user/x")
SERVICE = service("logging.s3.amazonaws.com")


def said(statement: dict[str, Any], who: Principal = TRAINER, action: str = "s3:PutObject") -> set[Said]:
    whole = {"Effect": "Allow", "Action": "s3:PutObject", "Resource": "*", **statement}
    for negated in ("NotAction", "NotResource"):
        if negated in statement:
            del whole[negated.removeprefix("Not")]
    document = {"Statement": whole}
    request = Request(who, action, "arn:aws:s3:::data/run/1")
    if "Principal" in statement or "NotPrincipal" in statement:
        return said_by_resource_policy(document, request)
    return said_by_identity_policy(document, request)


@pytest.mark.parametrize(
    "statement",
    [
        {},
        {"Action": "*"},
        {"Action": ["s3:Get*", "S3:putobj?ct"]},
        {"NotAction": "s3:Get*"},
        {"Resource": "arn:aws:s3:::data/*"},
        {"Resource": ["arn:aws:s3:::other", "arn:*:s3:::data/run/?"]},
        {"NotResource": "arn:aws:s3:::data/other/*"},
    ],
)
def test_applies(statement: dict[str, Any]) -> None:
    assert said(statement) == {Said.ALLOW}
    assert said({**statement, "Effect": "Deny"}) == {Said.DENY}


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": "s3:GetObject"},
        {"Action": "s3:PutObjectAcl"},
        {"NotAction": ["s3:Put*", "s3:List*"]},
        {"Resource": "arn:aws:s3:::data"},
        {"Resource": "arn:aws:s3:::data/Run/*"},
        {"NotResource": "arn:aws:s3:::data/*"},
        {"Condition": {"StringEquals": {"s3:prefix": "x"}}},
    ],
)
def test_does_not_apply(statement: dict[str, Any]) -> None:
    assert said(statement) == set()


ALLOWED, DENIED, DELEGATED, SILENT = {Said.ALLOW}, {Said.DENY}, {Said.DELEGATE}, set[Said]()


@pytest.mark.parametrize(
    ("principal", "who", "of_allow", "of_deny"),
    [
        ("*", TRAINER, ALLOWED, DENIED),
        ("*", ANONYMOUS, ALLOWED, DENIED),
        ("*", SERVICE, ALLOWED, DENIED),
        ({"AWS": "*"}, ANONYMOUS, ALLOWED, DENIED),
        ({"AWS": ROLE}, TRAINER, ALLOWED, DENIED),
        ({"AWS": SESSION}, TRAINER, ALLOWED, DENIED),
        ({"AWS": ROLE}, ANONYMOUS, SILENT, SILENT),
        ({"AWS": ROLE}, SERVICE, SILENT, SILENT),
        ({"AWS": ["x", ROOT]}, TRAINER, DELEGATED, DENIED),
        ({"AWS": ACCOUNT}, TRAINER, DELEGATED, DENIED),
        ({"AWS": ACCOUNT}, root(), ALLOWED, DENIED),
        ({"AWS": ROOT}, root(), ALLOWED, DENIED),
        ({"AWS": ROOT}, STRANGER, SILENT, SILENT),
        ({"Service": "logging.s3.amazonaws.com"}, SERVICE, ALLOWED, DENIED),
        ({"Service": "logging.s3.amazonaws.com"}, TRAINER, SILENT, SILENT),
        ({"Service": ["a", "logging.s3.amazonaws.com"], "AWS": ROLE}, TRAINER, ALLOWED, DENIED),
    ],
)
def test_principal(principal: Any, who: Principal, of_allow: set[Said], of_deny: set[Said]) -> None:
    assert said({"Principal": principal}, who) == of_allow
    assert said({"Principal": principal, "Effect": "Deny"}, who) == of_deny


@pytest.mark.parametrize(
    ("excepted", "who", "denied"),
    [
        ([ROLE, SESSION, ROOT], TRAINER, False),
        ([ROLE, ROOT], TRAINER, True),  # the session must be named, too
        ([ROLE, SESSION], TRAINER, True),  # and the account
        ([ROLE, SESSION, ROOT], ANONYMOUS, True),
        ([ROLE, SESSION, ROOT], STRANGER, True),
        ([ROOT], root(), False),
        ([ROLE], root(), True),
    ],
)
def test_not_principal(excepted: list[str], who: Principal, denied: bool) -> None:
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_notprincipal.html"""
    assert (said({"NotPrincipal": {"AWS": excepted}, "Effect": "Deny"}, who) == {Said.DENY}) is denied


def test_unknown_elements_are_refused() -> None:
    with pytest.raises(UnknownElementError, match="Conditions"):
        said({"Conditions": {}})
    with pytest.raises(UnknownElementError, match="CanonicalUser"):
        said({"Principal": {"CanonicalUser": "79a5"}})


def allowing(principal: Any, **condition: Any) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*", "Principal": principal}
    return {"Statement": [{**statement, **({"Condition": condition} if condition else {})}]}


@pytest.mark.parametrize(
    ("document", "public"),
    [
        (allowing("*"), True),
        (allowing({"AWS": ["*", ROLE]}), True),
        (allowing({"AWS": ROLE}), False),
        (allowing({"Service": "logging.s3.amazonaws.com"}), False),
        (allowing("*", StringEquals={"aws:PrincipalOrgID": "o-1"}), False),
        (allowing("*", StringEquals={"aws:SourceVpce": ["vpce-1", "vpce-2"]}), False),
        (allowing("*", ArnLike={"aws:SourceArn": "arn:aws:s3:::data"}), False),
        (allowing("*", ArnLike={"aws:SourceArn": "arn:aws:s3:::*"}), True),
        (allowing("*", IpAddress={"aws:SourceIp": "0.0.0.0/0"}), True),
        (allowing("*", StringEqualsIfExists={"aws:SourceVpce": "vpce-1"}), True),
        (allowing("*", StringNotEquals={"aws:SourceVpce": "vpce-1"}), True),
        (allowing("*", Bool={"aws:SecureTransport": "true"}), True),
        ({"Statement": [{**allowing("*")["Statement"][0], "Effect": "Deny"}]}, False),
    ],
)
def test_public(document: dict[str, Any], public: bool) -> None:
    assert is_public(document) is public


@pytest.mark.parametrize(
    ("trust", "may"),
    [
        ({"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}, True),
        ({"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}}, False),
        ({"Effect": "Deny", "Principal": {"Service": "lambda.amazonaws.com"}}, False),
        (
            {
                "Effect": "Allow",
                "Principal": {"Service": "lambda.amazonaws.com"},
                "Condition": {"StringEquals": {"aws:SourceAccount": "1"}},
            },
            False,
        ),
    ],
)
def test_service_takes_a_role(trust: dict[str, Any], may: bool) -> None:
    document = {"Statement": [{**trust, "Action": "sts:AssumeRole"}]}
    assert service_may_assume("lambda.amazonaws.com", document) is may
