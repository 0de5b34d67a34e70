"""What S3 asks of a bucket policy before it stores it, and whether it makes the bucket public."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aws_double.permissions.conditions import as_list, operator_known
from aws_double.permissions.principals import missing_principals
from aws_double.permissions.request import key_known
from aws_double.permissions.statements import ELEMENTS, statements

_LARGEST = 20_480
_NARROWING_KEYS = frozenset(
    {
        "aws:principalaccount",
        "aws:principalarn",
        "aws:principalorgid",
        "aws:principalorgpaths",
        "aws:sourceaccount",
        "aws:sourcearn",
        "aws:sourceip",
        "aws:sourceorgid",
        "aws:sourceowner",
        "aws:sourcevpc",
        "aws:sourcevpce",
        "aws:userid",
        "s3:dataaccesspointaccount",
        "s3:dataaccesspointarn",
    }
)
"""Keys that, with a fixed value, make an allowance to everybody one to somebody.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
"""
_NARROWING_OPERATORS = frozenset(
    {"StringEquals", "StringLike", "ArnEquals", "ArnLike", "IpAddress", "StringEqualsIgnoreCase"}
)


def faults(text: bytes | str, bucket: str) -> list[str]:
    """Return why S3 would refuse a policy as malformed, or this double cannot judge it.

    Args:
        text: The policy.
        bucket: Name of the bucket that it is for.
    """
    try:
        document = json.loads(text)
    except ValueError:
        return ["Policies must be valid JSON"]
    found = []
    if len(text) > _LARGEST:
        found.append(f"Policy has {len(text)} bytes, at most {_LARGEST}")
    for statement in statements(document):
        found += _faults_of_statement(statement, bucket)
    if not found:
        found += [f"Invalid principal in policy: {arn}" for arn in missing_principals(document)]
    return found


def _faults_of_statement(statement: Mapping[str, Any], bucket: str) -> list[str]:
    found = [f"Unknown field {name}" for name in statement if name not in ELEMENTS]
    for pair in (("Principal", "NotPrincipal"), ("Action", "NotAction"), ("Resource", "NotResource")):
        if sum(name in statement for name in pair) != 1:
            found.append(f"Missing required field {pair[0]}")
    if statement.get("Effect") not in ("Allow", "Deny"):
        found.append(f"Invalid effect: {statement.get('Effect')}")
    arn = f"arn:aws:s3:::{bucket}"
    for resource in as_list(statement.get("Resource", statement.get("NotResource", []))):
        if resource != arn and not resource.startswith(f"{arn}/"):
            found.append(f"Policy has invalid resource: {resource}")
    for operator, keys in statement.get("Condition", {}).items():
        if not operator_known(operator):
            found.append(f"Invalid Condition type, or one this double does not know: {operator}")
        found += [f"condition key this double does not know: {key}" for key in keys if not key_known(key)]
    return found


def is_public(document: Mapping[str, Any]) -> bool:
    """Tell whether a policy lets in everybody."""
    return any(
        statement["Effect"] == "Allow"
        and _is_for_everybody(statement)
        and not any(_narrows(*condition) for condition in statement.get("Condition", {}).items())
        for statement in statements(document)
    )


def _is_for_everybody(statement: Mapping[str, Any]) -> bool:
    if "NotPrincipal" in statement:
        return True
    principal = statement["Principal"]
    return principal == "*" or "*" in as_list(principal.get("AWS", []))


def _narrows(operator: str, keys: Mapping[str, Any]) -> bool:
    # A condition with IfExists or on a set of values holds for requests without the key, too.
    if operator not in _NARROWING_OPERATORS:
        return False
    return any(
        key.lower() in _NARROWING_KEYS and all(_is_fixed(str(value)) for value in as_list(values))
        for key, values in keys.items()
    )


def _is_fixed(value: str) -> bool:
    return not any(part in value for part in ("*", "?", "${", "0.0.0.0/", "::/0"))
