"""Route tables, routes, and the gateways that they lead to."""

from __future__ import annotations

from typing import Any

from aws_double.ec2_tags import change_tags, tags_at_creation
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_DESTINATIONS = ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")


@resource_type("AWS::EC2::RouteTable", properties="VpcId Tags", updatable="Tags")
class RouteTable(ResourceType):
    """A route table with the VPC's own route."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        made = session.call(
            "ec2",
            "create_route_table",
            VpcId=resource.properties["VpcId"],
            **tags_at_creation(resource, "route-table"),
        )
        resource.physical_id = made["RouteTable"]["RouteTableId"]
        resource.attributes = {"RouteTableId": resource.physical_id}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_route_table", RouteTableId=resource.physical_id)


@resource_type("AWS::EC2::SubnetRouteTableAssociation", properties="RouteTableId SubnetId")
class SubnetRouteTableAssociation(ResourceType):
    """The place of the main route table, taken by another one for a subnet."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        made = session.call("ec2", "associate_route_table", **resource.properties)
        resource.physical_id = made["AssociationId"]
        resource.attributes = {"Id": resource.physical_id}

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "disassociate_route_table", AssociationId=resource.physical_id)


@resource_type(
    "AWS::EC2::Route",
    properties="RouteTableId DestinationCidrBlock DestinationIpv6CidrBlock DestinationPrefixListId "
    "GatewayId NatGatewayId",
    updatable="GatewayId NatGatewayId",
)
class Route(ResourceType):
    """A route to a gateway."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        session.call("ec2", "create_route", **resource.properties)
        (destination,) = _destination(resource).values()
        resource.physical_id = f"{resource.properties['RouteTableId']}|{destination}"
        resource.attributes = {"CidrBlock": destination}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        session.call("ec2", "replace_route", **after.properties)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        table = resource.properties["RouteTableId"]
        session.call("ec2", "delete_route", RouteTableId=table, **_destination(resource))


def _destination(route: Resource) -> dict[str, Any]:
    return {name: route.properties[name] for name in _DESTINATIONS if name in route.properties}


@resource_type("AWS::EC2::InternetGateway", properties="Tags", updatable="*")
class InternetGateway(ResourceType):
    """An internet gateway, attached to nothing."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        made = session.call(
            "ec2", "create_internet_gateway", **tags_at_creation(resource, "internet-gateway")
        )
        resource.physical_id = made["InternetGateway"]["InternetGatewayId"]
        resource.attributes = {"InternetGatewayId": resource.physical_id}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_internet_gateway", InternetGatewayId=resource.physical_id)


@resource_type(
    "AWS::EC2::VPCGatewayAttachment", properties="InternetGatewayId VpcId", updatable="InternetGatewayId"
)
class VpcGatewayAttachment(ResourceType):
    """An internet gateway of a VPC."""

    def create(self, resource: Resource, session: Session) -> None:
        """Attach the gateway."""
        session.call("ec2", "attach_internet_gateway", **resource.properties)
        resource.physical_id = f"IGW|{resource.properties['VpcId']}"
        resource.attributes = {"AttachmentType": "IGW"}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Attach another gateway in its place."""
        self.delete(before, session)
        session.call("ec2", "attach_internet_gateway", **after.properties)

    def delete(self, resource: Resource, session: Session) -> None:
        """Detach the gateway."""
        session.call("ec2", "detach_internet_gateway", **resource.properties)


@resource_type("AWS::EC2::EIP", properties="Domain Tags", updatable="*")
class ElasticAddress(ResourceType):
    """A public address."""

    def create(self, resource: Resource, session: Session) -> None:
        """Allocate it."""
        domain = {"Domain": resource.properties["Domain"]} if "Domain" in resource.properties else {}
        made = session.call("ec2", "allocate_address", **domain, **tags_at_creation(resource, "elastic-ip"))
        resource.physical_id = made["PublicIp"]
        resource.attributes = {"AllocationId": made["AllocationId"], "PublicIp": made["PublicIp"]}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change its tags; CloudFormation changes no domain."""
        if before.properties.get("Domain") != after.properties.get("Domain"):
            raise ResourceFailure("Updates of Domain are not supported")
        change_tags(before, after, session, tagged=after.attributes["AllocationId"])

    def delete(self, resource: Resource, session: Session) -> None:
        """Release it."""
        session.call("ec2", "release_address", AllocationId=resource.attributes["AllocationId"])


@resource_type(
    "AWS::EC2::NatGateway", properties="AllocationId ConnectivityType SubnetId Tags", updatable="Tags"
)
class NatGateway(ResourceType):
    """A NAT gateway."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        asked = {name: value for name, value in resource.properties.items() if name != "Tags"}
        made = session.call("ec2", "create_nat_gateway", **asked, **tags_at_creation(resource, "natgateway"))[
            "NatGateway"
        ]
        resource.physical_id = made["NatGatewayId"]
        resource.attributes = {
            "NatGatewayId": resource.physical_id,
            "EniId": made["NatGatewayAddresses"][0]["NetworkInterfaceId"],
        }

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_nat_gateway", NatGatewayId=resource.physical_id)
