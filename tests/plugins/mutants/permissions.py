"""Widenings of a permission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mutants.changes import Change, listed, merged, replaced
from mutants.principals import ANOTHER_ACCOUNT, OWN_ROLE, OWN_ROOT, ROLE_OF_ANOTHER, ROOT_OF_ANOTHER


def widened_permission(statement: Mapping[str, Any]) -> Iterator[Change]:
    actions = listed(statement["Action"])
    services = sorted({action.partition(":")[0] for action in actions})
    is_trust = "Resource" not in statement
    if not is_trust:  # IAM refuses another service's actions in a trust policy
        yield "Action", "becomes *", "*"
    for service in services:
        if f"{service}:*" not in actions:
            yield "Action", f"becomes {service}:*", [*actions, f"{service}:*"]
    rest = {key: item for key, item in statement.items() if key != "Action"}
    if not is_trust:
        yield None, "allows all but some", {**rest, "NotAction": "iam:DeleteRole"}
        yield from _widened_resource(statement)
    if "Principal" in statement:
        yield from _widened_principal(statement)
    yield from _widened_condition(statement.get("Condition", {}), statement)


def _widened_resource(statement: Mapping[str, Any]) -> Iterator[Change]:
    resources = listed(statement["Resource"])
    if resources == ["*"]:
        return
    if "Principal" not in statement:  # S3 refuses a bucket policy that is about more than the bucket
        yield "Resource", "becomes *", "*"
        yield "Resource", "gets *", [*resources, "*"]
        rest = {key: item for key, item in statement.items() if key != "Resource"}
        yield None, "is about all but one resource", {**rest, "NotResource": "arn:aws:s3:::somebodys-bucket"}
    for position, resource in enumerate(resources):
        if "Fn::GetAtt" in resource or "Fn::Join" in resource:
            whole = {"Fn::Join": ["", [resource, "*"]]}
            yield "Resource", f"number {position} goes on with *", replaced(resources, position, whole)


def _widened_principal(statement: Mapping[str, Any]) -> Iterator[Change]:
    principal = statement["Principal"]
    assumed = str(statement["Action"]).find("sts:") >= 0
    for words, wider in (
        ("everybody", "*"),
        ("every account", {"AWS": "*"}),
        ("another account", {"AWS": ROOT_OF_ANOTHER}),
        ("its own account", {"AWS": OWN_ROOT}),
        ("a role of another account", {"AWS": ROLE_OF_ANOTHER}),
        ("another role", {"AWS": OWN_ROLE}),
        ("another service", {"Service": "ec2.amazonaws.com"}),
        *((("a provider", {"Federated": "cognito-identity.amazonaws.com"}),) if assumed else ()),
    ):
        if wider != principal and not (words == "its own account" and ":root" in str(principal)):
            yield "Principal", f"becomes {words}", wider
    for kind, values in principal.items() if isinstance(principal, Mapping) else ():
        more = {"Service": "ec2.amazonaws.com", "AWS": ROLE_OF_ANOTHER}.get(kind)
        if more is not None:
            yield "Principal", f"gets another {kind}", {**principal, kind: [*listed(values), more]}
        other = {"Service": ("AWS", ROOT_OF_ANOTHER), "AWS": ("Service", "ec2.amazonaws.com")}.get(kind)
        if other is not None and other[0] not in principal:
            yield "Principal", f"gets one of {other[0]}", {**principal, other[0]: other[1]}
    rest = {key: item for key, item in statement.items() if key != "Principal"}
    yield None, "admits all but one by NotPrincipal", {**rest, "NotPrincipal": {"AWS": ROLE_OF_ANOTHER}}


def _widened_condition(condition: Mapping[str, Any], statement: Mapping[str, Any]) -> Iterator[Change]:
    if not condition:
        return
    yield None, "has no condition", {key: item for key, item in statement.items() if key != "Condition"}
    for operator, pairs in condition.items():
        for key, value in pairs.items():
            rest = {name: item for name, item in pairs.items() if name != key}
            others = {name: item for name, item in condition.items() if name != operator}
            if len(pairs) > 1 or others:
                kept = {**others, **({operator: rest} if rest else {})}
                yield "Condition", f"lacks {operator} {key}", kept
            loose = operator.replace("Equals", "Like")
            another = f"arn:aws:*:*:{ANOTHER_ACCOUNT}:*" if "Arn" in operator else ANOTHER_ACCOUNT
            everything = {**others, operator: rest} if rest else others
            for words, new_operator, new in (
                ("is everything", loose, "*"),
                ("need not be there", f"{operator}IfExists", value),
                ("is negated", operator.replace("String", "StringNot").replace("Arn", "ArnNot"), value),
                ("is for all values", f"ForAllValues:{operator}", value),
                ("may be another's", operator, [*listed(value), another]),
            ):
                yield (
                    "Condition",
                    f"{operator} {key} {words}",
                    merged(everything, {new_operator: {key: new}}),
                )
