"""Administrators of the EKS cluster are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.eks_clusters import control_planes, orchestrations
from hyperpod_policy.identities import role_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, same

_ENTRY: Final = "AWS::EKS::AccessEntry"
_BROAD: Final = ("AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy")
_MASTERS: Final = "system:masters"
_ALLOWED: Final = "roles of the account by name; people get a namespace of their own"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the access entries of each control plane that make administrators."""
    if not orchestrations(template):
        return
    made = [*control_planes(template)]
    verdicts = [
        _judge(template, entry, how)
        for entry in template.of_type(_ENTRY)
        if not made or any(same(entry.get("ClusterName"), found.ref) is not False for found in made)
        if (how := _administers(entry)) is not None
    ]
    yield from verdicts if verdicts else (passed(found) for found in made)


def _judge(template: Template, entry: Resource, how: str) -> Verdict:
    path = ("PrincipalArn",)
    principal = entry.get(*path)
    where = belonging(principal, entry)
    if where == "other":
        found = f"makes {principal} an administrator ({how}), of another account"
        return failed(entry, *path, found=found, allowed=_ALLOWED)
    if role_of(template, principal) is None:
        found = f"makes {principal} an administrator ({how}), which is not in this template"
        return undetermined(entry, *path, found=found, allowed=_ALLOWED)
    return passed(entry, *path)


def _administers(entry: Resource) -> str | None:
    """Return by what an access entry makes an administrator of the whole cluster."""
    groups, _ = elements(entry.get("KubernetesGroups"))
    if _MASTERS in groups:
        return _MASTERS
    listed, _ = elements(entry.get("AccessPolicies"))
    for policy in listed:
        if isinstance(policy, Mapping) and _scope(policy) != "namespace":
            name = str(policy.get("PolicyArn")).rpartition("/")[2]
            if name in _BROAD:
                return name
    return None


def _scope(policy: Mapping[str, Any]) -> Any:
    scope = policy.get("AccessScope")
    return scope.get("Type") if isinstance(scope, Mapping) else None


RULE = Rule(
    id="KubernetesAdministrators",
    title="the administrators of the EKS cluster are roles that the template shows",
    severity="warning",
    why=(
        "An administrator of the EKS cluster starts pods with any service account, the trainer's among "
        "them, reads every secret and mounts every node's disk. Whoever may take such a role runs code on "
        "the training nodes."
    ),
    fix=(
        "name roles of the account, keep AmazonEKSClusterAdminPolicy for the few that install things, and "
        "acknowledge the finding for roles that are managed elsewhere, with who may take them"
    ),
    source="EKS user guide, access entries and access policy permissions",
    check=check,
)
