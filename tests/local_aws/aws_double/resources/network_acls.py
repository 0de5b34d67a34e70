"""Network ACLs."""

from __future__ import annotations

from typing import Any

from aws_double.ec2_tags import change_tags, tags_at_creation
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.resources.network import acl_association
from aws_double.session import Session

# CloudFormation's names of an entry's parameters, and EC2's.
_ENTRY = {
    "NetworkAclId": "NetworkAclId",
    "RuleNumber": "RuleNumber",
    "Protocol": "Protocol",
    "RuleAction": "RuleAction",
    "CidrBlock": "CidrBlock",
    "Ipv6CidrBlock": "Ipv6CidrBlock",
    "PortRange": "PortRange",
    "Icmp": "IcmpTypeCode",
}


@resource_type("AWS::EC2::NetworkAcl", properties="VpcId Tags", updatable="Tags")
class NetworkAcl(ResourceType):
    """A network ACL without entries."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        made = session.call(
            "ec2",
            "create_network_acl",
            VpcId=resource.properties["VpcId"],
            **tags_at_creation(resource, "network-acl"),
        )
        resource.physical_id = made["NetworkAcl"]["NetworkAclId"]
        resource.attributes = {"Id": resource.physical_id}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_network_acl", NetworkAclId=resource.physical_id)


@resource_type(
    "AWS::EC2::NetworkAclEntry",
    properties="CidrBlock Egress Icmp Ipv6CidrBlock NetworkAclId PortRange Protocol RuleAction RuleNumber",
    updatable="CidrBlock Icmp Ipv6CidrBlock PortRange Protocol RuleAction",
)
class NetworkAclEntry(ResourceType):
    """A numbered rule of a network ACL."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it."""
        session.call("ec2", "create_network_acl_entry", **_entry(resource))
        asked = resource.properties
        direction = "egress" if _egress(resource) else "ingress"
        resource.physical_id = f"{asked['NetworkAclId']}|{direction}|{asked['RuleNumber']}"
        resource.attributes = {"Id": resource.physical_id}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place."""
        session.call("ec2", "replace_network_acl_entry", **_entry(after))

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call(
            "ec2",
            "delete_network_acl_entry",
            NetworkAclId=resource.properties["NetworkAclId"],
            RuleNumber=resource.properties["RuleNumber"],
            Egress=_egress(resource),
        )


def _entry(resource: Resource) -> dict[str, Any]:
    asked = resource.properties
    given = {_ENTRY[name]: value for name, value in asked.items() if name != "Egress"}
    return {**given, "Egress": _egress(resource)}


def _egress(resource: Resource) -> bool:
    return str(resource.properties.get("Egress", False)).lower() == "true"


@resource_type("AWS::EC2::SubnetNetworkAclAssociation", properties="NetworkAclId SubnetId")
class SubnetNetworkAclAssociation(ResourceType):
    """The place of a subnet's default network ACL, taken by another one."""

    def create(self, resource: Resource, session: Session) -> None:
        """Let the subnet have the ACL."""
        asked = resource.properties
        resource.physical_id = _associate(session, asked["SubnetId"], asked["NetworkAclId"])
        resource.attributes = {"AssociationId": resource.physical_id}

    def delete(self, resource: Resource, session: Session) -> None:
        """Let the subnet have the VPC's default ACL again, if nobody has given it another one since."""
        subnet_id = resource.properties["SubnetId"]
        ec2 = session.client("ec2")
        present = acl_association(session, subnet_id)
        if present is None or present["NetworkAclAssociationId"] != resource.physical_id:
            return
        (subnet,) = ec2.describe_subnets(SubnetIds=[subnet_id])["Subnets"]
        filters = [
            {"Name": "vpc-id", "Values": [subnet["VpcId"]]},
            {"Name": "default", "Values": ["true"]},
        ]
        (default,) = ec2.describe_network_acls(Filters=filters)["NetworkAcls"]
        _associate(session, subnet_id, default["NetworkAclId"])


def _associate(session: Session, subnet_id: str, network_acl_id: str) -> str:
    present = acl_association(session, subnet_id)
    if present is None:
        raise ResourceFailure(f"The subnet ID '{subnet_id}' does not exist")
    made = session.call(
        "ec2",
        "replace_network_acl_association",
        AssociationId=present["NetworkAclAssociationId"],
        NetworkAclId=network_acl_id,
    )
    return str(made["NewAssociationId"])
