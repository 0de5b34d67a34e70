"""Says what a resource policy denies or allows a request, by IAM's rules, for the elements these tests meet.

A stand-in for the service's evaluation, written from IAM's documented logic and independent of the
constructs: an explicit denial wins; a negated operator matches when its key is absent; ``IfExists`` matches
when its key is absent. Anything it does not know raises, so that no statement passes unjudged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

ACCOUNT = "111122223333"
REGION = "us-west-2"
PARTITION = "aws"


@dataclass(frozen=True)
class Request:
    action: str
    resource: str
    keys: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    service: str | None = None
    federated: str | None = None


def role_request(action: str, resource: str, role_arn: str) -> Request:
    """What a session of a role asks: its aws:PrincipalArn is the role's ARN, not the session's."""
    return Request(
        action,
        resource,
        {"aws:PrincipalArn": role_arn, "aws:PrincipalIsAWSService": "false", "aws:SecureTransport": "true"},
    )


def anonymous_request(action: str, resource: str) -> Request:
    return Request(action, resource, {"aws:SecureTransport": "true", "aws:PrincipalIsAWSService": "false"})


def service_request(action: str, resource: str, service: str, **keys: str) -> Request:
    return Request(
        action,
        resource,
        {
            "aws:PrincipalIsAWSService": "true",
            "aws:PrincipalServiceName": service,
            "aws:SecureTransport": "true",
            **{f"aws:{name}": value for name, value in keys.items()},
        },
        service,
    )


def pod_identity_request(action: str, *, cluster_arn: str, namespace: str, service_account: str) -> Request:
    """What EKS Pod Identity asks of a role's trust for a pod, with the tags that it sets itself."""
    tags = {
        "eks-cluster-arn": cluster_arn,
        "eks-cluster-name": cluster_arn.rpartition("/")[2],
        "kubernetes-namespace": namespace,
        "kubernetes-service-account": service_account,
        "kubernetes-pod-name": "worker-0",
        "kubernetes-pod-uid": "00000000-0000-0000-0000-000000000000",
    }
    keys = {f"aws:RequestTag/{name}": value for name, value in tags.items()}
    return Request(action, "*", keys, "pods.eks.amazonaws.com")


def token_request(
    *, issuer: str, subject: str, audience: str = "sts.amazonaws.com", account: str = ACCOUNT
) -> Request:
    """What the bearer of a service account's token asks of a role's trust."""
    return Request(
        "sts:AssumeRoleWithWebIdentity",
        "*",
        {f"{issuer}:aud": audience, f"{issuer}:sub": subject},
        federated=f"arn:{PARTITION}:iam::{account}:oidc-provider/{issuer}",
    )


def evaluate_trust(document: Mapping[str, Any], request: Request) -> Literal["deny", "allow", "silent"]:
    """The same for the trust policy of a role, whose only resource is the role itself."""
    statements = [{**statement, "Resource": "*"} for statement in document["Statement"]]
    return evaluate({"Statement": statements}, request)


def evaluate(document: Mapping[str, Any], request: Request) -> Literal["deny", "allow", "silent"]:
    """Whether a resolved document denies or allows a request, or says nothing of it."""
    verdict: Literal["deny", "allow", "silent"] = "silent"
    for statement in document["Statement"]:
        if _applies(statement, request):
            if statement["Effect"] == "Deny":
                return "deny"
            verdict = "allow"
    return verdict


