"""Where the values of a stack's template come from: its resources, other stacks' exports and the services."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from aws_double import ACCOUNT
from aws_double.cloudformation.errors import Refused
from aws_double.cloudformation.stack import Deployed, Stack
from aws_double.session import Session

PARTITION: Final = "aws"
URL_SUFFIX: Final = "amazonaws.com"

Exports = Callable[[], Mapping[str, str]]
"""Returns the exported values of a region by name."""


class StackWorld:
    """What a stack's template can refer to.

    Args:
        stack: The stack.
        resources: Its resources so far.
        session: The principal that asks the services.
        exports: Exported values of the region.
    """

    def __init__(
        self, stack: Stack, resources: Mapping[str, Deployed], session: Session, exports: Exports
    ) -> None:
        self._stack = stack
        self._resources = resources
        self._session = session
        self._exports = exports
        self.imports: set[str] = set()

    def pseudo(self, name: str) -> Any:
        """Return a pseudo parameter."""
        return {
            "AWS::AccountId": ACCOUNT,
            "AWS::NotificationARNs": [],
            "AWS::Partition": PARTITION,
            "AWS::Region": self._stack.region,
            "AWS::StackId": self._stack.id,
            "AWS::StackName": self._stack.name,
            "AWS::URLSuffix": URL_SUFFIX,
        }[name]

    def reference(self, logical_id: str) -> Any:
        """Return the physical id of a resource."""
        return self._deployed(logical_id).resource.physical_id

    def attribute(self, logical_id: str, name: str) -> Any:
        """Return an attribute of a resource."""
        resource = self._deployed(logical_id).resource
        if name not in resource.attributes:
            raise Refused(
                f"Template error: resource {logical_id} of type {resource.type} has no attribute {name} "
                f"in this double; it has: {', '.join(sorted(resource.attributes))}"
            )
        return resource.attributes[name]

    def imported(self, name: str) -> str:
        """Return an exported value."""
        exports = self._exports()
        if name not in exports:
            raise Refused(f"No export named {name} found.")
        self.imports.add(name)
        return exports[name]

    def zones(self, region: str) -> list[str]:
        """Return the names of a region's availability zones."""
        if region != self._stack.region:
            raise Refused(f"Template error: Fn::GetAZs of {region} in a stack of {self._stack.region}")
        found = self._session.call("ec2", "describe_availability_zones")["AvailabilityZones"]
        return sorted(zone["ZoneName"] for zone in found)

    def parameter(self, name: str, version: str | None = None) -> str:
        """Return a value of the Parameter Store."""
        client = self._session.client("ssm")
        try:
            found = client.get_parameter(Name=name if version is None else f"{name}:{version}")
        except client.exceptions.ParameterNotFound as error:
            raise Refused(
                f"Unable to fetch parameters [{name}] from parameter store for this account."
            ) from error
        value: str = found["Parameter"]["Value"]
        return value

    def _deployed(self, logical_id: str) -> Deployed:
        if logical_id not in self._resources:
            raise Refused(
                "Template format error: Unresolved resource dependencies "
                f"[{logical_id}] in the Resources block of the template"
            )
        return self._resources[logical_id]
