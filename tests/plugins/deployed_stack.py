"""A deployed stack as CloudFormation's API tells it: the same works against AWS."""

from __future__ import annotations

import json
from typing import Any

from read_back import Clients

_NOTHING = {"Resources": {"Nothing": {"Type": "AWS::CDK::Metadata"}}}
_DRY_RUN = "what-it-has"


class DeployedStack:
    """One stack.

    Args:
        clients: Makes boto3 clients.
        name: Its name or ARN. Only the ARN finds a deleted one.
    """

    def __init__(self, clients: Clients, name: str) -> None:
        self.clients = clients
        self.name = name
        self._cloudformation = clients.client("cloudformation")

    @property
    def description(self) -> dict[str, Any]:
        (found,) = self._cloudformation.describe_stacks(StackName=self.name)["Stacks"]
        described: dict[str, Any] = found
        return described

    @property
    def id(self) -> str:
        return str(self.description["StackId"])

    @property
    def status(self) -> str:
        return str(self.description["StackStatus"])

    @property
    def outputs(self) -> dict[str, str]:
        return {output["OutputKey"]: output["OutputValue"] for output in self.description["Outputs"]}

    @property
    def events(self) -> list[dict[str, Any]]:
        """Its events, the newest first."""
        pages = self._cloudformation.get_paginator("describe_stack_events").paginate(StackName=self.name)
        return [event for page in pages for event in page["StackEvents"]]

    @property
    def resources(self) -> dict[str, dict[str, Any]]:
        """Its resources by logical id."""
        pages = self._cloudformation.get_paginator("list_stack_resources").paginate(StackName=self.name)
        return {one["LogicalResourceId"]: one for page in pages for one in page["StackResourceSummaries"]}

    @property
    def template(self) -> dict[str, Any]:
        body = self._cloudformation.get_template(StackName=self.name)["TemplateBody"]
        # boto3 decodes a template in JSON itself.
        template: dict[str, Any] = json.loads(body) if isinstance(body, str) else body
        return template

    def physical_id(self, logical_id: str) -> str:
        return str(self.resources[logical_id]["PhysicalResourceId"])

    def logical_ids(self, kind: str) -> list[str]:
        return [name for name, one in self.resources.items() if one["ResourceType"] == kind]

    def only(self, kind: str) -> str:
        """The physical id of the one resource of a type."""
        (logical_id,) = self.logical_ids(kind)
        return self.physical_id(logical_id)

    def properties(self) -> dict[str, dict[str, Any]]:
        """The properties that the template asks for, resolved, by logical id.

        A change set that would remove everything tells them; it is never executed.
        """
        self._cloudformation.create_change_set(
            StackName=self.name, ChangeSetName=_DRY_RUN, TemplateBody=json.dumps(_NOTHING)
        )
        self._cloudformation.get_waiter("change_set_create_complete").wait(
            StackName=self.name, ChangeSetName=_DRY_RUN
        )
        pages = self._cloudformation.get_paginator("describe_change_set").paginate(
            StackName=self.name, ChangeSetName=_DRY_RUN, IncludePropertyValues=True
        )
        changes = [change["ResourceChange"] for page in pages for change in page["Changes"]]
        self._cloudformation.delete_change_set(StackName=self.name, ChangeSetName=_DRY_RUN)
        return {
            change["LogicalResourceId"]: json.loads(change["BeforeContext"]).get("Properties", {})
            for change in changes
            if change["Action"] == "Remove"
        }

    def unprotect(self) -> None:
        """Turn its termination protection off."""
        self._cloudformation.update_termination_protection(
            StackName=self.name, EnableTerminationProtection=False
        )
