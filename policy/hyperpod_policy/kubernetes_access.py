"""Who administers the EKS clusters that orchestrate HyperPod clusters, by access entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_policy.eks_clusters import control_planes, orchestrations
from hyperpod_policy.identities import role_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, same

_ENTRY: Final = "AWS::EKS::AccessEntry"
_BROAD: Final = ("AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy")
_MASTERS: Final = "system:masters"


def administrators(template: Template) -> Iterator[tuple[Resource, str]]:
    """Yield the access entries that make administrators, each with the policy or group by which it does."""
    if not orchestrations(template):
        return
    made = [*control_planes(template)]
    for entry in template.of_type(_ENTRY):
        how = _administers(entry)
        name = entry.get("ClusterName")
        if how is not None and (not made or any(_may_name(name, found) for found in made)):
            yield entry, how


def _may_name(name: Any, control_plane: Resource) -> bool:
    own = control_plane.get("Name")
    return same(name, control_plane.ref) is not False or (own is not None and same(name, own) is not False)


def administrating_roles(template: Template) -> list[Resource]:
    """Return the roles of the template that administer."""
    found = (role_of(template, entry.get("PrincipalArn")) for entry, _ in administrators(template))
    return [role for role in found if role is not None]


def _administers(entry: Resource) -> str | None:
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
