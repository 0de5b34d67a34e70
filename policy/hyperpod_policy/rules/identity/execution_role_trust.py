"""Only SageMaker takes the nodes' role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_model.catalog.iam import EXECUTION_ROLE_SERVICE
from hyperpod_policy.clusters import distinct, execution_roles
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.identities import role_of
from hyperpod_policy.privileges import covers
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Text, Unresolved

_DOCUMENT = "AssumeRolePolicyDocument"
_ALLOWED = f"only {EXECUTION_ROLE_SERVICE} may assume it"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the trust policy of each execution role."""
    for used, _ in distinct(execution_roles(template)):
        role = role_of(template, used.value)
        if role is None:
            yield undetermined(
                used.cluster, *used.path, found=f"role {used.value} is not in this template", allowed=_ALLOWED
            )
            continue
        verdicts: list[Verdict] = []
        trusts_service = False
        for statement in statements_of(role, _DOCUMENT):
            if isinstance(statement, Unresolved):
                verdicts.append(undetermined(role, _DOCUMENT, found=f"is {statement}", allowed=_ALLOWED))
                continue
            if statement.effect != "Allow":
                continue
            if statement.not_principal:
                found = "trusts everybody but those in NotPrincipal"
                verdicts.append(failed(role, *statement.path, found=found, allowed=_ALLOWED))
                continue
            strangers = [
                (kind, value) for kind, value in statement.principals if not _is_service(kind, value)
            ]
            assumes = covers(statement, "sts:AssumeRole") or not statement.complete
            trusts_service = trusts_service or (assumes and len(strangers) < len(statement.principals))
            for kind, value in strangers:
                answer = (
                    undetermined if isinstance(value, Unresolved) and not isinstance(value, Text) else failed
                )
                found = f"trusts {'everybody' if value == '*' else f'{kind} {value}'}"
                verdicts.append(answer(role, *statement.path, found=found, allowed=_ALLOWED))
            verdicts += _conditions(statement)
        if not trusts_service and not verdicts:
            found = f"does not trust {EXECUTION_ROLE_SERVICE}"
            verdicts.append(failed(role, _DOCUMENT, found=found, allowed=_ALLOWED))
        yield from verdicts if verdicts else [passed(role, _DOCUMENT)]


def _is_service(kind: str, value: Any) -> bool:
    return kind == "Service" and value == EXECUTION_ROLE_SERVICE


def _conditions(statement: Statement) -> Iterator[Verdict]:
    for condition in statement.conditions:
        if condition.key.lower() in ("aws:sourcearn", "aws:sourceaccount"):
            yield failed(
                statement.holder,
                *statement.path,
                found=f"asks for {condition.key}, which HyperPod is not documented to send",
                allowed=_ALLOWED,
                fix="remove the condition, or acknowledge the finding once a cluster was created with it",
                severity="warning",
            )


RULE = Rule(
    id="ExecutionRoleTrust",
    title="only SageMaker assumes the nodes' execution role",
    severity="error",
    why=(
        "The role writes checkpoints on Slurm and reads whatever jobs read. Every further principal that "
        "may assume it is a way into the training without going through the cluster."
    ),
    fix=(
        f"let the trust policy allow sts:AssumeRole to the service {EXECUTION_ROLE_SERVICE} and to nobody "
        "else"
    ),
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites-iam (execution role)",
    check=check,
)
