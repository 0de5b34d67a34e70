from __future__ import annotations

import pytest

from hyperpod_policy.iam.conditions import ABSENT, SOMEBODY, Condition, holds
from hyperpod_policy.values import Parameter, Reference

ROLE = Reference("Role", "Arn")
CONTEXT = {
    "aws:principalarn": ROLE,
    "aws:principalisawsservice": "false",
    "aws:securetransport": "true",
    "s3:prefix": "runs/1",
    "aws:sourcevpce": ABSENT,
    "aws:tagkeys": ["a", "b"],
}


def _holds(operator, key, *values, free=False, context=CONTEXT, complete=True):
    return holds([Condition(operator, key, values, complete)], context, free=free)


@pytest.mark.parametrize(
    ("operator", "key", "values", "expected"),
    [
        ("ArnEquals", "aws:PrincipalArn", (ROLE,), True),
        ("ArnNotEquals", "aws:PrincipalArn", (ROLE,), False),
        ("ArnNotEquals", "aws:PrincipalArn", ("arn:aws:iam::1:role/x", ROLE), False),
        ("ArnNotEquals", "aws:PrincipalArn", ("arn:aws:iam::1:role/x",), True),
        ("StringNotEqualsIfExists", "AWS:PrincipalArn", (ROLE,), False),
        ("StringLike", "s3:prefix", ("runs/*",), True),
        ("StringNotLike", "s3:prefix", ("runs/*",), False),
        ("StringEquals", "s3:prefix", ("runs/*",), False),
        ("StringEquals", "s3:prefix", ("RUNS/1",), False),
        ("StringEqualsIgnoreCase", "s3:prefix", ("RUNS/1",), True),
        ("StringNotEqualsIgnoreCase", "s3:prefix", ("RUNS/1",), False),
        ("Bool", "aws:SecureTransport", ("false",), False),
        ("Bool", "aws:SecureTransport", (True,), True),
        ("BoolIfExists", "aws:PrincipalIsAWSService", ("false",), True),
        ("Null", "aws:SourceVpce", ("true",), True),
        ("Null", "aws:SourceVpce", (False,), False),
        ("Null", "s3:prefix", ("true",), False),
        ("StringEquals", "aws:SourceVpce", ("vpce-1",), False),
        ("StringNotEquals", "aws:SourceVpce", ("vpce-1",), True),
        ("StringEqualsIfExists", "aws:SourceVpce", ("vpce-1",), True),
        ("ForAllValues:StringEquals", "aws:SourceVpce", ("vpce-1",), True),
        ("ForAnyValue:StringEquals", "aws:SourceVpce", ("vpce-1",), False),
        ("ForAllValues:StringEquals", "aws:TagKeys", ("a", "b", "c"), True),
        ("ForAllValues:StringEquals", "aws:TagKeys", ("a",), False),
        ("ForAnyValue:StringEquals", "aws:TagKeys", ("a",), True),
        ("ForAnyValue:StringNotEquals", "aws:TagKeys", ("a",), True),
        ("StringEquals", "s3:prefix", (Parameter("x"),), None),
        ("StringNotEquals", "s3:prefix", (Parameter("x"),), None),
        ("StringNotEquals", "s3:prefix", (Parameter("x"), "runs/1"), False),
        ("Bool", "aws:SecureTransport", (Parameter("x"),), None),
        ("Null", "s3:prefix", (Parameter("x"),), None),
    ],
    ids=str,
)
def test_operators(operator, key, values, expected):
    assert _holds(operator, key, *values) is expected


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("operator", ["StringEquals", "StringNotEquals", "IpAddress", "Null"])
def test_the_caller_chooses_what_the_context_does_not_say(operator, free):
    assert _holds(operator, "aws:SourceIp", "10.0.0.0/8", free=free) is free


@pytest.mark.parametrize("free", [True, False])
def test_an_operator_that_is_not_compared_counts_as_the_callers_choice(free):
    assert _holds("DateLessThan", "s3:prefix", "2027-01-01", free=free) is free


def test_an_open_list_is_unknown_unless_it_matches():
    assert _holds("ArnNotEquals", "aws:PrincipalArn", complete=False) is None
    assert _holds("ArnNotEquals", "aws:PrincipalArn", ROLE, complete=False) is False


def test_all_conditions_must_hold():
    yes = Condition("Bool", "aws:SecureTransport", ("true",))
    no = Condition("Bool", "aws:SecureTransport", ("false",))
    unknown = Condition("StringEquals", "s3:prefix", (Parameter("x"),))
    assert holds([yes, yes], CONTEXT, free=False) is True
    assert holds([yes, unknown], CONTEXT, free=False) is None
    assert holds([no, unknown], CONTEXT, free=False) is False
    assert holds([], CONTEXT, free=False) is True


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("ArnNotEquals", ROLE, True),
        ("ArnNotEquals", "arn:aws:iam::1:role/Admin*", True),
        ("ArnNotEquals", "arn:aws:iam::*:role/*", False),
        ("StringNotEquals", "*", True),
        ("StringNotLike", "*", False),
        ("ArnNotLike", Parameter("x"), None),
        ("StringNotEquals", Parameter("x"), None),
    ],
    ids=str,
)
def test_a_principal_that_nobody_listed(operator, value, expected):
    assert _holds(operator, "aws:PrincipalArn", value, context={"aws:principalarn": SOMEBODY}) is expected
