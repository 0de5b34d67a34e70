"""Parameters of Systems Manager."""

from __future__ import annotations

from aws_double.naming import physical_name
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 1011


@resource_type(
    "AWS::SSM::Parameter",
    properties="Type Name Value Description Tier",
    updatable="Type Value Description Tier",
)
class Parameter(ResourceType):
    """A parameter; ``Ref`` is its name."""

    def create(self, resource: Resource, session: Session) -> None:
        name = resource.properties.get("Name", f"CFN-{physical_name(resource, limit=_LONGEST_NAME - 4)}")
        resource.attributes = {key: resource.properties[key] for key in ("Type", "Value")}
        session.call("ssm", "put_parameter", **{**resource.properties, "Name": name})
        resource.physical_id = name

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        after.attributes = {key: after.properties[key] for key in ("Type", "Value")}
        session.call(
            "ssm", "put_parameter", **{**after.properties, "Name": after.physical_id, "Overwrite": True}
        )

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("ssm", "delete_parameter", Name=resource.physical_id)
