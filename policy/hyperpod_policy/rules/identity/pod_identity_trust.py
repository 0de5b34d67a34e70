"""Only EKS Pod Identity takes the roles that it hands to pods."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.iam import (
    POD_IDENTITY_CLUSTER_TAG,
    POD_IDENTITY_NAMESPACE_TAG,
    POD_IDENTITY_SERVICE,
    POD_IDENTITY_SERVICE_ACCOUNT_TAG,
    POD_IDENTITY_TRUST_ACTIONS,
)
from hyperpod_policy.iam import patterns
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.identities import role_of
from hyperpod_policy.pod_roles import TRUST, associations, pod_identity_roles
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Text, Unresolved

_ALLOWED = f"that only {POD_IDENTITY_SERVICE} takes it, by {' and '.join(POD_IDENTITY_TRUST_ACTIONS)}"
_TAGS = tuple(
    f"aws:RequestTag/{tag}"
    for tag in (POD_IDENTITY_CLUSTER_TAG, POD_IDENTITY_NAMESPACE_TAG, POD_IDENTITY_SERVICE_ACCOUNT_TAG)
)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the roles of all associations, and the roles that wait for one."""
    judged: set[str] = set()
    for association in associations(template):
        role = role_of(template, association.role_arn)
        if role is None:
            found = f"role {association.role_arn} is not in this template"
            yield undetermined(association.holder, *association.path, found=found, allowed=_ALLOWED)
        elif role.key not in judged:
            judged.add(role.key)
            yield from _judge(role)
    for role in pod_identity_roles(template):
        if role.key not in judged:
            yield undetermined(
                role,
                found=f"trusts {POD_IDENTITY_SERVICE}, and no association in this template hands it to pods",
                allowed="a service account that is associated with the role",
            )
            yield from _judge(role)


def _judge(role: Resource) -> Iterator[Verdict]:
    verdicts: list[Verdict] = []
    taken: set[str] = set()
    for statement in statements_of(role, TRUST):
        if isinstance(statement, Unresolved):
            verdicts.append(undetermined(role, TRUST, found=f"is {statement}", allowed=_ALLOWED))
        elif statement.effect == "Allow":
            strangers = [*_strangers(role, statement)]
            verdicts += strangers
            if not strangers:
                taken.update(_actions(statement))
                verdicts += _unbound(role, statement)
    missing = [action for action in POD_IDENTITY_TRUST_ACTIONS if action not in taken]
    if missing and not any(verdict.outcome != "pass" for verdict in verdicts):
        found = f"does not let {POD_IDENTITY_SERVICE} {' and '.join(missing)}"
        verdicts = [failed(role, TRUST, found=found, allowed=_ALLOWED)]
    yield from verdicts if verdicts else [passed(role, TRUST)]


def _strangers(role: Resource, statement: Statement) -> Iterator[Verdict]:
    if statement.not_principal:
        found = "trusts everybody but those in NotPrincipal"
        yield failed(role, *statement.path, found=found, allowed=_ALLOWED)
        return
    for kind, value in statement.principals:
        if (kind, value) != ("Service", POD_IDENTITY_SERVICE):
            answer = undetermined if isinstance(value, Unresolved) and not isinstance(value, Text) else failed
            found = f"trusts {'everybody' if value == '*' else f'{kind} {value}'}"
            yield answer(role, *statement.path, found=found, allowed=_ALLOWED)


def _actions(statement: Statement) -> Iterator[str]:
    for action in POD_IDENTITY_TRUST_ACTIONS:
        if any(
            patterns.every(pattern, action.lower(), ignore_case=True) is not False
            for pattern in statement.actions
        ):
            yield action


def _unbound(role: Resource, statement: Statement) -> Iterator[Verdict]:
    """Warn of a trust that takes any association of the account."""
    keys = {condition.key.lower() for condition in statement.conditions if _binds(condition)}
    missing = [tag for tag in _TAGS if tag.lower() not in keys]
    if missing and statement.complete and any(action for action in _actions(statement)):
        yield failed(
            role,
            *statement.path,
            found="takes sessions of every cluster, namespace and service account of the account",
            allowed=f"conditions on {', '.join(_TAGS)}",
            fix="add the conditions; TrainingPodRole has them",
            severity="warning",
        )


def _binds(condition: Condition) -> bool:
    """Whether a condition demands some values of a tag; EKS Pod Identity sets all, so that none is absent."""
    return (
        not condition.negated
        and "Null" not in condition.operator
        and not any(isinstance(value, str) and value.strip("*?") == "" for value in condition.values)
    )


RULE = Rule(
    id="PodIdentityTrust",
    title="only EKS Pod Identity takes the roles of its associations",
    severity="error",
    why=(
        "Without sts:TagSession no pod gets credentials, and the job dies at its first call. A further "
        "principal writes checkpoints, and so runs code in the training, without ever being a pod."
    ),
    fix=(
        f"let the trust policy allow {' and '.join(POD_IDENTITY_TRUST_ACTIONS)} to the service "
        f"{POD_IDENTITY_SERVICE} and to nobody else, and associate a service account with the role"
    ),
    source="EKS user guide, pod-id-role and pod-id-abac",
    check=check,
)
