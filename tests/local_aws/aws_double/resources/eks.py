"""EKS clusters, add-ons, access entries and pod identity associations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.naming import physical_name
from aws_double.property_changes import changed, differs_at, tag_changes
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.services.eks.clusters import LOG_TYPES
from aws_double.session import Session
from aws_double.waiting import unless_gone, wait_for, wait_until_gone
from hyperpod_model.catalog.updates import CREATE_ONLY

_LONGEST_NAME = 100
_NOT_FOUND = ("ResourceNotFoundException",)
_AUTO_MODE = ("ComputeConfig", "KubernetesNetworkConfig", "StorageConfig")
_PLACE = ("SubnetIds", "SecurityGroupIds", "ControlPlaneEgressMode")


@resource_type(
    "AWS::EKS::Cluster",
    properties="Name RoleArn Version ResourcesVpcConfig AccessConfig EncryptionConfig Logging "
    "KubernetesNetworkConfig ComputeConfig StorageConfig BootstrapSelfManagedAddons UpgradePolicy "
    "ZonalShiftConfig DeletionProtection RemoteNetworkConfig Tags",
    updatable="*",
)
class EksCluster(ResourceType):
    """An EKS cluster; its creation ends when it is active."""

    def replaces(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        return differs_at(before, after, CREATE_ONLY[self.name])

    def create(self, resource: Resource, session: Session) -> None:
        name = resource.properties.get("Name", physical_name(resource, limit=_LONGEST_NAME))
        session.call("eks", "create_cluster", **_request({**resource.properties, "Name": name}))
        resource.physical_id = name
        self._wait(resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        for part in _parts(changed(before.properties, after.properties)):
            if "ResourcesVpcConfig" in part:
                old, new = (one.properties["ResourcesVpcConfig"] for one in (before, after))
                wanted = changed(old, new)
                # EKS takes changes of the endpoint and of subnets and groups one after the other.
                place = {key: value for key, value in wanted.items() if key in _PLACE}
                endpoint = {key: value for key, value in wanted.items() if key not in _PLACE}
                for settings in (place, endpoint):
                    if settings:
                        self._configure(after, {"ResourcesVpcConfig": settings}, session)
            elif "Version" in part:
                session.call("eks", "update_cluster_version", name=after.physical_id, **part)
                self._wait(after, session)
            else:
                self._configure(after, part, session)
        _retag(before, after, session, after.attributes["Arn"])

    def delete(self, resource: Resource, session: Session) -> None:
        name = resource.physical_id
        if unless_gone(lambda: session.call("eks", "delete_cluster", name=name), errors=_NOT_FOUND):
            wait_until_gone(lambda: str(_cluster(session, name)["status"]), errors=_NOT_FOUND, what=name)

    def _configure(self, after: Resource, part: dict[str, Any], session: Session) -> None:
        session.call("eks", "update_cluster_config", name=after.physical_id, **_request(part))
        self._wait(after, session)

    def _wait(self, resource: Resource, session: Session) -> None:
        name = resource.physical_id
        wait_for(
            lambda: str(_cluster(session, name)["status"]),
            done=("ACTIVE",),
            doing=("CREATING", "UPDATING"),
            what=f"EKS cluster {name}",
        )
        found = _cluster(session, name)
        resource.attributes = {
            "Arn": found["arn"],
            "Endpoint": found["endpoint"],
            "CertificateAuthorityData": found["certificateAuthority"]["data"],
            "ClusterSecurityGroupId": found["resourcesVpcConfig"]["clusterSecurityGroupId"],
            "OpenIdConnectIssuerUrl": found["identity"]["oidc"]["issuer"],
            "EncryptionConfigKeyArn": next(
                (one["provider"]["keyArn"] for one in found.get("encryptionConfig", [])), ""
            ),
        }


@resource_type(
    "AWS::EKS::Addon",
    properties="ClusterName AddonName AddonVersion ConfigurationValues ResolveConflicts PreserveOnDelete "
    "ServiceAccountRoleArn PodIdentityAssociations NamespaceConfig Tags",
    updatable="AddonVersion ConfigurationValues ResolveConflicts PreserveOnDelete ServiceAccountRoleArn "
    "PodIdentityAssociations Tags",
)
class AddOn(ResourceType):
    """An add-on; its creation fails unless its pods have somewhere to run."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        asked = {key: value for key, value in wanted.items() if key != "PreserveOnDelete"}
        found = session.call("eks", "create_addon", **asked)["addon"]
        resource.physical_id = f"{wanted['ClusterName']}|{wanted['AddonName']}"
        resource.attributes = {"Arn": found["addonArn"]}
        self._wait(resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        settings = changed(before.properties, after.properties)
        for key in ("Tags", "PreserveOnDelete"):
            settings.pop(key, None)
        if settings:
            session.call("eks", "update_addon", **_of(after), **settings)
            self._wait(after, session)
        _retag(before, after, session, after.attributes["Arn"])

    def delete(self, resource: Resource, session: Session) -> None:
        preserve = resource.properties.get("PreserveOnDelete", False)
        unless_gone(
            lambda: session.call("eks", "delete_addon", **_of(resource), preserve=preserve), errors=_NOT_FOUND
        )

    def _wait(self, resource: Resource, session: Session) -> None:
        def status() -> str:
            found = session.call("eks", "describe_addon", **_of(resource))["addon"]
            if found["status"] == "DEGRADED":
                issues = "; ".join(f"{one['code']}: {one['message']}" for one in found["health"]["issues"])
                raise ResourceFailure(f"add-on {resource.physical_id} is DEGRADED: {issues}")
            return str(found["status"])

        wait_for(status, done=("ACTIVE",), doing=("CREATING", "UPDATING"), what=resource.physical_id)


@resource_type(
    "AWS::EKS::AccessEntry",
    properties="ClusterName PrincipalArn AccessPolicies KubernetesGroups Username Type Tags",
    updatable="AccessPolicies KubernetesGroups Username Tags",
)
class AccessEntry(ResourceType):
    """Who may use the Kubernetes API of a cluster, with access policies."""

    def create(self, resource: Resource, session: Session) -> None:
        asked = {key: value for key, value in resource.properties.items() if key != "AccessPolicies"}
        found = session.call("eks", "create_access_entry", **asked)["accessEntry"]
        resource.physical_id = f"{found['principalArn']}|{found['clusterName']}"
        resource.attributes = {"AccessEntryArn": found["accessEntryArn"]}
        for policy in resource.properties.get("AccessPolicies", []):
            session.call("eks", "associate_access_policy", **_entry(resource), **policy)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        old, new = (_policies(one) for one in (before, after))
        for arn in old.keys() - new.keys():
            session.call("eks", "disassociate_access_policy", **_entry(after), policyArn=arn)
        for arn, policy in new.items():
            if old.get(arn) != policy:
                session.call("eks", "associate_access_policy", **_entry(after), **policy)
        empty: dict[str, Any] = {"KubernetesGroups": []}
        settings = changed({**empty, **before.properties}, {**empty, **after.properties})
        wanted = {key: settings[key] for key in ("KubernetesGroups", "Username") if key in settings}
        if wanted:
            session.call("eks", "update_access_entry", **_entry(after), **wanted)
        _retag(before, after, session, after.attributes["AccessEntryArn"])

    def delete(self, resource: Resource, session: Session) -> None:
        unless_gone(lambda: session.call("eks", "delete_access_entry", **_entry(resource)), errors=_NOT_FOUND)


@resource_type(
    "AWS::EKS::PodIdentityAssociation",
    properties="ClusterName Namespace ServiceAccount RoleArn TargetRoleArn Policy DisableSessionTags Tags",
    updatable="RoleArn TargetRoleArn Policy DisableSessionTags Tags",
)
class PodIdentityAssociation(ResourceType):
    """The role that the pods of a service account get."""

    def create(self, resource: Resource, session: Session) -> None:
        found = session.call("eks", "create_pod_identity_association", **resource.properties)["association"]
        resource.physical_id = found["associationArn"]
        resource.attributes = {
            "AssociationArn": found["associationArn"],
            "AssociationId": found["associationId"],
            "ExternalId": found.get("externalId", ""),
        }

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        settings = changed(before.properties, after.properties)
        settings.pop("Tags", None)
        if settings:
            session.call("eks", "update_pod_identity_association", **_association(after), **settings)
        _retag(before, after, session, after.physical_id)

    def delete(self, resource: Resource, session: Session) -> None:
        unless_gone(
            lambda: session.call("eks", "delete_pod_identity_association", **_association(resource)),
            errors=_NOT_FOUND,
        )


def _cluster(session: Session, name: str) -> dict[str, Any]:
    found: dict[str, Any] = session.call("eks", "describe_cluster", name=name)["cluster"]
    return found


def _request(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request of some properties: CloudFormation lists the kinds of logs in its own way."""
    asked = dict(properties)
    if "Logging" in asked:
        types = [one["Type"] for one in asked["Logging"].get("ClusterLogging", {}).get("EnabledTypes", [])]
        others = [kind for kind in LOG_TYPES if kind not in types]
        setups = [{"Types": types, "Enabled": True}, {"Types": others, "Enabled": False}]
        asked["Logging"] = {"ClusterLogging": [setup for setup in setups if setup["Types"]]}
    if "AccessConfig" in asked and "Name" not in asked:
        asked["AccessConfig"] = {"AuthenticationMode": asked["AccessConfig"]["AuthenticationMode"]}
    return asked


def _parts(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Divide changes into those that EKS takes in one call."""
    auto_mode = {key: settings[key] for key in _AUTO_MODE if key in settings}
    alone = [{key: value} for key, value in settings.items() if key not in (*_AUTO_MODE, "Tags")]
    return [*alone, *([auto_mode] if auto_mode else [])]


def _of(resource: Resource) -> dict[str, Any]:
    return {key: resource.properties[key] for key in ("ClusterName", "AddonName")}


def _entry(resource: Resource) -> dict[str, Any]:
    return {key: resource.properties[key] for key in ("ClusterName", "PrincipalArn")}


def _association(resource: Resource) -> dict[str, Any]:
    return {
        "ClusterName": resource.properties["ClusterName"],
        "AssociationId": resource.attributes["AssociationId"],
    }


def _policies(resource: Resource) -> dict[str, dict[str, Any]]:
    return {policy["PolicyArn"]: policy for policy in resource.properties.get("AccessPolicies", [])}


def _retag(before: Resource, after: Resource, session: Session, arn: str) -> None:
    tags, keys = tag_changes(before.properties, after.properties)
    if tags:
        session.call("eks", "tag_resource", resourceArn=arn, tags={tag["Key"]: tag["Value"] for tag in tags})
    if keys:
        session.call("eks", "untag_resource", resourceArn=arn, tagKeys=keys)
