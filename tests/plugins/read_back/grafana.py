"""Reads workspaces of Grafana back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.narrowing import in_order, own_tags

_MEMBERS = {
    "AccountAccessType": "accountAccessType",
    "DataSources": "dataSources",
    "Description": "description",
    "Name": "name",
    "PermissionType": "permissionType",
    "RoleArn": "workspaceRoleArn",
}


@reads("AWS::Grafana::Workspace")
def workspace(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a workspace."""
    found = clients.client("grafana").describe_workspace(workspaceId=physical_id)["workspace"]
    tags = [{"Key": key, "Value": value} for key, value in found.get("tags", {}).items()]
    providers = found["authentication"]["providers"]
    return {
        **{name: found[member] for name, member in _MEMBERS.items() if member in found},
        "AuthenticationProviders": in_order(providers, wanted.get("AuthenticationProviders", [])),
        **own_tags(tags, wanted),
    }
