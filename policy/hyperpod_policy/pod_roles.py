"""Roles that pods of a cluster take, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_model.catalog.iam import POD_IDENTITY_SERVICE, SERVICE_ACCOUNT_TOKEN_ACTION
from hyperpod_model.faults import FaultPath
from hyperpod_policy.eks_clusters import EKS_CLUSTER, orchestrations
from hyperpod_policy.iam import patterns
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.identities import ROLE, role_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, resources_in, single

TRUST: Final = "AssumeRolePolicyDocument"

_ASSOCIATION: Final = "AWS::EKS::PodIdentityAssociation"
_ADD_ON: Final = "AWS::EKS::Addon"
_PROVIDERS: Final = ("AWS::IAM::OIDCProvider", "Custom::AWSCDKOpenIdConnectProvider")
_EKS_ISSUER: Final = "oidc.eks"


@dataclass(frozen=True, slots=True)
class Association:
    """A service account that gets a role through EKS Pod Identity.

    Attributes:
        role_arn: ARN of the role, as resolved.
        holder: The association, or the add-on that has it.
        path: Where in it.
    """

    role_arn: Any
    holder: Resource
    path: FaultPath


def associations(template: Template) -> list[Association]:
    """Return the Pod Identity associations of templates in which EKS orchestrates a HyperPod cluster."""
    return template.once(_associations)


def pod_roles(template: Template) -> list[Resource]:
    """Return the roles of the template that pods take, through EKS Pod Identity or a service account."""
    return template.once(_pod_roles)


def pod_identity_roles(template: Template) -> list[Resource]:
    """Return the roles of the template that trust EKS Pod Identity."""
    if not orchestrations(template):
        return []
    return [
        role
        for role in template.of_type(ROLE)
        if any(("Service", POD_IDENTITY_SERVICE) in statement.principals for statement in _trusting(role))
    ]


def token_statements(template: Template) -> list[tuple[Resource, Statement]]:
    """Return the statements by which roles trust tokens of an EKS cluster's service accounts (IRSA)."""
    return template.once(_token_statements)


def token_conditions(statement: Statement) -> tuple[list[Condition], bool]:
    """Return the conditions of a statement, and whether these are all.

    A condition key that holds an unresolved issuer is written with its text, such as ``<Issuer>:aud``.
    """
    block = statement.holder.get(*statement.path, "Condition")
    if block is None:
        return [], True
    if not isinstance(block, Mapping):
        return [], False
    found: list[Condition] = []
    complete = True
    for operator, pairs in block.items():
        if not isinstance(pairs, Mapping):
            complete = False
            continue
        for key, value in pairs.items():
            values, whole = elements(value)
            found.append(Condition(str(operator), str(key), tuple(map(single, values)), whole))
    return found, complete


def _associations(template: Template) -> list[Association]:
    if not orchestrations(template):
        return []
    found = [
        Association(single(resource.get("RoleArn")), resource, ("RoleArn",))
        for resource in template.of_type(_ASSOCIATION)
    ]
    for add_on in template.of_type(_ADD_ON):
        listed, _ = elements(add_on.get("PodIdentityAssociations"))
        for position, entry in enumerate(listed):
            if isinstance(entry, Mapping):
                path = ("PodIdentityAssociations", position, "RoleArn")
                found.append(Association(single(entry.get("RoleArn")), add_on, path))
    return found


def _pod_roles(template: Template) -> list[Resource]:
    found = {role.key: role for role, _ in token_statements(template)}
    for association in associations(template):
        role = role_of(template, association.role_arn)
        if role is not None:
            found[role.key] = role
    for role in pod_identity_roles(template):
        found[role.key] = role
    return list(found.values())


def _trusting(role: Resource) -> Iterator[Statement]:
    for statement in statements_of(role, TRUST):
        if isinstance(statement, Statement) and statement.effect == "Allow":
            yield statement


def _token_statements(template: Template) -> list[tuple[Resource, Statement]]:
    if not orchestrations(template):
        return []
    return [
        (role, statement)
        for role in template.of_type(ROLE)
        for statement in _trusting(role)
        if _takes_tokens(statement) and _is_of_eks(template, statement)
    ]


def _takes_tokens(statement: Statement) -> bool:
    action = SERVICE_ACCOUNT_TOKEN_ACTION.lower()
    return any(patterns.every(pattern, action, ignore_case=True) for pattern in statement.actions)


def _is_of_eks(template: Template, statement: Statement) -> bool:
    """Whether the issuer is that of an EKS cluster: by its name, its provider or what the conditions say."""
    for kind, value in statement.principals:
        if kind != "Federated":
            continue
        if _EKS_ISSUER in str(value):
            return True
        for key in resources_in(value):
            provider = template.by_key(key)
            if provider is not None and (
                provider.type == EKS_CLUSTER
                or (provider.type in _PROVIDERS and _is_eks_url(template, provider.get("Url")))
            ):
                return True
    conditions, _ = token_conditions(statement)
    return any(
        _EKS_ISSUER in condition.key
        or any("system:serviceaccount" in str(value) for value in condition.values)
        for condition in conditions
    )


def _is_eks_url(template: Template, url: Any) -> bool:
    if _EKS_ISSUER in str(url):
        return True
    found = (template.by_key(key) for key in resources_in(url))
    return any(resource is not None and resource.type == EKS_CLUSTER for resource in found)
