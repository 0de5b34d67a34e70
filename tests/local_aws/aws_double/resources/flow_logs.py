"""Flow logs."""

from __future__ import annotations

from aws_double.ec2_tags import change_tags, tags_at_creation
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_AS_EC2_NAMES_THEM = (
    "DeliverLogsPermissionArn",
    "LogDestination",
    "LogDestinationType",
    "LogFormat",
    "LogGroupName",
    "MaxAggregationInterval",
    "ResourceType",
    "TrafficType",
)


@resource_type(
    "AWS::EC2::FlowLog",
    properties=f"{' '.join(_AS_EC2_NAMES_THEM)} ResourceId Tags",
    updatable="Tags",
)
class FlowLog(ResourceType):
    """The record of the traffic of a network.

    A log that cannot be delivered fails here, so that a missing dependency shows. On AWS the resource comes
    into being, and the log tells of an access error until what is missing is there.
    """

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        asked = resource.properties
        made = session.call(
            "ec2",
            "create_flow_logs",
            ResourceIds=[asked["ResourceId"]],
            **{name: asked[name] for name in _AS_EC2_NAMES_THEM if name in asked},
            **tags_at_creation(resource, "vpc-flow-log"),
        )
        for refused in made.get("Unsuccessful", []):
            raise ResourceFailure(f"{refused['ResourceId']}: {refused['Error']['Message']}")
        (resource.physical_id,) = made["FlowLogIds"]
        resource.attributes = {"Id": resource.physical_id}
        ec2 = session.client("ec2")
        (log,) = ec2.describe_flow_logs(FlowLogIds=[resource.physical_id])["FlowLogs"]
        if log["DeliverLogsStatus"] != "SUCCESS":
            raise ResourceFailure(f"{resource.physical_id}: {log['DeliverLogsErrorMessage']}")

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_flow_logs", FlowLogIds=[resource.physical_id])
