"""Workspaces of Grafana."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double import ACCOUNT
from aws_double.property_changes import tag_changes
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session
from aws_double.waiting import wait_for

_AS_API = {
    "AccountAccessType": "accountAccessType",
    "DataSources": "workspaceDataSources",
    "Description": "workspaceDescription",
    "Name": "workspaceName",
    "PermissionType": "permissionType",
    "RoleArn": "workspaceRoleArn",
}
_PROVIDERS = "AuthenticationProviders"


@resource_type("AWS::Grafana::Workspace", properties=f"{' '.join(_AS_API)} {_PROVIDERS} Tags", updatable="*")
class Workspace(ResourceType):
    """A workspace with its role and how people sign in."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        made = session.call(
            "grafana",
            "create_workspace",
            **_as_api(wanted),
            authenticationProviders=wanted[_PROVIDERS],
            tags=wanted.get("Tags", []),
        )["workspace"]
        resource.physical_id = made["id"]
        wait_for(
            lambda: str(_described(resource, session)["status"]),
            done=("ACTIVE",),
            doing=("CREATING",),
            what=resource.physical_id,
        )
        names = ("id", "endpoint", "status", "grafanaVersion")
        told = _described(resource, session)
        resource.attributes = {name[0].upper() + name[1:]: told[name] for name in names}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        of_it = {"workspaceId": after.physical_id}
        session.call("grafana", "update_workspace", **of_it, **_as_api(after.properties))
        providers = after.properties[_PROVIDERS]
        if before.properties[_PROVIDERS] != providers:
            session.call(
                "grafana", "update_workspace_authentication", **of_it, authenticationProviders=providers
            )
        tags, gone = tag_changes(before.properties, after.properties)
        arn = f"arn:aws:grafana:{session.region}:{ACCOUNT}:/workspaces/{after.physical_id}"
        if tags:
            session.call("grafana", "tag_resource", resourceArn=arn, tags=tags)
        if gone:
            session.call("grafana", "untag_resource", resourceArn=arn, tagKeys=gone)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("grafana", "delete_workspace", workspaceId=resource.physical_id)


def _as_api(wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {name: wanted[key] for key, name in _AS_API.items() if key in wanted}


def _described(resource: Resource, session: Session) -> dict[str, Any]:
    found: dict[str, Any] = session.call("grafana", "describe_workspace", workspaceId=resource.physical_id)
    described: dict[str, Any] = found["workspace"]
    return described
