"""VPCs and subnets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.ec2_tags import change_tags, tags_at_creation
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session

# In the order in which EC2 takes them: names for hosts need a resolver.
_VPC_ATTRIBUTES = ("EnableDnsSupport", "EnableDnsHostnames")
_VPC_DEFAULTS = {"EnableDnsSupport": True, "EnableDnsHostnames": False}


@resource_type(
    "AWS::EC2::VPC",
    properties="CidrBlock EnableDnsHostnames EnableDnsSupport InstanceTenancy Tags",
    updatable="EnableDnsHostnames EnableDnsSupport InstanceTenancy Tags",
)
class Vpc(ResourceType):
    """A VPC, with the main route table, default network ACL and default group that come with it."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        asked = resource.properties
        tenancy = {"InstanceTenancy": asked["InstanceTenancy"]} if "InstanceTenancy" in asked else {}
        vpc = session.call(
            "ec2",
            "create_vpc",
            CidrBlock=asked["CidrBlock"],
            **tenancy,
            **tags_at_creation(resource, "vpc"),
        )["Vpc"]
        resource.physical_id = vpc["VpcId"]
        ec2 = session.client("ec2")
        of_vpc = {"Name": "vpc-id", "Values": [resource.physical_id]}
        default_name = {"Name": "group-name", "Values": ["default"]}
        (group,) = ec2.describe_security_groups(Filters=[of_vpc, default_name])["SecurityGroups"]
        (acl,) = ec2.describe_network_acls(Filters=[of_vpc, {"Name": "default", "Values": ["true"]}])[
            "NetworkAcls"
        ]
        resource.attributes = {
            "VpcId": resource.physical_id,
            "CidrBlock": vpc["CidrBlock"],
            "CidrBlockAssociations": [
                association["AssociationId"] for association in vpc["CidrBlockAssociationSet"]
            ],
            "Ipv6CidrBlocks": [],
            "DefaultSecurityGroup": group["GroupId"],
            "DefaultNetworkAcl": acl["NetworkAclId"],
        }
        _set_vpc_attributes(resource, session)

    def replaces(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        """Tell whether a change needs a new VPC; one can leave dedicated hosts, but not move to them."""
        dedicated = after.get("InstanceTenancy", "default") != "default"
        moved = before.get("InstanceTenancy") != after.get("InstanceTenancy")
        return super().replaces(before, after) or (dedicated and moved)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        _set_vpc_attributes(after, session)
        if before.properties.get("InstanceTenancy") != after.properties.get("InstanceTenancy"):
            session.call("ec2", "modify_vpc_tenancy", VpcId=after.physical_id, InstanceTenancy="default")
        change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_vpc", VpcId=resource.physical_id)


def _set_vpc_attributes(resource: Resource, session: Session) -> None:
    for name in _VPC_ATTRIBUTES:
        value = resource.properties.get(name, _VPC_DEFAULTS[name])
        session.call("ec2", "modify_vpc_attribute", VpcId=resource.physical_id, **{name: {"Value": value}})


@resource_type(
    "AWS::EC2::Subnet",
    properties="VpcId CidrBlock AvailabilityZone AvailabilityZoneId MapPublicIpOnLaunch Tags",
    updatable="MapPublicIpOnLaunch Tags",
)
class Subnet(ResourceType):
    """A subnet, in a zone by name or by id."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        asked = resource.properties
        placing = ("VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId")
        subnet = session.call(
            "ec2",
            "create_subnet",
            **{name: asked[name] for name in placing if name in asked},
            **tags_at_creation(resource, "subnet"),
        )["Subnet"]
        resource.physical_id = subnet["SubnetId"]
        resource.attributes = {
            "SubnetId": resource.physical_id,
            "VpcId": subnet["VpcId"],
            "CidrBlock": subnet["CidrBlock"],
            "Ipv6CidrBlocks": [],
            "AvailabilityZone": subnet["AvailabilityZone"],
            "AvailabilityZoneId": subnet["AvailabilityZoneId"],
        }
        association = acl_association(session, resource.physical_id)
        if association is not None:
            resource.attributes["NetworkAclAssociationId"] = association["NetworkAclAssociationId"]
        if "MapPublicIpOnLaunch" in asked:
            _set_public_addresses(resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        _set_public_addresses(after, session)
        change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_subnet", SubnetId=resource.physical_id)


def _set_public_addresses(resource: Resource, session: Session) -> None:
    session.call(
        "ec2",
        "modify_subnet_attribute",
        SubnetId=resource.physical_id,
        MapPublicIpOnLaunch={"Value": resource.properties.get("MapPublicIpOnLaunch", False)},
    )


def acl_association(session: Session, subnet_id: str) -> dict[str, Any] | None:
    """Return the association of a subnet with its network ACL, as EC2 describes it; none of no subnet."""
    filters = [{"Name": "association.subnet-id", "Values": [subnet_id]}]
    for acl in session.client("ec2").describe_network_acls(Filters=filters)["NetworkAcls"]:
        for found in acl["Associations"]:
            if found["SubnetId"] == subnet_id:
                association: dict[str, Any] = found
                return association
    return None
