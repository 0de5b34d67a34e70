"""A role for a service account is for exactly that one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.iam import SERVICE_ACCOUNT_TOKEN_AUDIENCE, service_account_subject
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.pod_roles import token_conditions, token_statements
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Dynamic, Expression, Parameter, Text

_EXACT: Final = ("StringEquals", "StringLike")
_SUBJECT: Final = service_account_subject("<namespace>", "<name>")
_SUBJECT_START: Final = service_account_subject("", "").removesuffix(":")


def check(template: Template) -> Iterator[Verdict]:
    """Judge each statement by which a role trusts the tokens of an EKS cluster."""
    for role, statement in token_statements(template):
        conditions, complete = token_conditions(statement)
        verdicts = [
            *_judge(role, statement, conditions, complete, "aud", SERVICE_ACCOUNT_TOKEN_AUDIENCE),
            *_judge(role, statement, conditions, complete, "sub", _SUBJECT),
        ]
        yield from verdicts if verdicts else [passed(role, *statement.path)]


def _judge(
    role: Resource,
    statement: Statement,
    conditions: list[Condition],
    complete: bool,
    claim: str,
    wanted: str,
) -> Iterator[Verdict]:
    allowed = f"StringEquals on <issuer>:{claim} with {wanted}, without wildcards"
    path = (*statement.path, "Condition")
    about = [condition for condition in conditions if condition.key.endswith(f":{claim}")]
    exact = [condition for condition in about if condition.operator in _EXACT]
    if not exact:
        if not complete:
            found = f"whether it names {claim} is not in this template"
            yield undetermined(role, *path, found=found, allowed=allowed)
            return
        found = (
            f"only asks for {about[0]}, which holds for tokens that it should not take"
            if about
            else f"takes tokens whatever their {claim} is"
        )
        yield failed(role, *path, found=found, allowed=allowed)
        return
    for condition in exact:
        for value in condition.values:
            if isinstance(value, Parameter | Dynamic | Expression):
                found = f"takes {claim} {value}"
                yield undetermined(role, *path, found=found, allowed=allowed)
            elif wildcard(value) or not _fits(claim, value):
                found = f"takes {claim} {value}"
                yield failed(role, *path, found=found, allowed=allowed)


def _fits(claim: str, value: Any) -> bool:
    if claim == "aud":
        return bool(value == SERVICE_ACCOUNT_TOKEN_AUDIENCE)
    start = value.parts[0] if isinstance(value, Text) else value
    return not isinstance(start, str) or start.startswith(_SUBJECT_START)


RULE = Rule(
    id="ServiceAccountTrust",
    title="a role for a service account (IRSA) demands exactly its audience and subject",
    severity="error",
    why=(
        "The issuer signs a token for every service account of the cluster. A trust without sub, or with a "
        "wildcard in it, gives the role to every pod that anybody may start; without aud, to tokens made "
        "for another service."
    ),
    fix=(
        "compare both claims with StringEquals and full values; TrainingPodRole.irsa does, through a CfnJson "
        "where the issuer is known at deployment only"
    ),
    source="EKS user guide, iam-roles-for-service-accounts",
    check=check,
)
