"""VPC endpoints."""

from __future__ import annotations

from typing import Any

from aws_double.ec2_tags import change_tags, tags_at_creation
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session

_LISTS = ("RouteTableIds", "SecurityGroupIds", "SubnetIds")


@resource_type(
    "AWS::EC2::VPCEndpoint",
    properties="PolicyDocument PrivateDnsEnabled RouteTableIds SecurityGroupIds ServiceName SubnetIds Tags "
    "VpcEndpointType VpcId",
    updatable="PolicyDocument PrivateDnsEnabled RouteTableIds SecurityGroupIds SubnetIds Tags",
)
class VpcEndpoint(ResourceType):
    """A gateway or interface endpoint of an AWS service."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        asked = {name: value for name, value in resource.properties.items() if name != "Tags"}
        # CloudFormation's default; that of the API is the service's own name.
        asked.setdefault("PrivateDnsEnabled", False)
        made = session.call(
            "ec2", "create_vpc_endpoint", **asked, **tags_at_creation(resource, "vpc-endpoint")
        )["VpcEndpoint"]
        resource.physical_id = made["VpcEndpointId"]
        resource.attributes = {
            "Id": resource.physical_id,
            "CreationTimestamp": made["CreationTimestamp"].isoformat(),
        }
        _note_interfaces(resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        session.call("ec2", "modify_vpc_endpoint", VpcEndpointId=after.physical_id, **_changes(before, after))
        change_tags(before, after, session)
        _note_interfaces(after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_vpc_endpoints", VpcEndpointIds=[resource.physical_id])


def _changes(before: Resource, after: Resource) -> dict[str, Any]:
    old, new = before.properties, after.properties
    changes: dict[str, Any] = {"PrivateDnsEnabled": new.get("PrivateDnsEnabled", False)}
    if "PolicyDocument" in new:
        changes["PolicyDocument"] = new["PolicyDocument"]
    else:
        changes["ResetPolicy"] = True
    for name in _LISTS:
        had, has = old.get(name, []), new.get(name, [])
        changes[f"Add{name}"] = [item for item in has if item not in had]
        changes[f"Remove{name}"] = [item for item in had if item not in has]
    return {name: value for name, value in changes.items() if value != []}


def _note_interfaces(resource: Resource, session: Session) -> None:
    ec2 = session.client("ec2")
    (endpoint,) = ec2.describe_vpc_endpoints(VpcEndpointIds=[resource.physical_id])["VpcEndpoints"]
    resource.attributes["NetworkInterfaceIds"] = endpoint.get("NetworkInterfaceIds", [])
    resource.attributes["DnsEntries"] = [
        f"{entry['HostedZoneId']}:{entry['DnsName']}" for entry in endpoint.get("DnsEntries", [])
    ]
