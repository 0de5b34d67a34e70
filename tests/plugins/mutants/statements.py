"""Weakenings of the statements of policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mutants.mutant import GONE, Mutant, Path, Template, at, mutant
from mutants.properties import ANOTHER_ACCOUNT

_ROOT_OF_ANOTHER = f"arn:aws:iam::{ANOTHER_ACCOUNT}:root"
_ROLE_OF_ANOTHER = f"arn:aws:iam::{ANOTHER_ACCOUNT}:role/somebody"
_OWN_ROLE = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/somebody"}
_OWN_ROOT = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
_OWN_ROLES = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/*"}
_OWN_SSO_ROLES = {
    "Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/aws-reserved/sso.amazonaws.com/*"
}

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

DOCUMENTS = ("PolicyDocument", "AssumeRolePolicyDocument", "KeyPolicy")


def statement_mutants(template: Template, name: str) -> Iterator[Mutant]:
    """Every weakening of the statements of a resource."""
    properties = template["Resources"][name].get("Properties", {})
    for path in _documents(properties, ()):
        listed = at(properties, (*path, "Statement"))
        for position, statement in enumerate(listed):
            place = (*path, "Statement", position)
            denies = statement["Effect"] == "Deny"
            yield mutant(template, name, place, f"{'denial' if denies else 'permission'} is gone", GONE)
            weaken = _weakened_denial if denies else _widened_permission
            for member, change, value in weaken(statement):
                if member is None:
                    yield mutant(template, name, place, change, value)
                else:
                    yield mutant(template, name, (*place, member), change, value)
        for change, added in _added(path[-1], properties):
            yield mutant(template, name, (*path, "Statement"), f"gets {change}", [*listed, added])


def _documents(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in DOCUMENTS and isinstance(item, Mapping) and "Statement" in item:
                yield (*path, key)
            else:
                yield from _documents(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _documents(item, (*path, position))


Change = tuple[str | None, str, Any]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _without(values: list[Any], position: int) -> list[Any]:
    return [*values[:position], *values[position + 1 :]]


def _replaced(values: list[Any], position: int, value: Any) -> list[Any]:
    return [*values[:position], value, *values[position + 1 :]]


# Denials


def _weakened_denial(statement: Mapping[str, Any]) -> Iterator[Change]:
    yield None, "becomes a permission", {**statement, "Effect": "Allow"}
    actions = _listed(statement["Action"])
    for position, action in enumerate(actions):
        if len(actions) > 1:
            yield "Action", f"lacks {action}", _without(actions, position)
        if "*" in action:
            narrower = action.replace("*", "Object" if action == "s3:*" else "").removesuffix(":")
            yield "Action", f"narrows {action} to {narrower}", _replaced(actions, position, narrower)
    named = {key: item for key, item in statement.items() if key != "Action"}
    yield None, "denies all but what it denied", {**named, "NotAction": actions}
    yield from _narrowed_resources(statement)
    yield from _narrowed_principal(statement)
    condition = statement.get("Condition", {})
    for words, more in _ONLY_IF.items():
        yield "Condition", f"holds only for requests {words}", _merged(condition, more)
    yield from _weakened_conditions(condition)


def _merged(condition: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **condition,
        **{operator: {**condition.get(operator, {}), **pairs} for operator, pairs in more.items()},
    }


def _narrowed_resources(statement: Mapping[str, Any]) -> Iterator[Change]:
    resources = _listed(statement["Resource"])
    for position, resource in enumerate(resources):
        if len(resources) > 1:
            yield "Resource", f"lacks number {position}", _without(resources, position)
        if "Fn::Join" in resource and resource["Fn::Join"][1][-1] == "/*":
            inside = {"Fn::Join": ["", [*resource["Fn::Join"][1][:-1], "/some/*"]]}
            yield "Resource", f"narrows number {position} to a prefix", _replaced(resources, position, inside)
        else:
            longer = {"Fn::Join": ["", [resource, "-other"]]}
            yield "Resource", f"names another in number {position}", _replaced(resources, position, longer)


def _narrowed_principal(statement: Mapping[str, Any]) -> Iterator[Change]:
    for words, principal in (
        ("another account", {"AWS": _ROOT_OF_ANOTHER}),
        ("its own account", {"AWS": _OWN_ROOT}),
        ("one role", {"AWS": _OWN_ROLE}),
        ("services", {"Service": "s3.amazonaws.com"}),
    ):
        yield "Principal", f"narrows to {words}", principal
    rest = {key: item for key, item in statement.items() if key != "Principal"}
    yield None, "leaves out a role by NotPrincipal", {**rest, "NotPrincipal": {"AWS": [_OWN_ROLE]}}


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
                return _merged(kept, {new_operator: {new_key: new}})

            where = f"{operator} {key}"
            if operator.startswith(("Arn", "String")):
                yield from _more_exempt(where, operator, key, _listed(value), becomes)
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
        ("a role of another account", _ROLE_OF_ANOTHER),
        ("a role", _OWN_ROLE),
        ("the account's root user", _OWN_ROOT),
        ("another account", _ROOT_OF_ANOTHER),
    ):
        yield "Condition", f"{where} exempts {words}", becomes(operator, key, [*values, more])
    for words, pattern in (
        ("everybody", "*"),
        ("roles of every account", "arn:aws:iam::*:role/*"),
        ("all roles of the account", _OWN_ROLES),
        ("roles of single sign-on", _OWN_SSO_ROLES),
    ):
        loose = operator.replace("Equals", "Like")
        yield "Condition", f"{where} exempts {words}", becomes(loose, key, [*values, pattern])
    yield "Condition", f"{where} exempts everybody in an equality", becomes(operator, key, [*values, "*"])


# Permissions


def _widened_permission(statement: Mapping[str, Any]) -> Iterator[Change]:
    actions = _listed(statement["Action"])
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
    resources = _listed(statement["Resource"])
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
            yield "Resource", f"number {position} goes on with *", _replaced(resources, position, whole)


def _widened_principal(statement: Mapping[str, Any]) -> Iterator[Change]:
    principal = statement["Principal"]
    assumed = str(statement["Action"]).find("sts:") >= 0
    for words, wider in (
        ("everybody", "*"),
        ("every account", {"AWS": "*"}),
        ("another account", {"AWS": _ROOT_OF_ANOTHER}),
        ("its own account", {"AWS": _OWN_ROOT}),
        ("a role of another account", {"AWS": _ROLE_OF_ANOTHER}),
        ("another role", {"AWS": _OWN_ROLE}),
        ("another service", {"Service": "ec2.amazonaws.com"}),
        *((("a provider", {"Federated": "cognito-identity.amazonaws.com"}),) if assumed else ()),
    ):
        if wider != principal and not (words == "its own account" and ":root" in str(principal)):
            yield "Principal", f"becomes {words}", wider
    for kind, values in principal.items() if isinstance(principal, Mapping) else ():
        more = {"Service": "ec2.amazonaws.com", "AWS": _ROLE_OF_ANOTHER}.get(kind)
        if more is not None:
            yield "Principal", f"gets another {kind}", {**principal, kind: [*_listed(values), more]}
        other = {"Service": ("AWS", _ROOT_OF_ANOTHER), "AWS": ("Service", "ec2.amazonaws.com")}.get(kind)
        if other is not None and other[0] not in principal:
            yield "Principal", f"gets one of {other[0]}", {**principal, other[0]: other[1]}
    rest = {key: item for key, item in statement.items() if key != "Principal"}
    yield None, "admits all but one by NotPrincipal", {**rest, "NotPrincipal": {"AWS": _ROLE_OF_ANOTHER}}


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
                ("may be another's", operator, [*_listed(value), another]),
            ):
                yield (
                    "Condition",
                    f"{operator} {key} {words}",
                    _merged(everything, {new_operator: {key: new}}),
                )


def _added(document: Any, properties: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Statements that open what the others guard."""
    if document == "AssumeRolePolicyDocument":
        for words, principal in (
            ("trust of another account", {"AWS": _ROOT_OF_ANOTHER}),
            ("trust of everybody", {"AWS": "*"}),
            ("trust of its own account", {"AWS": _OWN_ROOT}),
        ):
            yield words, {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
        return
    if document == "KeyPolicy":
        for action in ("kms:*", "kms:Decrypt", "kms:CreateGrant", "kms:PutKeyPolicy", "kms:GenerateDataKey"):
            for words, principal in (("another account", _ROOT_OF_ANOTHER), ("everybody", "*")):
                yield (
                    f"{action} for {words}",
                    {"Effect": "Allow", "Principal": {"AWS": principal}, "Action": action, "Resource": "*"},
                )
        return
    if "Bucket" in properties:
        bucket = {"Fn::Sub": f"arn:${{AWS::Partition}}:s3:::${{{properties['Bucket']['Ref']}}}"}
        objects = {"Fn::Sub": f"{bucket['Fn::Sub']}/*"}
        for action, resource in (
            ("s3:*", [bucket, objects]),
            ("s3:GetObject", objects),
            ("s3:PutObject", objects),
            ("s3:ListBucket", bucket),
            ("s3:PutBucketPolicy", bucket),
        ):
            for words, principal in (
                ("another account", {"AWS": _ROOT_OF_ANOTHER}),
                ("everybody", "*"),
                ("a service", {"Service": "ec2.amazonaws.com"}),
            ):
                yield (
                    f"{action} for {words}",
                    {"Effect": "Allow", "Principal": principal, "Action": action, "Resource": resource},
                )
        return
    for words, action in (
        ("everything", "*"),
        ("the passing of roles", "iam:PassRole"),
        ("the taking of roles", "sts:AssumeRole"),
        ("all of S3", "s3:*"),
        ("all of KMS", "kms:*"),
        ("writes to every bucket", "s3:PutObject"),
        ("bucket policies", "s3:PutBucketPolicy"),
        ("key policies", "kms:PutKeyPolicy"),
        ("the change of roles", "iam:PutRolePolicy"),
        ("the change of functions", "lambda:UpdateFunctionCode"),
        ("the change of clusters", "sagemaker:UpdateCluster"),
        ("the change of security groups", "ec2:AuthorizeSecurityGroupIngress"),
        ("secrets", "secretsmanager:GetSecretValue"),
        ("sessions on instances", "ssm:StartSession"),
    ):
        yield words, {"Effect": "Allow", "Action": action, "Resource": "*"}
