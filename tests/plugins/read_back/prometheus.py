"""Reads workspaces of Prometheus back, with alert managers, rules and policies."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from read_back import Clients, reads
from read_back.narrowing import own_tags


@reads("AWS::APS::Workspace")
def workspace(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a workspace with its alert manager."""
    prometheus = clients.client("amp")
    of_it = {"workspaceId": _id(physical_id)}
    found = prometheus.describe_workspace(**of_it)["workspace"]
    told = {**_alias(found), **_tags(found, wanted)}
    try:
        definition = prometheus.describe_alert_manager_definition(**of_it)["alertManagerDefinition"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
        return told
    return {**told, "AlertManagerDefinition": definition["data"].decode()}


@reads("AWS::APS::RuleGroupsNamespace")
def rules(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a file of rules."""
    _, workspace_id, name = physical_id.rsplit("/", 2)
    found = clients.client("amp").describe_rule_groups_namespace(workspaceId=workspace_id, name=name)[
        "ruleGroupsNamespace"
    ]
    workspace_arn = physical_id.replace(":rulegroupsnamespace/", ":workspace/").rpartition("/")[0]
    return {
        "Name": found["name"],
        "Data": found["data"].decode(),
        "Workspace": workspace_arn,
        **_tags(found, wanted),
    }


@reads("AWS::APS::ResourcePolicy")
def policy(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read the policy of a workspace."""
    found = clients.client("amp").describe_resource_policy(workspaceId=_id(physical_id))
    return {"WorkspaceArn": physical_id, "PolicyDocument": found["policyDocument"]}


def _alias(found: dict[str, Any]) -> dict[str, str]:
    return {"Alias": found["alias"]} if found.get("alias") else {}


def _tags(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    return own_tags([{"Key": key, "Value": value} for key, value in found.get("tags", {}).items()], wanted)


def _id(arn: str) -> str:
    return arn.rpartition("/")[2]