def _applies(statement: Mapping[str, Any], request: Request) -> bool:
    unknown = set(statement) - {"Sid", "Effect", "Principal", "Action", "Resource", "Condition"}
    if unknown:
        raise NotImplementedError(f"statement elements {sorted(unknown)}")
    return (
        _principal_matches(statement.get("Principal", "*"), request)
        and any(_like(request.action.lower(), pattern.lower()) for pattern in _list(statement["Action"]))
        and any(_like(request.resource, pattern) for pattern in _list(statement["Resource"]))
        and all(
            _condition_holds(operator, key, _list(values), request)
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
    )


def _principal_matches(principal: Any, request: Request) -> bool:
    if principal in ("*", {"AWS": "*"}):
        return True
    if set(principal) == {"Service"}:
        return request.service in _list(principal["Service"])
    if set(principal) == {"Federated"}:
        return request.federated in _list(principal["Federated"])
    raise NotImplementedError(f"principal {principal}")


def _condition_holds(operator: str, key: str, values: Iterable[str], request: Request) -> bool:
    if operator.startswith("ForAllValues:"):
        asked = request.keys.get(key, ())
        return all(
            _condition_holds(
                operator.removeprefix("ForAllValues:"), key, values, replace(request, keys={key: one})
            )
            for one in (asked if isinstance(asked, tuple) else (asked,))
        )
    if_exists = operator.endswith("IfExists")
    operator = operator.removesuffix("IfExists")
    actual = request.keys.get(key)
    negated = operator in ("ArnNotEquals", "ArnNotLike", "StringNotEquals", "StringNotLike")
    if actual is None:
        return negated or if_exists
    if isinstance(actual, tuple):
        raise NotImplementedError(f"operator {operator} on several values")
    values = [_filled_in(value, request) for value in values]
    if operator in ("ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike", "StringLike", "StringNotLike"):
        matches = any(_like(actual, value) for value in values)
    elif operator in ("StringEquals", "StringNotEquals", "Bool"):
        matches = any(actual == str(value) for value in values)
    else:
        raise NotImplementedError(f"operator {operator}")
    return matches != negated


def _filled_in(value: Any, request: Request) -> str:
    """A value of a condition, with the policy variables of the request."""
    text = str(value)
    for name in re.findall(r"\$\{([^}]*)\}", text):
        replacement = request.keys.get(name)
        if not isinstance(replacement, str):
            raise NotImplementedError(f"policy variable {name} without a value")
        text = text.replace(f"${{{name}}}", replacement)
    return text


def _like(text: str, pattern: str) -> bool:
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def resolve(value: Any, template: Mapping[str, Any]) -> Any:
    """Write out the intrinsic functions of a template with made-up physical names: ``name-<logical id>``."""
    if isinstance(value, list):
        return [resolve(item, template) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (function, argument), *_ = value.items()
        if function == "Ref":
            return _PSEUDO.get(argument) or f"name-{argument}"
        if function == "Fn::GetAtt":
            return _arn(argument[0], argument[1], template)
        if function == "Fn::Join":
            return argument[0].join(resolve(argument[1], template))
        if function == "Fn::Split":
            return resolve(argument[1], template).split(argument[0])
        if function == "Fn::Sub":
            for name, pseudo in _PSEUDO.items():
                argument = argument.replace(f"${{{name}}}", pseudo)
            return argument
        if function.startswith("Fn::"):
            raise NotImplementedError(function)
    return {key: resolve(item, template) for key, item in value.items()}


def arn_of(logical_id: str, template: Mapping[str, Any]) -> str:
    """The made-up ARN of a resource."""
    return _arn(logical_id, "Arn", template)


_PSEUDO = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Region": REGION,
    "AWS::Partition": PARTITION,
    "AWS::URLSuffix": "amazonaws.com",
}


def _arn(logical_id: str, attribute: str, template: Mapping[str, Any]) -> str:
    if attribute != "Arn":
        raise NotImplementedError(attribute)
    kind = template["Resources"][logical_id]["Type"]
    return {
        "AWS::S3::Bucket": f"arn:aws:s3:::name-{logical_id}",
        "AWS::IAM::Role": f"arn:aws:iam::{ACCOUNT}:role/name-{logical_id}",
        "AWS::KMS::Key": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/name-{logical_id}",
        "AWS::EKS::Cluster": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/name-{logical_id}",
    }[kind]
