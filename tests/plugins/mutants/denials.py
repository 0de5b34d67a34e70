"""Weakenings of a denial."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mutants.changes import Change, listed, merged, replaced, without
from mutants.principals import OWN_ROLE, OWN_ROLES, OWN_ROOT, OWN_SSO_ROLES, ROLE_OF_ANOTHER, ROOT_OF_ANOTHER

_ONLY_IF: Mapping[str, Any] = {
    "in an organization": {"StringEquals": {"aws:PrincipalOrgID": "o-0123456789"}},
    "without MFA": {"BoolIfExists": {"aws:MultiFactorAuthPresent": "false"}},
    "from elsewhere": {"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}},
    "without a tag": {"StringNotEquals": {"aws:PrincipalTag/team": "training"}},
    "of another account": {"StringNotEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}},
    "of no service": {"Null": {"aws:PrincipalServiceName": "true"}},
    "before a date": {"DateLessThan": {"aws:CurrentTime": "2030-01-01T00:00:00Z"}},
    "outside an endpoint": {"StringNotEquals": {"aws:SourceVpce": "vpce-0123456789abcdef0"}},
    "of no service-linked session": {"Bool": {"aws:ViaAWSService": "false"}},
}
"""Conditions under which alone a weakened denial still holds."""


def weakened_denial(statement: Mapping[str, Any]) -> Iterator[Change]:
    yield None, "becomes a permission", {**statement, "Effect": "Allow"}
    actions = listed(statement["Action"])
    for position, action in enumerate(actions):
        if len(actions) > 1:
            yield "Action", f"lacks {action}", without(actions, position)
        if "*" in action:
            narrower = action.replace("*", "Object" if action == "s3:*" else "").removesuffix(":")
            yield "Action", f"narrows {action} to {narrower}", replaced(actions, position, narrower)
    named = {key: item for key, item in statement.items() if key != "Action"}
    yield None, "denies all but what it denied", {**named, "NotAction": actions}
    yield from _narrowed_resources(statement)
    yield from _narrowed_principal(statement)
    condition = statement.get("Condition", {})
    for words, more in _ONLY_IF.items():
        yield "Condition", f"holds only for requests {words}", merged(condition, more)
    yield from _weakened_conditions(condition)


def _narrowed_resources(statement: Mapping[str, Any]) -> Iterator[Change]:
    resources = listed(statement["Resource"])
    for position, resource in enumerate(resources):
        if len(resources) > 1:
            yield "Resource", f"lacks number {position}", without(resources, position)
        if "Fn::Join" in resource and resource["Fn::Join"][1][-1] == "/*":
            inside = {"Fn::Join": ["", [*resource["Fn::Join"][1][:-1], "/some/*"]]}
            yield "Resource", f"narrows number {position} to a prefix", replaced(resources, position, inside)
        else:
            longer = {"Fn::Join": ["", [resource, "-other"]]}
            yield "Resource", f"names another in number {position}", replaced(resources, position, longer)


def _narrowed_principal(statement: Mapping[str, Any]) -> Iterator[Change]:
    for words, principal in (
        ("another account", {"AWS": ROOT_OF_ANOTHER}),
        ("its own account", {"AWS": OWN_ROOT}),
        ("one role", {"AWS": OWN_ROLE}),
        ("services", {"Service": "s3.amazonaws.com"}),
    ):
        yield "Principal", f"narrows to {words}", principal
    rest = {key: item for key, item in statement.items() if key != "Principal"}
    yield None, "leaves out a role by NotPrincipal", {**rest, "NotPrincipal": {"AWS": [OWN_ROLE]}}


def _weakened_conditions(condition: Mapping[str, Any]) -> Iterator[Change]:
    for operator, pairs in condition.items():
        for key, value in pairs.items():

            def becomes(
                new_operator: str, new_key: str, new: Any, operator: str = operator, key: str = key
            ) -> Any:
                rest = {name: item for name, item in condition[operator].items() if name != key}
                kept = {name: item for name, item in condition.items() if name != operator}
                if rest:
                    kept[operator] = rest
                return merged(kept, {new_operator: {new_key: new}})

            where = f"{operator} {key}"
            if operator.startswith(("Arn", "String")):
                yield from _more_exempt(where, operator, key, listed(value), becomes)
            elif isinstance(value, str):
                flipped = "true" if value == "false" else "false"
                yield "Condition", f"{where} becomes {flipped}", becomes(operator, key, flipped)
            yield (
                "Condition",
                f"{where} is about another key",
                becomes(operator, "aws:PrincipalTag/team", value),
            )
            positive = operator.replace("Not", "") if "Not" in operator else None
            if positive is not None:
                yield "Condition", f"{where} becomes {positive}", becomes(positive, key, value)
            yield "Condition", f"{where} becomes Null", becomes("Null", key, "true")


def _more_exempt(
    where: str, operator: str, key: str, values: list[Any], becomes: Callable[..., Any]
) -> Iterator[Change]:
    for words, more in (
        ("a role of another account", ROLE_OF_ANOTHER),
        ("a role", OWN_ROLE),
        ("the account's root user", OWN_ROOT),
        ("another account", ROOT_OF_ANOTHER),
    ):
        yield "Condition", f"{where} exempts {words}", becomes(operator, key, [*values, more])
    for words, pattern in (
        ("everybody", "*"),
        ("roles of every account", "arn:aws:iam::*:role/*"),
        ("all roles of the account", OWN_ROLES),
        ("roles of single sign-on", OWN_SSO_ROLES),
    ):
        loose = operator.replace("Equals", "Like")
        yield "Condition", f"{where} exempts {words}", becomes(loose, key, [*values, pattern])
    yield "Condition", f"{where} exempts everybody in an equality", becomes(operator, key, [*values, "*"])
