"""An isolated network reaches the account's buckets, and few others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.isolated_networks import endpoints_of, isolated_subnets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Dynamic, Expression, Parameter, Text, Unresolved

_DOCUMENT: Final = "PolicyDocument"
_PINS: Final = frozenset({"aws:resourceaccount", "s3:resourceaccount", "aws:resourceorgid"})
_PINNING: Final = frozenset({"StringEquals", "StringLike", "ForAllValues:StringEquals"})
_ALLOWED: Final = (
    "statements that name their buckets, or hold for buckets of listed accounts (aws:ResourceAccount)"
)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the policy of the S3 endpoint of each isolated network."""
    judged: set[str] = set()
    for isolated in isolated_subnets(template):
        endpoint = endpoints_of(template, isolated.subnet).get("s3")
        if endpoint is not None and endpoint.key not in judged:
            judged.add(endpoint.key)
            verdicts = [*_judge(endpoint)]
            yield from verdicts if verdicts else [passed(endpoint, _DOCUMENT)]


def _judge(endpoint: Resource) -> Iterator[Verdict]:
    if endpoint.get(_DOCUMENT) is None:
        yield failed(endpoint, _DOCUMENT, found="is not set: everything goes through", allowed=_ALLOWED)
    for statement in statements_of(endpoint, _DOCUMENT):
        if isinstance(statement, Unresolved):
            yield undetermined(endpoint, _DOCUMENT, found=f"is {statement}", allowed=_ALLOWED)
        elif statement.effect == "Allow" and not _is_pinned(statement):
            wide = [resource for resource in statement.resources if _any_bucket(resource) is not False]
            answer = failed if statement.not_resource or any(map(_any_bucket, wide)) else undetermined
            found = "allows every bucket but some" if statement.not_resource else f"allows {wide[0]}"
            yield answer(
                endpoint, *statement.path, found=f"{found}, whoever owns the bucket", allowed=_ALLOWED
            )


def _is_pinned(statement: Statement) -> bool:
    if any(
        condition.key.lower() in _PINS and condition.operator in _PINNING and "*" not in condition.values
        for condition in statement.conditions
    ):
        return True
    return not statement.not_resource and all(
        _any_bucket(resource) is False for resource in statement.resources
    )


def _any_bucket(resource: Any) -> bool | None:
    """Whether a pattern leaves the name of the bucket open."""
    if isinstance(resource, Parameter | Dynamic | Expression):
        return None
    parts = resource.parts if isinstance(resource, Text) else (resource,)
    text = "".join(part if isinstance(part, str) else "x" for part in parts)
    name = text.rpartition(":")[2].partition("/")[0]
    return name.startswith(("*", "?"))


RULE = Rule(
    id="S3EndpointPolicy",
    title="an isolated network reaches the account's buckets and named ones only",
    severity="error",
    why=(
        "An endpoint without such a policy reaches every bucket of every account: a job in a network "
        "without internet can still carry model weights out, or fetch code, through a bucket of a stranger."
    ),
    fix=(
        "allow buckets of the account by aws:ResourceAccount, and by name the few of AWS that nodes read; "
        "ClusterNetwork(isolated=True) does"
    ),
    source="S3 user guide, policies for VPC endpoints; data perimeter guidance, service-owned resources",
    check=check,
)
