"""The EC2 of the double refuses to delete in the wrong order, as AWS does; the right one leaves nothing."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete
from told import assert_gone, assert_told

from aws_double import usage
from aws_double.resource import Resource
from aws_double.session import Session

Network = dict[str, Resource]

# What stands in the way of what, and the words for it.
HELD = [
    ("vpc", "vpc.*has dependencies", "subnet, gateway, group, acl, table and endpoint"),
    ("public subnet", "has dependencies.*Used by eni-", "its NAT gateway"),
    ("internet gateway", "is being utilized by vpc-", "its attachment"),
    ("attachment", "mapped public address", "the address of the NAT gateway"),
    ("address", r"InvalidIPAddress\.InUse", "the NAT gateway"),
    ("table", "has dependencies", "its subnet"),
    ("acl", "has dependencies.*Used by subnet-", "its subnet"),
    ("group", "has a dependent object.*Used by a rule of sg-", "a rule of another group"),
]
RIGHT_ORDER = [
    "rule",
    "group",
    "other group",
    "route",
    "table association",
    "acl association",
    "nat gateway",
    "address",
    "attachment",
    "internet gateway",
    "table",
    "acl",
    "public subnet",
    "subnet",
    "vpc",
]


@pytest.fixture
def network(root: Session) -> Network:
    made: Network = {}

    def add(name: str, kind: str, **properties: str) -> str:
        made[name] = create(root, f"AWS::EC2::{kind}", **properties)
        return made[name].physical_id

    vpc = add("vpc", "VPC", CidrBlock="10.0.0.0/16")
    public = add("public subnet", "Subnet", VpcId=vpc, CidrBlock="10.0.0.0/24")
    subnet = add("subnet", "Subnet", VpcId=vpc, CidrBlock="10.0.1.0/24")
    igw = add("internet gateway", "InternetGateway")
    add("attachment", "VPCGatewayAttachment", VpcId=vpc, InternetGatewayId=igw)
    add("address", "EIP", Domain="vpc")
    allocation = made["address"].attributes["AllocationId"]
    nat = add("nat gateway", "NatGateway", SubnetId=public, AllocationId=allocation)
    table = add("table", "RouteTable", VpcId=vpc)
    add("table association", "SubnetRouteTableAssociation", RouteTableId=table, SubnetId=subnet)
    add("route", "Route", RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    acl = add("acl", "NetworkAcl", VpcId=vpc)
    add("acl association", "SubnetNetworkAclAssociation", NetworkAclId=acl, SubnetId=subnet)
    group = add("group", "SecurityGroup", GroupDescription="nodes", VpcId=vpc)
    other = add("other group", "SecurityGroup", GroupDescription="file system", VpcId=vpc)
    add("rule", "SecurityGroupIngress", GroupId=other, IpProtocol="-1", SourceSecurityGroupId=group)
    return made


@pytest.fixture
def holder() -> Iterator[str]:
    arn = f"arn:aws:sagemaker:us-west-2:111122223333:cluster/{uuid.uuid4().hex[:12]}"
    yield arn
    usage.release(arn)


@pytest.mark.parametrize(("name", "message"), [held[:2] for held in HELD], ids=[held[2] for held in HELD])
def test_what_is_in_use_stays(root: Session, network: Network, name: str, message: str) -> None:
    with pytest.raises(ClientError, match=message):
        delete(root, network[name])
    assert_told(root, network[name])


def test_the_right_order_leaves_nothing(root: Session, network: Network) -> None:
    assert sorted(RIGHT_ORDER) == sorted(network)
    for name in RIGHT_ORDER:
        delete(root, network[name])
        assert_gone(root, network[name])


@pytest.mark.parametrize(
    ("left", "kind"),
    [
        ("other group", "sg-"),
        ("internet gateway", "igw-"),
        ("table", "rtb-"),
        ("acl", "acl-"),
        ("subnet", "subnet-"),
    ],
)
def test_a_vpc_waits_for_each_of_its_parts(root: Session, network: Network, left: str, kind: str) -> None:
    kept = {left, "vpc", *(("attachment",) if left == "internet gateway" else ())}
    for name in RIGHT_ORDER:
        if name not in kept:
            delete(root, network[name])
    with pytest.raises(ClientError, match=f"DependencyViolation.* Used by {kind}[0-9a-f]+\\.$"):
        delete(root, network["vpc"])


@pytest.mark.parametrize("name", ["subnet", "other group"])
def test_what_a_service_holds_stays_until_it_lets_go(
    root: Session, network: Network, holder: str, name: str
) -> None:
    for part in RIGHT_ORDER[: RIGHT_ORDER.index("other group")]:
        delete(root, network[part])
    usage.hold(holder, [network[name].physical_id])
    with pytest.raises(ClientError, match=f"DependencyViolation.*Used by {holder}"):
        delete(root, network[name])
    usage.release(holder)
    delete(root, network[name])
    assert_gone(root, network[name])


@pytest.mark.parametrize("name", ["subnet", "other group"])
def test_what_has_an_interface_stays_until_it_is_gone(root: Session, network: Network, name: str) -> None:
    for part in RIGHT_ORDER[: RIGHT_ORDER.index("other group")]:
        delete(root, network[part])
    interface = root.call(
        "ec2",
        "create_network_interface",
        SubnetId=network["subnet"].physical_id,
        Groups=[network["other group"].physical_id],
    )["NetworkInterface"]["NetworkInterfaceId"]
    with pytest.raises(ClientError, match=f"DependencyViolation.*Used by {interface}"):
        delete(root, network[name])
    root.call("ec2", "delete_network_interface", NetworkInterfaceId=interface)
    delete(root, network[name])
    assert_gone(root, network[name])


def test_a_subnet_takes_its_associations_along(root: Session, network: Network) -> None:
    delete(root, network["subnet"])
    delete(root, network["acl"])
    delete(root, network["table"])
    for name in ("acl", "table", "acl association", "table association"):
        assert_gone(root, network[name])


def test_what_came_with_a_vpc_goes_with_it_alone(root: Session) -> None:
    vpc = create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16")
    with pytest.raises(ClientError, match="CannotDelete"):
        root.call("ec2", "delete_security_group", GroupId=vpc.attributes["DefaultSecurityGroup"])
    of_vpc = [{"Name": "vpc-id", "Values": [vpc.physical_id]}]
    (table,) = root.client("ec2").describe_route_tables(Filters=of_vpc)["RouteTables"]
    with pytest.raises(ClientError, match="It is the main one"):
        root.call("ec2", "delete_route_table", RouteTableId=table["RouteTableId"])
    delete(root, vpc)
    for operation, found in (
        ("describe_route_tables", "RouteTables"),
        ("describe_security_groups", "SecurityGroups"),
        ("describe_network_acls", "NetworkAcls"),
    ):
        assert getattr(root.client("ec2"), operation)(Filters=of_vpc)[found] == []


def test_what_is_not_there_is_not_found(root: Session, network: Network) -> None:
    for name in RIGHT_ORDER:
        delete(root, network[name])
    # EC2 knows a deleted NAT gateway for a while; without a subnet there is no association to give back.
    quiet = ("nat gateway", "acl association")
    for name in quiet:
        delete(root, network[name])
    for name in RIGHT_ORDER:
        if name not in quiet:
            with pytest.raises(ClientError, match=r"\(Invalid\w+\.NotFound\)"):
                delete(root, network[name])
