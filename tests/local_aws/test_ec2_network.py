"""Networks of the double: each type comes, changes and goes, and the API tells what was asked for."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest
import read_back.ec2
from botocore.exceptions import ClientError
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from local_resources import create, delete, resource, update
from read_back import READERS
from told import assert_gone, assert_told, live

from aws_double import resources
from aws_double.resource import TYPES, Resource, ResourceFailure
from aws_double.session import Session

NAMED = {"Tags": [{"Key": "Name", "Value": "one"}, {"Key": "team", "Value": "research"}]}
RENAMED = {"Tags": [{"Key": "Name", "Value": "other"}]}
for _module in pkgutil.iter_modules(resources.__path__, f"{resources.__name__}."):
    importlib.import_module(_module.name)
EC2_TYPES = sorted(name for name in TYPES if name.startswith("AWS::EC2::"))


@pytest.fixture
def vpc(root: Session) -> str:
    return create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16").physical_id


@pytest.fixture
def subnet(root: Session, vpc: str) -> str:
    return create(
        root, "AWS::EC2::Subnet", VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZoneId="usw2-az2"
    ).physical_id


@pytest.fixture
def gateway(root: Session, vpc: str) -> Resource:
    made = create(root, "AWS::EC2::InternetGateway")
    return create(root, "AWS::EC2::VPCGatewayAttachment", VpcId=vpc, InternetGatewayId=made.physical_id)


@pytest.mark.parametrize("name", EC2_TYPES)
def test_each_type_updates_in_place_what_the_registry_says(name: str) -> None:
    kind = TYPES[name]
    registered = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-west-2", name).schema
    fixed = {path.rpartition("/")[2] for path in registered.get("createOnlyProperties", [])}
    assert kind.properties <= registered["properties"].keys()
    assert kind.updatable == kind.properties - fixed


@pytest.mark.parametrize("name", EC2_TYPES)
def test_each_type_can_be_read_back(name: str) -> None:
    assert name in READERS


def test_a_vpc(root: Session) -> None:
    live(
        root,
        "AWS::EC2::VPC",
        {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": True, "EnableDnsHostnames": True, **NAMED},
        {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": True, "EnableDnsHostnames": False, **RENAMED},
        {"CidrBlock": "10.0.0.0/16", "InstanceTenancy": "default"},
    )


def test_a_vpc_comes_with_a_group_that_admits_itself(root: Session) -> None:
    made = create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16")
    group = made.attributes["DefaultSecurityGroup"]
    assert read_back.ec2.group_rules(root, group) == {
        "SecurityGroupIngress": [{"IpProtocol": "-1", "SourceSecurityGroupId": group}],
        "SecurityGroupEgress": [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}],
    }


def test_host_names_need_a_resolver(root: Session) -> None:
    with pytest.raises(ClientError, match="enableDnsSupport is false"):
        create(
            root,
            "AWS::EC2::VPC",
            CidrBlock="10.0.0.0/16",
            EnableDnsSupport=False,
            EnableDnsHostnames=True,
        )


@pytest.mark.parametrize(
    ("before", "after", "replaced"), [("default", "dedicated", True), (None, "default", False)]
)
def test_a_vpc_cannot_move_to_dedicated_hosts(before: str | None, after: str, replaced: bool) -> None:
    had = {"CidrBlock": "10.0.0.0/16", **({} if before is None else {"InstanceTenancy": before})}
    has = {"CidrBlock": "10.0.0.0/16", "InstanceTenancy": after}
    assert TYPES["AWS::EC2::VPC"].replaces(had, has) is replaced


@pytest.mark.parametrize("zone", [{"AvailabilityZone": "us-west-2b"}, {"AvailabilityZoneId": "usw2-az1"}])
def test_a_subnet_by_name_and_by_id_of_its_zone(root: Session, vpc: str, zone: dict[str, str]) -> None:
    fixed = {"VpcId": vpc, "CidrBlock": "10.0.128.0/17", **zone}
    live(
        root,
        "AWS::EC2::Subnet",
        {**fixed, "MapPublicIpOnLaunch": False, **NAMED},
        {**fixed, "MapPublicIpOnLaunch": True, **RENAMED},
        fixed,
    )


def test_a_subnet_tells_its_zone_both_ways(root: Session, vpc: str) -> None:
    made = create(root, "AWS::EC2::Subnet", VpcId=vpc, CidrBlock="10.0.1.0/24", AvailabilityZoneId="usw2-az2")
    assert made.attributes["AvailabilityZone"] == "us-west-2a"
    assert made.attributes["AvailabilityZoneId"] == "usw2-az2"
    told = READERS[made.type](root, made.physical_id, {})
    assert not told["MapPublicIpOnLaunch"]


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"AvailabilityZoneId": "use1-az1", "CidrBlock": "10.0.1.0/24"}, r"usw2-az2\)"),
        ({"AvailabilityZone": "eu-west-1a", "CidrBlock": "10.0.1.0/24"}, "following availability zones"),
        ({"CidrBlock": "10.1.0.0/24"}, "InvalidSubnet.Range"),
        ({"CidrBlock": "10.0.0.0/29"}, "InvalidSubnet.Range"),
        ({"CidrBlock": "10.0.0.128/25"}, "InvalidSubnet.Conflict"),
        ({"CidrBlock": "fd00::/64"}, "no IPv4 CIDR block"),
        ({"CidrBlock": "anything"}, "no CIDR block"),
    ],
)
def test_a_subnet_that_does_not_fit(
    root: Session, vpc: str, subnet: str, properties: dict[str, str], message: str
) -> None:
    with pytest.raises(ClientError, match=message):
        create(root, "AWS::EC2::Subnet", VpcId=vpc, **properties)


def test_a_route_table_and_its_subnet(root: Session, vpc: str, subnet: str) -> None:
    live(root, "AWS::EC2::RouteTable", {"VpcId": vpc, **NAMED}, {"VpcId": vpc, **RENAMED}, {"VpcId": vpc})
    table = create(root, "AWS::EC2::RouteTable", VpcId=vpc)
    live(
        root,
        "AWS::EC2::SubnetRouteTableAssociation",
        {"RouteTableId": table.physical_id, "SubnetId": subnet},
    )
    delete(root, table)


def test_a_subnet_has_one_route_table(root: Session, vpc: str, subnet: str) -> None:
    first, second = (create(root, "AWS::EC2::RouteTable", VpcId=vpc).physical_id for _ in range(2))
    create(root, "AWS::EC2::SubnetRouteTableAssociation", RouteTableId=first, SubnetId=subnet)
    with pytest.raises(ClientError, match="already associated"):
        create(root, "AWS::EC2::SubnetRouteTableAssociation", RouteTableId=second, SubnetId=subnet)


def test_a_subnet_has_a_table_of_its_own_vpc(root: Session, subnet: str) -> None:
    other = create(root, "AWS::EC2::VPC", CidrBlock="10.9.0.0/16").physical_id
    table = create(root, "AWS::EC2::RouteTable", VpcId=other).physical_id
    with pytest.raises(ClientError, match="different networks"):
        create(root, "AWS::EC2::SubnetRouteTableAssociation", RouteTableId=table, SubnetId=subnet)


def test_an_internet_gateway_and_the_vpc_that_it_is_for(root: Session, vpc: str) -> None:
    live(root, "AWS::EC2::InternetGateway", NAMED, RENAMED, {})
    first, second = (create(root, "AWS::EC2::InternetGateway").physical_id for _ in range(2))
    live(
        root,
        "AWS::EC2::VPCGatewayAttachment",
        {"VpcId": vpc, "InternetGatewayId": first},
        {"VpcId": vpc, "InternetGatewayId": second},
    )


def test_a_vpc_has_one_internet_gateway(root: Session, vpc: str, gateway: Resource) -> None:
    another = create(root, "AWS::EC2::InternetGateway").physical_id
    with pytest.raises(ClientError, match="already associated"):
        create(root, "AWS::EC2::VPCGatewayAttachment", VpcId=vpc, InternetGatewayId=another)


def test_an_address(root: Session) -> None:
    live(root, "AWS::EC2::EIP", {"Domain": "vpc", **NAMED}, {"Domain": "vpc", **RENAMED}, {"Domain": "vpc"})
    made = create(root, "AWS::EC2::EIP", Domain="vpc")
    with pytest.raises(ResourceFailure, match="Domain are not supported"):
        update(root, made)


def test_a_nat_gateway_and_routes_to_it(root: Session, vpc: str, subnet: str, gateway: Resource) -> None:
    address = create(root, "AWS::EC2::EIP", Domain="vpc")
    wanted = {"AllocationId": address.attributes["AllocationId"], "SubnetId": subnet}
    live(root, "AWS::EC2::NatGateway", {**wanted, **NAMED}, {**wanted, **RENAMED}, wanted)
    nat = create(root, "AWS::EC2::NatGateway", **wanted, ConnectivityType="public")
    assert_told(root, nat)
    table = create(root, "AWS::EC2::RouteTable", VpcId=vpc).physical_id
    live(
        root,
        "AWS::EC2::Route",
        {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": nat.physical_id},
        {
            "RouteTableId": table,
            "DestinationCidrBlock": "0.0.0.0/0",
            "GatewayId": gateway.properties["InternetGatewayId"],
        },
        {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": nat.physical_id},
    )


def test_routes_to_an_internet_gateway(root: Session, vpc: str, gateway: Resource) -> None:
    table = create(root, "AWS::EC2::RouteTable", VpcId=vpc).physical_id
    through = {"RouteTableId": table, "GatewayId": gateway.properties["InternetGatewayId"]}
    (prefix_list, *_) = root.client("ec2").describe_managed_prefix_lists()["PrefixLists"]
    for destination in (
        {"DestinationCidrBlock": "0.0.0.0/0"},
        {"DestinationIpv6CidrBlock": "::/0"},
        {"DestinationPrefixListId": prefix_list["PrefixListId"]},
    ):
        made = create(root, "AWS::EC2::Route", **through, **destination)
        assert_told(root, made)
        with pytest.raises(ClientError, match="RouteAlreadyExists"):
            create(root, "AWS::EC2::Route", **through, **destination)
        delete(root, made)
        assert_gone(root, made)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({}, "exactly one target, got none"),
        ({"NatGatewayId": "nat-0123456789abcdef0"}, "InvalidNatGatewayID.NotFound"),
        ({"GatewayId": "igw-0123456789abcdef0"}, "InvalidInternetGatewayID.NotFound"),
        ({"GatewayId": "unattached"}, "different networks"),
        ({"GatewayId": "unattached", "NatGatewayId": "nat-0123456789abcdef0"}, "exactly one target"),
    ],
)
def test_a_route_that_leads_nowhere(root: Session, vpc: str, target: dict[str, str], message: str) -> None:
    table = create(root, "AWS::EC2::RouteTable", VpcId=vpc).physical_id
    unattached = create(root, "AWS::EC2::InternetGateway").physical_id
    target = {name: unattached if id_ == "unattached" else id_ for name, id_ in target.items()}
    with pytest.raises(ClientError, match=message):
        create(root, "AWS::EC2::Route", RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", **target)


def test_a_route_whose_gateway_is_gone_is_not_told(root: Session, vpc: str, gateway: Resource) -> None:
    table = create(root, "AWS::EC2::RouteTable", VpcId=vpc).physical_id
    made = create(
        root,
        "AWS::EC2::Route",
        RouteTableId=table,
        DestinationCidrBlock="0.0.0.0/0",
        GatewayId=gateway.properties["InternetGatewayId"],
    )
    delete(root, gateway)
    assert_gone(root, made)


def test_a_nat_gateway_needs_an_internet_gateway(root: Session, subnet: str) -> None:
    address = create(root, "AWS::EC2::EIP", Domain="vpc")
    with pytest.raises(ClientError, match="no Internet gateway attached"):
        create(
            root,
            "AWS::EC2::NatGateway",
            AllocationId=address.attributes["AllocationId"],
            SubnetId=subnet,
        )


@pytest.mark.parametrize("name", EC2_TYPES)
def test_a_property_that_the_double_does_not_apply(name: str) -> None:
    asked: dict[str, Any] = {"NotOfEc2": "value"}
    with pytest.raises(ResourceFailure, match="does not apply: NotOfEc2"):
        TYPES[name].check(resource(name, **asked))
