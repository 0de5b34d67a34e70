"""Reads EKS clusters, add-ons, access entries and pod identity associations back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.narrowing import as_asked, in_order, own_tags

_CLUSTER = (
    "Name",
    "RoleArn",
    "Version",
    "ResourcesVpcConfig",
    "AccessConfig",
    "EncryptionConfig",
    "KubernetesNetworkConfig",
    "ComputeConfig",
    "StorageConfig",
    "UpgradePolicy",
    "ZonalShiftConfig",
    "DeletionProtection",
    "RemoteNetworkConfig",
)
_ADD_ON = (
    "ClusterName",
    "AddonName",
    "AddonVersion",
    "ConfigurationValues",
    "ServiceAccountRoleArn",
    "NamespaceConfig",
)
_ENTRY = ("ClusterName", "PrincipalArn", "KubernetesGroups", "Username", "Type")
_ASSOCIATION = (
    "ClusterName",
    "Namespace",
    "ServiceAccount",
    "RoleArn",
    "TargetRoleArn",
    "Policy",
    "DisableSessionTags",
)


@reads("AWS::EKS::Cluster")
def cluster(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a cluster."""
    found = clients.client("eks").describe_cluster(name=physical_id)["cluster"]
    kinds = [
        kind for setup in found["logging"]["clusterLogging"] if setup["enabled"] for kind in setup["types"]
    ]
    asked = wanted.get("Logging", {}).get("ClusterLogging", {}).get("EnabledTypes", [])
    types = in_order([{"Type": kind} for kind in kinds], asked, key="Type")
    told = _picked(found, _CLUSTER, wanted)
    return {**told, "Logging": {"ClusterLogging": {"EnabledTypes": types}}, **_tags(found, wanted)}


@reads("AWS::EKS::Addon")
def add_on(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read an add-on. How conflicts are resolved and what deletion preserves is never told."""
    eks = clients.client("eks")
    name, _, add_on_name = physical_id.partition("|")
    found = eks.describe_addon(clusterName=name, addonName=add_on_name)["addon"]
    told = _picked(found, _ADD_ON, wanted)
    associations = []
    for arn in found.get("podIdentityAssociations", []):
        one = eks.describe_pod_identity_association(clusterName=name, associationId=arn.rpartition("/")[2])
        associations.append(_picked(one["association"], ("ServiceAccount", "RoleArn"), {}))
    if associations:
        told["PodIdentityAssociations"] = in_order(
            associations, wanted.get("PodIdentityAssociations", []), key="ServiceAccount"
        )
    return {**told, **_tags(found, wanted)}


@reads("AWS::EKS::AccessEntry")
def access_entry(clients: Clients, _physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read an access entry with its policies."""
    eks = clients.client("eks")
    key = {"clusterName": wanted["ClusterName"], "principalArn": wanted["PrincipalArn"]}
    found = eks.describe_access_entry(**key)["accessEntry"]
    policies = eks.list_associated_access_policies(**key)["associatedAccessPolicies"]
    told = _picked(found, _ENTRY, wanted)
    asked = wanted.get("AccessPolicies", [])
    if policies or asked:
        ordered = in_order([_pascal(policy) for policy in policies], asked, key="PolicyArn")
        told["AccessPolicies"] = as_asked(ordered, asked)
    return {**told, **_tags(found, wanted)}


@reads("AWS::EKS::PodIdentityAssociation")
def pod_identity_association(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read which role the pods of a service account get."""
    name, id = physical_id.split("/")[1:]
    found = clients.client("eks").describe_pod_identity_association(clusterName=name, associationId=id)
    return {**_picked(found["association"], _ASSOCIATION, wanted), **_tags(found["association"], wanted)}


def _picked(found: dict[str, Any], names: tuple[str, ...], wanted: dict[str, Any]) -> dict[str, Any]:
    told = _pascal(found)
    return {name: as_asked(told[name], wanted.get(name, told[name])) for name in names if name in told}


def _pascal(value: Any) -> Any:
    """Return an answer with its members in the spelling of CloudFormation."""
    if isinstance(value, dict):
        return {f"{key[0].upper()}{key[1:]}": _pascal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_pascal(item) for item in value]
    return value


def _tags(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    tags = [{"Key": key, "Value": value} for key, value in found.get("tags", {}).items()]
    return own_tags(tags, wanted)
