"""Who runs pods on the nodes through EKS."""

from __future__ import annotations

from typing import Any

from hyperpod_model.catalog.control import (
    KUBERNETES_ACCESS_ACTIONS,
    POD_RUNNING_ACCESS_POLICIES,
    READING_ACCESS_POLICIES,
)
from hyperpod_policy.eks_clusters import control_planes, foreign_control_planes
from hyperpod_policy.identities import role_of
from hyperpod_policy.template import Resource
from hyperpod_policy.trust_map.arns import of_control_plane
from hyperpod_policy.trust_map.asking import ask
from hyperpod_policy.trust_map.draft import STACK, Draft
from hyperpod_policy.trust_map.model import Certainty, Evidence, Node
from hyperpod_policy.trust_map.sayings import of_property, say
from hyperpod_policy.values import Reference, Unresolved, elements, same, single, truth

_CHART = "Custom::AWSCDK-EKS-HelmChart"
_EFFECT = "its administrators run pods on the nodes, as root if they like"


def add_kubernetes(draft: Draft) -> None:
    """Add the EKS clusters that orchestrate, and who runs pods through them."""
    for control_plane in control_planes(draft.template):
        target = draft.resource(control_plane, role="EKS cluster")
        draft.leads_to_code(target, _EFFECT)
        arns = of_control_plane(draft.template, control_plane)
        for actor in draft.actors:
            draft.asked(actor, "change-access", target, ask(actor, KUBERNETES_ACCESS_ACTIONS, arns))
        draft.administrators("change-access", target, actions=KUBERNETES_ACCESS_ACTIONS)
        _add_entries(draft, control_plane, target)
        _add_creator(draft, control_plane, target)
        _add_charts(draft, control_plane, target)
        _add_issuers(draft, control_plane, target)
    for found in foreign_control_planes(draft.template):
        name = say(found.arn)
        target = draft.node(Node(f"kubernetes {name}", "kubernetes", name, role="EKS cluster", outside=True))
        draft.leads_to_code(target, _EFFECT)
        who = draft.node(
            Node(
                f"administrators of {name}", "identity", f"administrators of EKS cluster {name}", outside=True
            )
        )
        evidence = [of_property(found.cluster, found.path, f"is {name}")]
        draft.step(who, "administer-cluster", target, "undetermined", evidence=evidence)


def _is_of(value: Any, control_plane: Resource) -> bool:
    return value == control_plane.ref or (
        "Name" in control_plane.properties and same(value, control_plane.get("Name")) is True
    )


def _add_entries(draft: Draft, control_plane: Resource, target: str) -> None:
    for entry in draft.template.of_type("AWS::EKS::AccessEntry"):
        if not _is_of(entry.get("ClusterName"), control_plane):
            continue
        principal = single(entry.get("PrincipalArn"))
        role = role_of(draft.template, principal)
        known = draft.actor_of("AWS", draft.template.spelled(principal))
        if role is not None:
            source = draft.resource(role)
        elif known is not None:
            source = draft.resource(known.resource)
        else:
            source = draft.outsider("AWS", principal)
        certainty, evidence = _access(entry)
        if certainty != "no":
            draft.step(source, "administer-cluster", target, certainty, evidence=evidence)


def _access(entry: Resource) -> tuple[Certainty, list[Evidence]]:
    """Tell whether an access entry lets its principal run pods."""
    policies, complete = elements(entry.get("AccessPolicies"))
    found: Certainty = "no" if complete else "undetermined"
    evidence: list[Evidence] = []
    if entry.get("KubernetesGroups"):
        found = "undetermined"
        groups = say(entry.get("KubernetesGroups"))
        text = f"is in Kubernetes groups {groups}, whose rights are not in the templates"
        evidence.append(of_property(entry, ("KubernetesGroups",), text))
    for position, policy in enumerate(policies):
        arn = policy.get("PolicyArn") if isinstance(policy, dict) else policy
        name = say(arn).rpartition("/")[2]
        if name in READING_ACCESS_POLICIES:
            continue
        scope = policy.get("AccessScope", {}) if isinstance(policy, dict) else {}
        where = scope.get("Type", "cluster") if isinstance(scope, dict) else "unresolved"
        if where == "namespace" and isinstance(scope, dict):
            where = f"namespaces {say(scope.get('Namespaces', ()))}"
        evidence.append(of_property(entry, ("AccessPolicies", position), f"{name} in {say(where)}"))
        if name in POD_RUNNING_ACCESS_POLICIES:
            found = "yes"
        elif found == "no":
            found = "undetermined"
    if isinstance(entry.get("AccessPolicies"), Unresolved):
        evidence.append(of_property(entry, ("AccessPolicies",), f"is {say(entry.get('AccessPolicies'))}"))
    return found, evidence


def _add_creator(draft: Draft, control_plane: Resource, target: str) -> None:
    """Add who made the EKS cluster, its administrator unless that is off, and whom a config map names."""
    path = ("AccessConfig", "BootstrapClusterCreatorAdminPermissions")
    if truth(control_plane.get(*path, default=True)) is not False:
        draft.step(
            STACK,
            "administer-cluster",
            target,
            "yes",
            evidence=[of_property(control_plane, path, "is not false: who creates it administers it")],
            note="with the credentials of the deployment that created it",
        )
    mode = control_plane.get("AccessConfig", "AuthenticationMode", default="CONFIG_MAP")
    if mode != "API":
        who = draft.node(
            Node(
                f"config map {control_plane.key}",
                "identity",
                "whoever the config map aws-auth names",
                outside=True,
                note="it is inside the cluster, not in the templates",
            )
        )
        evidence = [of_property(control_plane, ("AccessConfig", "AuthenticationMode"), f"is {say(mode)}")]
        draft.step(who, "administer-cluster", target, "undetermined", evidence=evidence)


def _add_issuers(draft: Draft, control_plane: Resource, target: str) -> None:
    """Add the identity providers whose tokens the Kubernetes API takes."""
    for provider in draft.template.of_type("AWS::EKS::IdentityProviderConfig"):
        if not _is_of(provider.get("ClusterName"), control_plane):
            continue
        path = ("Oidc", "IssuerUrl")
        name = say(single(provider.get(*path)))
        draft.step(
            draft.outsider("Federated", name, note="users and groups are what its tokens say"),
            "administer-cluster",
            target,
            "undetermined",
            evidence=[of_property(provider, path, f"is {name}")],
            note="what its users and groups may do is said in Kubernetes",
        )


def _add_charts(draft: Draft, control_plane: Resource, target: str) -> None:
    for chart in draft.template.of_type(_CHART):
        if not _is_of(chart.get("ClusterName"), control_plane):
            continue
        place = chart.get("Repository", default=chart.get("ChartAssetURL"))
        if place is None or isinstance(place, Reference):
            continue
        name = say(place)
        source = draft.node(Node(f"chart {name}", "chart", name, role="Helm chart", outside=True))
        draft.step(
            source,
            "administer-cluster",
            target,
            "undetermined",
            evidence=[of_property(chart, ("Repository",), f"is {name}, version {say(chart.get('Version'))}")],
            note="an update of the release installs what lies there",
        )
        who = draft.node(
            Node(
                f"publishers of {name}",
                "identity",
                name,
                role="who may push to",
                outside=True,
                note="the repository's policy is not in the templates",
            )
        )
        draft.step(who, "change-chart", source, "undetermined")
