"""Conditions, by IAM's documented logic."""

from __future__ import annotations

from typing import Any

import pytest

from aws_double.permissions.conditions import arn_like, conditions_hold, like
from aws_double.permissions.principals import ANONYMOUS, Principal, root, service
from aws_double.permissions.request import Request, UnknownElementError

TRAINER = Principal(
    kind="AssumedRole",
    account="111122223333",
    arn="arn:aws:iam::111122223333:role/trainer",
    session_arn="arn:aws:sts::111122223333:assumed-role/trainer/pod",
    user_id="AROAEXAMPLE:pod",
    tags={"team": "research"},
)
LOGGING = service("logging.s3.amazonaws.com")
KEYS = {
    "aws:SecureTransport": "true",
    "aws:SourceIp": "203.0.113.7",
    "aws:CurrentTime": "2026-05-01T12:00:00+00:00",
    "aws:EpochTime": "1777636800",
    "s3:prefix": "checkpoints/run-7",
    "s3:max-keys": "100",
    "s3:RequestObjectTagKeys": ("team", "cost"),
}


def holds(operator: str, key: str, value: Any, who: Principal = TRAINER) -> bool:
    return conditions_hold({operator: {key: value}}, Request(who, "s3:ListBucket", "arn:aws:s3:::data", KEYS))


@pytest.mark.parametrize(
    ("operator", "key", "value"),
    [
        ("StringEquals", "s3:prefix", "checkpoints/run-7"),
        ("StringEquals", "S3:Prefix", ["other", "checkpoints/run-7"]),
        ("StringNotEquals", "s3:prefix", ["a", "b"]),
        ("StringEqualsIgnoreCase", "s3:prefix", "CHECKPOINTS/run-7"),
        ("StringNotEqualsIgnoreCase", "s3:prefix", "x"),
        ("StringLike", "s3:prefix", "checkpoints/*"),
        ("StringLike", "s3:prefix", "checkpoints/run-?"),
        ("StringNotLike", "s3:prefix", "scripts/*"),
        ("ArnEquals", "aws:PrincipalArn", "arn:aws:iam::111122223333:role/tr*"),
        ("ArnLike", "aws:PrincipalArn", "arn:*:iam::*:role/trainer"),
        ("ArnNotEquals", "aws:PrincipalArn", "arn:aws:iam::111122223333:role/other"),
        ("ArnNotLike", "aws:PrincipalArn", "arn:aws:iam::*:user/*"),
        ("Bool", "aws:SecureTransport", "true"),
        ("Bool", "aws:SecureTransport", True),
        ("BoolIfExists", "aws:PrincipalIsAWSService", "false"),
        ("IpAddress", "aws:SourceIp", ["10.0.0.0/8", "203.0.113.0/24"]),
        ("NotIpAddress", "aws:SourceIp", ["10.0.0.0/8", "2001:db8::/32"]),
        ("NumericEquals", "s3:max-keys", "100.0"),
        ("NumericNotEquals", "s3:max-keys", "99"),
        ("NumericLessThan", "s3:max-keys", 101),
        ("NumericLessThanEquals", "s3:max-keys", "100"),
        ("NumericGreaterThan", "s3:max-keys", "9"),
        ("NumericGreaterThanEquals", "s3:max-keys", "100"),
        ("DateGreaterThan", "aws:CurrentTime", "2026-04-30T00:00:00Z"),
        ("DateLessThan", "aws:CurrentTime", "2026-05-02"),
        ("DateLessThanEquals", "aws:EpochTime", "2026-05-01T12:00:00Z"),
        ("DateGreaterThanEquals", "aws:CurrentTime", "1777636800"),
        ("DateNotEquals", "aws:CurrentTime", "2026-05-02T12:00:00Z"),
        ("Null", "aws:SourceVpce", "true"),
        ("Null", "s3:prefix", "false"),
        ("ForAnyValue:StringEquals", "s3:RequestObjectTagKeys", "cost"),
        ("ForAllValues:StringEquals", "s3:RequestObjectTagKeys", ["cost", "team", "more"]),
        ("ForAnyValue:StringNotEquals", "s3:RequestObjectTagKeys", "cost"),
        ("StringEquals", "aws:PrincipalTag/team", "research"),
        ("StringLike", "s3:prefix", "checkpoints/*-${aws:PrincipalTag/age, '7'}"),
        ("StringLike", "aws:PrincipalArn", "arn:aws:iam::${aws:PrincipalAccount}:role/*"),
        # a key that is not there
        ("StringEqualsIfExists", "aws:SourceVpce", "vpce-1"),
        ("StringNotEquals", "aws:SourceVpce", "vpce-1"),
        ("ArnNotEquals", "aws:SourceArn", "arn:aws:s3:::data"),
        ("ForAllValues:StringEquals", "aws:CalledVia", "a"),
    ],
)
def test_holds(operator: str, key: str, value: Any) -> None:
    assert holds(operator, key, value)


