"""Pods that take roles, by the service account they run with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_policy.identities import role_of
from hyperpod_policy.pod_roles import associations
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.draft import Draft
from hyperpod_policy.trust_map.model import Evidence, Node
from hyperpod_policy.trust_map.sayings import of_property, say


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods of one service account.

    Attributes:
        name: Namespace and service account, such as ``kubeflow/trainer``.
        evidence: What gives them the role.
    """

    name: str
    evidence: tuple[Evidence, ...]


def add_pods(draft: Draft, pods: Pods) -> str:
    """Add pods, and return their id."""
    namespace = pods.name.partition("/")[0]
    where = "any namespace" if namespace == "*" else f"namespace {namespace}"
    return draft.node(
        Node(
            f"pods {pods.name}",
            "workload",
            pods.name,
            role="pods of service account",
            outside=True,
            note=f"who may create pods in {where}, or ask for its tokens, cannot be told from the templates",
        )
    )


def pods_with_role(draft: Draft, role: Resource) -> Iterator[Pods]:
    """Yield the pods that EKS Pod Identity gives a role."""
    for association in associations(draft.template):
        if role_of(draft.template, association.role_arn) is not role:
            continue
        owner = association.holder.get(*association.path[:-1], default={})
        described: Mapping[str, Any] = owner if isinstance(owner, Mapping) else {}
        if not association.path[:-1]:
            described = association.holder.properties
        namespace = say(described.get("Namespace", "*"))
        if association.holder.type == "AWS::EKS::Addon":
            namespace = f"add-on {say(association.holder.get('AddonName'))}"
        account = say(described.get("ServiceAccount", "*"))
        evidence = of_property(
            association.holder,
            association.path[:-1],
            f"gives service account {namespace}/{account} the role {role.logical_id}",
        )
        yield Pods(f"{namespace}/{account}", (evidence,))
