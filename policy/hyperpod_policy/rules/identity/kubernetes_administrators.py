"""Administrators of the EKS cluster are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.eks_clusters import control_planes
from hyperpod_policy.identities import role_of
from hyperpod_policy.kubernetes_access import administrators
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template

_ALLOWED: Final = "roles of the account by name; people get a namespace of their own"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the access entries of each control plane that make administrators."""
    verdicts = [_judge(template, entry, how) for entry, how in administrators(template)]
    yield from verdicts if verdicts else (passed(found) for found in control_planes(template))


def _judge(template: Template, entry: Resource, how: str) -> Verdict:
    path = ("PrincipalArn",)
    principal = entry.get(*path)
    where = belonging(principal, entry)
    if where == "other":
        found = f"makes {principal} an administrator ({how}), of another account"
        return failed(entry, *path, found=found, allowed=_ALLOWED)
    if where == "unknown" and role_of(template, principal) is None:
        found = f"makes {principal} an administrator ({how}), whose account may be another"
        return undetermined(entry, *path, found=found, allowed=_ALLOWED)
    return passed(entry, *path)


RULE = Rule(
    id="KubernetesAdministrators",
    title="the administrators of the EKS cluster are roles of its own account",
    severity="warning",
    why=(
        "An administrator of the EKS cluster starts pods with any service account, the trainer's among "
        "them, reads every secret and mounts every node's disk. Whoever may take such a role runs code on "
        "the training nodes."
    ),
    fix=(
        "name roles of the account, and keep AmazonEKSClusterAdminPolicy for the few that install things; "
        "the trust map shows who may take them"
    ),
    source="EKS user guide, access entries and access policy permissions",
    check=check,
)