@pytest.mark.parametrize(
    ("operator", "key", "value"),
    [
        ("StringEquals", "s3:prefix", "checkpoints/*"),  # a star is a star
        ("StringEquals", "s3:prefix", "CHECKPOINTS/run-7"),
        ("StringNotEquals", "s3:prefix", ["a", "checkpoints/run-7"]),
        ("StringNotLike", "s3:prefix", ["scripts/*", "checkpoints/*"]),
        ("ArnNotEquals", "aws:PrincipalArn", ["arn:aws:iam::1:role/a", TRAINER.arn]),
        ("ArnEquals", "aws:PrincipalArn", "arn:aws:iam::*"),  # a star stays within its part
        ("ArnEquals", "aws:PrincipalArn", TRAINER.session_arn),
        ("Bool", "aws:SecureTransport", "false"),
        ("NotIpAddress", "aws:SourceIp", "203.0.113.0/24"),
        ("NumericLessThan", "s3:max-keys", "100"),
        ("DateGreaterThan", "aws:CurrentTime", "2026-05-02T00:00:00Z"),
        ("Null", "s3:prefix", "true"),
        ("Null", "aws:SourceVpce", "false"),
        ("ForAllValues:StringEquals", "s3:RequestObjectTagKeys", "cost"),
        ("ForAnyValue:StringEquals", "s3:RequestObjectTagKeys", "x"),
        ("StringLike", "s3:prefix", "${aws:PrincipalTag/absent}*"),
        # a key that is not there
        ("StringEquals", "aws:SourceVpce", "vpce-1"),
        ("Bool", "aws:MultiFactorAuthPresent", "true"),
        ("ForAnyValue:StringEquals", "aws:CalledVia", "a"),
        ("ForAnyValue:StringNotEquals", "aws:CalledVia", "a"),
    ],
)
def test_does_not_hold(operator: str, key: str, value: Any) -> None:
    assert not holds(operator, key, value)


@pytest.mark.parametrize(
    ("operator", "key", "message"),
    [
        ("BinaryEquals", "s3:prefix", "operator BinaryEquals"),
        ("StringEqual", "s3:prefix", "operator StringEqual"),
        ("ForSomeValues:StringEquals", "s3:prefix", "operator ForSomeValues:StringEquals"),
        ("StringEquals", "s3:prefx", "key s3:prefx"),
        ("StringEquals", "sagemaker:InstanceTypes", "key sagemaker:InstanceTypes"),
        ("StringEquals", "s3:RequestObjectTagKeys", "several values"),
    ],
)
def test_what_is_not_known_is_never_passed_over(operator: str, key: str, message: str) -> None:
    with pytest.raises(UnknownElementError, match=message):
        holds(operator, key, "x")
    other = {"StringEquals": {"s3:prefix": "does not hold"}}
    with pytest.raises(UnknownElementError, match=message):
        conditions_hold({**other, operator: {key: "x"}}, Request(TRAINER, "s3:ListBucket", "*", KEYS))


@pytest.mark.parametrize(
    ("who", "key", "value"),
    [
        (TRAINER, "aws:PrincipalArn", TRAINER.arn),
        (TRAINER, "aws:PrincipalType", "AssumedRole"),
        (TRAINER, "aws:PrincipalIsAWSService", "false"),
        (TRAINER, "aws:userid", "AROAEXAMPLE:pod"),
        (root(), "aws:PrincipalArn", "arn:aws:iam::111122223333:root"),
        (root(), "aws:PrincipalType", "Account"),
        (ANONYMOUS, "aws:PrincipalType", "Anonymous"),
        (ANONYMOUS, "aws:PrincipalAccount", "anonymous"),
        (ANONYMOUS, "aws:PrincipalArn", None),
        (ANONYMOUS, "aws:PrincipalIsAWSService", None),
        (LOGGING, "aws:PrincipalIsAWSService", "true"),
        (LOGGING, "aws:PrincipalServiceName", "logging.s3.amazonaws.com"),
        (LOGGING, "aws:PrincipalArn", None),
    ],
)
def test_keys_of_the_principal(who: Principal, key: str, value: str | None) -> None:
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html"""
    assert Request(who, "s3:GetObject", "*").key(key) == value


def test_variables_stand_for_themselves_in_patterns() -> None:
    who = Principal(kind="User", account="1", arn="arn:aws:iam::1:user/a*", tags={"team": "r*"})
    keys = {"s3:prefix": "rest"}
    request = Request(who, "s3:ListBucket", "*", keys)
    assert not conditions_hold({"StringLike": {"s3:prefix": "${aws:PrincipalTag/team}"}}, request)
    assert conditions_hold(
        {"StringLike": {"s3:prefix": "r${?}st"}}, Request(who, "", "", {"s3:prefix": "r?st"})
    )


def test_patterns() -> None:
    assert like("a[1].b", "a[1].*")
    assert not like("a1.b", "a[1].*")
    assert like("a/b:c", "a*c")
    assert arn_like("arn:aws:s3:::data/a:b", "arn:aws:s3:::data/*")
    assert not arn_like("arn:aws:s3:::data", "arn:aws:*")
