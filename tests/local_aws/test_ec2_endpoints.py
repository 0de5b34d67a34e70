"""VPC endpoints of the double: routes of gateways, interfaces with groups, policies and private names."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete, resource, update
from read_back import READERS
from told import assert_gone, assert_told, live

from aws_double.resource import Resource
from aws_double.session import Session

KIND = "AWS::EC2::VPCEndpoint"
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Sid": "OwnBuckets",
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:ResourceAccount": "111122223333"}},
        }
    ],
}
OTHER_POLICY = {"Statement": [{**POLICY["Statement"][0], "Action": ["s3:GetObject", "s3:PutObject"]}]}  # type: ignore[dict-item]


@pytest.fixture
def vpc(root: Session) -> str:
    return create(
        root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16", EnableDnsSupport=True, EnableDnsHostnames=True
    ).physical_id


@pytest.fixture
def tables(root: Session, vpc: str) -> list[str]:
    return [create(root, "AWS::EC2::RouteTable", VpcId=vpc).physical_id for _ in range(2)]


@pytest.fixture
def groups(root: Session, vpc: str) -> list[str]:
    return [
        create(root, "AWS::EC2::SecurityGroup", GroupDescription="endpoints", VpcId=vpc).physical_id
        for _ in range(2)
    ]


@pytest.fixture
def subnets(root: Session, vpc: str) -> list[str]:
    """One in each of two zones, and another one in the first zone."""
    return [
        create(
            root,
            "AWS::EC2::Subnet",
            VpcId=vpc,
            CidrBlock=f"10.0.{number}.0/24",
            AvailabilityZoneId=f"usw2-az{zone}",
        ).physical_id
        for number, zone in enumerate((1, 2, 1))
    ]


def _name(service: str) -> str:
    return f"com.amazonaws.us-west-2.{service}"


def _routes(root: Session, table: str) -> set[str]:
    (told,) = root.client("ec2").describe_route_tables(RouteTableIds=[table])["RouteTables"]
    return {route["GatewayId"] for route in told["Routes"] if "DestinationPrefixListId" in route}


def test_a_gateway_endpoint(root: Session, vpc: str, tables: list[str]) -> None:
    fixed = {"VpcId": vpc, "ServiceName": _name("s3"), "VpcEndpointType": "Gateway"}
    live(
        root,
        KIND,
        {
            **fixed,
            "RouteTableIds": tables[:1],
            "PolicyDocument": POLICY,
            "Tags": [{"Key": "Name", "Value": "s3"}],
        },
        {
            **fixed,
            "RouteTableIds": [tables[1], tables[0]],
            "PolicyDocument": OTHER_POLICY,
            "Tags": [{"Key": "team", "Value": "research"}],
        },
        {**fixed, "RouteTableIds": tables[1:]},
    )


def test_a_gateway_endpoint_routes_the_prefix_list_of_its_service(
    root: Session, vpc: str, tables: list[str]
) -> None:
    fixed = {"VpcId": vpc, "ServiceName": _name("s3")}
    made = create(root, KIND, **fixed, RouteTableIds=tables[:1])
    assert [_routes(root, table) for table in tables] == [{made.physical_id}, set()]
    made = update(root, made, **fixed, RouteTableIds=tables[1:])
    assert [_routes(root, table) for table in tables] == [set(), {made.physical_id}]
    delete(root, made)
    assert [_routes(root, table) for table in tables] == [set(), set()]


def test_an_endpoint_without_a_policy_lets_everything_through(
    root: Session, vpc: str, tables: list[str]
) -> None:
    fixed = {"VpcId": vpc, "ServiceName": _name("s3"), "RouteTableIds": tables[:1]}
    made = update(root, create(root, KIND, **fixed, PolicyDocument=POLICY), **fixed)
    (statement,) = READERS[KIND](root, made.physical_id, fixed)["PolicyDocument"]["Statement"]
    assert statement == {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}


def test_a_second_endpoint_of_a_service_in_a_table(root: Session, vpc: str, tables: list[str]) -> None:
    wanted = {"VpcId": vpc, "ServiceName": _name("s3"), "RouteTableIds": tables[:1]}
    create(root, KIND, **wanted)
    with pytest.raises(ClientError, match="RouteAlreadyExists"):
        create(root, KIND, **wanted)
    of_vpc = [{"Name": "vpc-id", "Values": [vpc]}]
    assert len(root.client("ec2").describe_vpc_endpoints(Filters=of_vpc)["VpcEndpoints"]) == 1


def _interface(vpc: str, **properties: Any) -> dict[str, Any]:
    return {"VpcId": vpc, "ServiceName": _name("ecr.api"), "VpcEndpointType": "Interface", **properties}


def test_an_interface_endpoint(root: Session, vpc: str, subnets: list[str], groups: list[str]) -> None:
    live(
        root,
        KIND,
        _interface(
            vpc,
            SubnetIds=subnets[:1],
            SecurityGroupIds=groups[:1],
            PrivateDnsEnabled=True,
            PolicyDocument=POLICY,
            Tags=[{"Key": "Name", "Value": "ecr.api"}],
        ),
        _interface(
            vpc,
            SubnetIds=[subnets[1], subnets[0]],
            SecurityGroupIds=[groups[1], groups[0]],
            PrivateDnsEnabled=False,
            PolicyDocument=OTHER_POLICY,
        ),
        _interface(vpc, SubnetIds=subnets[1:2], SecurityGroupIds=groups[1:], PrivateDnsEnabled=True),
    )


def test_an_interface_endpoint_has_an_interface_in_each_subnet(
    root: Session, vpc: str, subnets: list[str], groups: list[str]
) -> None:
    def interfaces() -> list[tuple[str, list[str], str]]:
        of_vpc = [{"Name": "vpc-id", "Values": [vpc]}]
        told = root.client("ec2").describe_network_interfaces(Filters=of_vpc)["NetworkInterfaces"]
        return [
            (one["SubnetId"], [group["GroupId"] for group in one["Groups"]], one["Description"])
            for one in told
        ]

    made = create(root, KIND, **_interface(vpc, SubnetIds=subnets[:2], SecurityGroupIds=groups[:1]))
    said = f"VPC Endpoint Interface {made.physical_id}"
    assert interfaces() == [(subnets[0], groups[:1], said), (subnets[1], groups[:1], said)]
    assert len(made.attributes["NetworkInterfaceIds"]) == 2
    made = update(root, made, **_interface(vpc, SubnetIds=subnets[1:2], SecurityGroupIds=groups[1:]))
    assert interfaces() == [(subnets[1], groups[1:], said)]
    assert len(made.attributes["NetworkInterfaceIds"]) == 1
    delete(root, made)
    assert interfaces() == []


def test_an_interface_endpoint_without_a_group_has_the_default_one(
    root: Session, vpc: str, subnets: list[str]
) -> None:
    made = create(root, KIND, **_interface(vpc, SubnetIds=subnets[:1]))
    told = READERS[KIND](root, made.physical_id, {})["SecurityGroupIds"]
    (group,) = root.client("ec2").describe_security_groups(GroupIds=told)["SecurityGroups"]
    assert (group["GroupName"], group["VpcId"]) == ("default", vpc)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"ServiceName": "com.amazonaws.us-east-1.ecr.api"}, "InvalidServiceName"),
        ({"ServiceName": "com.amazonaws.us-west-2.ecr.apo"}, "InvalidServiceName"),
        (
            {"ServiceName": "com.amazonaws.us-west-2.ecr.api", "VpcEndpointType": "Gateway"},
            "InvalidServiceName",
        ),
        ({"VpcEndpointType": "GatewayLoadBalancer"}, "not in this double"),
        ({"PolicyDocument": {"Statement": [{"Effect": "Allow"}]}}, "InvalidPolicyDocument"),
        ({"PolicyDocument": "everything"}, "InvalidPolicyDocument"),
        ({"SecurityGroupIds": ["sg-0123456789abcdef0"]}, r"InvalidGroup\.NotFound"),
        ({"SubnetIds": ["subnet-0123456789abcdef0"]}, r"InvalidSubnetID\.NotFound"),
        ({"RouteTableIds": ["rtb-0123456789abcdef0"]}, "only supported for Gateway type"),
    ],
)
def test_an_endpoint_that_ec2_refuses(
    root: Session, vpc: str, properties: dict[str, Any], message: str
) -> None:
    with pytest.raises(ClientError, match=message):
        create(root, KIND, **{**_interface(vpc), **properties})
    of_vpc = [{"Name": "vpc-id", "Values": [vpc]}]
    assert root.client("ec2").describe_vpc_endpoints(Filters=of_vpc)["VpcEndpoints"] == []


def test_one_subnet_a_zone(root: Session, vpc: str, subnets: list[str]) -> None:
    with pytest.raises(ClientError, match="DuplicateSubnetsInSameZone"):
        create(root, KIND, **_interface(vpc, SubnetIds=[subnets[0], subnets[2]]))


def test_one_private_name_a_service(root: Session, vpc: str, subnets: list[str]) -> None:
    wanted = _interface(vpc, SubnetIds=subnets[:1])
    first = create(root, KIND, **wanted, PrivateDnsEnabled=True)
    with pytest.raises(ClientError, match="conflicting DNS domain"):
        create(root, KIND, **wanted, PrivateDnsEnabled=True)
    second = create(root, KIND, **wanted, PrivateDnsEnabled=False)
    with pytest.raises(ClientError, match="conflicting DNS domain"):
        update(root, second, **wanted, PrivateDnsEnabled=True)
    delete(root, first)
    assert_told(root, update(root, second, **wanted, PrivateDnsEnabled=True))


@pytest.mark.parametrize("missing", ["EnableDnsSupport", "EnableDnsHostnames"])
def test_private_names_need_a_vpc_that_resolves_names(root: Session, missing: str) -> None:
    names = {"EnableDnsSupport": True, "EnableDnsHostnames": missing == "EnableDnsSupport"}
    if missing == "EnableDnsSupport":
        names = {"EnableDnsSupport": False}
    vpc = create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16", **names).physical_id
    with pytest.raises(ClientError, match="requires both enableDnsSupport and enableDnsHostnames"):
        create(root, KIND, **_interface(vpc, PrivateDnsEnabled=True))
    assert_told(root, create(root, KIND, **_interface(vpc, PrivateDnsEnabled=False)))


def test_an_endpoint_holds_its_subnet_and_group(
    root: Session, vpc: str, subnets: list[str], groups: list[str]
) -> None:
    made = create(root, KIND, **_interface(vpc, SubnetIds=subnets[:1], SecurityGroupIds=groups[:1]))
    for kind, held in (("AWS::EC2::Subnet", subnets[0]), ("AWS::EC2::SecurityGroup", groups[0])):
        one: Resource = resource(kind)
        one.physical_id = held
        with pytest.raises(ClientError, match=r"DependencyViolation.*Used by eni-"):
            delete(root, one)
    delete(root, made)
    assert_gone(root, made)
    with pytest.raises(ClientError, match=r"InvalidVpcEndpointId\.NotFound"):
        delete(root, made)
