"""Workspaces of Prometheus with alert managers, rules and policies."""

from __future__ import annotations

from aws_double.property_changes import tag_changes
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session

_ALERTS = "AlertManagerDefinition"


@resource_type("AWS::APS::Workspace", properties=f"Alias {_ALERTS} Tags", updatable="*")
class Workspace(ResourceType):
    """A workspace with its alert manager."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        alias = {"alias": wanted["Alias"]} if "Alias" in wanted else {}
        id = session.call("amp", "create_workspace", tags=wanted.get("Tags", []), **alias)["workspaceId"]
        made = session.call("amp", "describe_workspace", workspaceId=id)["workspace"]
        resource.physical_id = made["arn"]
        resource.attributes = {
            "Arn": made["arn"],
            "WorkspaceId": id,
            "PrometheusEndpoint": made["prometheusEndpoint"],
        }
        if _ALERTS in wanted:
            data = wanted[_ALERTS].encode()
            session.call("amp", "create_alert_manager_definition", workspaceId=id, data=data)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        old, new, id = before.properties, after.properties, _id(after.physical_id)
        if old.get("Alias") != new.get("Alias"):
            session.call("amp", "update_workspace_alias", workspaceId=id, alias=new.get("Alias", ""))
        if old.get(_ALERTS) != new.get(_ALERTS):
            if _ALERTS not in new:
                session.call("amp", "delete_alert_manager_definition", workspaceId=id)
            else:
                verb = "put" if _ALERTS in old else "create"
                data = new[_ALERTS].encode()
                session.call("amp", f"{verb}_alert_manager_definition", workspaceId=id, data=data)
        _change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("amp", "delete_workspace", workspaceId=_id(resource.physical_id))


@resource_type("AWS::APS::RuleGroupsNamespace", properties="Data Name Workspace Tags", updatable="Data Tags")
class RuleGroupsNamespace(ResourceType):
    """A file of rules of a workspace."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        made = session.call(
            "amp",
            "create_rule_groups_namespace",
            workspaceId=_id(wanted["Workspace"]),
            name=wanted["Name"],
            data=wanted["Data"].encode(),
            tags=wanted.get("Tags", []),
        )
        resource.physical_id = made["arn"]
        resource.attributes = {"Arn": made["arn"]}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        new = after.properties
        of_it = {"workspaceId": _id(new["Workspace"]), "name": new["Name"]}
        session.call("amp", "put_rule_groups_namespace", data=new["Data"].encode(), **of_it)
        _change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        of_it = {"workspaceId": _id(wanted["Workspace"]), "name": wanted["Name"]}
        session.call("amp", "delete_rule_groups_namespace", **of_it)


@resource_type(
    "AWS::APS::ResourcePolicy", properties="PolicyDocument WorkspaceArn", updatable="PolicyDocument"
)
class ResourcePolicy(ResourceType):
    """The one policy of a workspace."""

    def create(self, resource: Resource, session: Session) -> None:
        resource.physical_id = resource.properties["WorkspaceArn"]
        self.update(resource, resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        of_it = {"workspaceId": _id(after.physical_id)}
        document = after.properties["PolicyDocument"]
        session.call("amp", "put_resource_policy", policyDocument=document, **of_it)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("amp", "delete_resource_policy", workspaceId=_id(resource.physical_id))


def _change_tags(before: Resource, after: Resource, session: Session) -> None:
    tags, gone = tag_changes(before.properties, after.properties)
    if tags:
        session.call("amp", "tag_resource", resourceArn=after.physical_id, tags=tags)
    if gone:
        session.call("amp", "untag_resource", resourceArn=after.physical_id, tagKeys=gone)


def _id(arn: str) -> str:
    return arn.rpartition("/")[2]
