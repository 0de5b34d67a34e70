"""Networks without a way to the internet, and subnets of a control plane in either kind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CfnResource, Environment, Stack, Stage
from aws_cdk import aws_fsx as fsx
from aws_cdk.assertions import Annotations, Match, Template
from cfnlint.api import ManualArgs, lint

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem
from hyperpod_model.catalog.endpoints import required_endpoints
from hyperpod_model.faults import InvalidInputError

OREGON = Environment(account="123456789012", region="us-west-2")
ZONES = ["usw2-az1", "usw2-az3"]


def _stack(**options: Any) -> Stack:
    return Stack(App(), "Stack", **options)


def _network(stack: Stack, **options: Any) -> ClusterNetwork:
    return ClusterNetwork(stack, "Network", **{"availability_zone_id": "usw2-az2", **options})


def _of_type(template: Template, kind: str) -> dict[str, Any]:
    return dict(template.find_resources(f"AWS::EC2::{kind}"))


@pytest.fixture(scope="module")
def isolated() -> Template:
    stack = _stack()
    _network(stack, isolated=True)
    return Template.from_stack(stack)


@pytest.mark.parametrize(
    "kind",
    ["NatGateway", "EIP", "InternetGateway", "VPCGatewayAttachment", "Route", "EgressOnlyInternetGateway"],
)
def test_nothing_leads_to_the_internet(isolated: Template, kind: str) -> None:
    isolated.resource_count_is(f"AWS::EC2::{kind}", 0)


def test_there_are_the_nodes_and_the_endpoints_subnets_only(isolated: Template) -> None:
    subnets = [resource["Properties"] for resource in _of_type(isolated, "Subnet").values()]
    assert sorted(subnet["CidrBlock"] for subnet in subnets) == ["10.0.0.0/24", "10.0.128.0/17"]
    assert not any(subnet["MapPublicIpOnLaunch"] for subnet in subnets)
    assert {subnet["AvailabilityZoneId"] for subnet in subnets} == {"usw2-az2"}


def test_names_of_endpoints_resolve(isolated: Template) -> None:
    isolated.has_resource_properties("AWS::EC2::VPC", {"EnableDnsSupport": True, "EnableDnsHostnames": True})


def test_the_nodes_keep_their_acl_and_flow_logs(isolated: Template) -> None:
    isolated.resource_count_is("AWS::EC2::SubnetNetworkAclAssociation", 1)
    isolated.resource_count_is("AWS::EC2::NetworkAclEntry", 8)
    isolated.resource_count_is("AWS::EC2::FlowLog", 1)


def test_functions_of_custom_resources_stand_outside_the_vpc(isolated: Template) -> None:
    functions = isolated.find_resources("AWS::Lambda::Function")
    assert functions
    assert all("VpcConfig" not in function["Properties"] for function in functions.values())


def test_the_subnet_counts_as_isolated_and_there_is_no_public_one() -> None:
    stack = _stack()
    network = _network(stack, isolated=True)
    assert network.public_subnet is None
    assert [subnet.node.path for subnet in network.vpc.isolated_subnets] == [
        network.accelerator_subnet.node.path
    ]
    assert list(network.vpc.public_subnets) == list(network.vpc.private_subnets) == []
    assert network.endpoints is not None


def test_a_network_with_a_way_out_has_no_endpoints_object() -> None:
    network = _network(_stack())
    assert network.endpoints is None
    assert network.public_subnet is not None
    assert network.control_plane_subnets == ()


def test_the_orchestrator_follows_from_control_plane_zones_unless_said() -> None:
    def services(**options: Any) -> tuple[str, ...]:
        endpoints = _network(_stack(), isolated=True, **options).endpoints
        assert endpoints is not None
        return endpoints.services

    slurm = tuple(found.service for found in required_endpoints("slurm"))
    eks = tuple(found.service for found in required_endpoints("eks"))
    assert services() == slurm
    assert services(control_plane_availability_zone_ids=ZONES) == eks
    assert services(orchestrator="eks") == eks


def test_endpoints_take_no_address_from_the_nodes() -> None:
    groups = [("workers", "ml.p5.48xlarge", 7)]
    for options in ({}, {"isolated": True, "optional_endpoints": ["fsx", "kms"]}):
        network = _network(_stack(), accelerator_subnet_prefix_length=24, **options)
        network.check_capacity(groups=groups, other_addresses=27)
        with pytest.raises(InvalidInputError, match=r"the cluster needs 252 \(workers 7 x 32, others 28\)"):
            network.check_capacity(groups=groups, other_addresses=28)


def _consumer(**options: Any) -> tuple[set[str], Template]:
    stack = _stack()
    network = _network(stack, **options)
    CfnResource(stack, "Consumer", type="Some::Consumer::Type").node.add_dependency(network.vpc)
    for number, subnet in enumerate(network.control_plane_subnets):
        CfnResource(stack, f"Consumer{number}", type="Some::Consumer::Type").node.add_dependency(subnet)
    template = Template.from_stack(stack)
    consumers = template.find_resources("Some::Consumer::Type").values()
    return set.intersection(*(set(consumer["DependsOn"]) for consumer in consumers)), template


def test_whatever_depends_on_the_network_waits_for_every_endpoint() -> None:
    waits, template = _consumer(isolated=True, control_plane_availability_zone_ids=ZONES)
    assert set(_of_type(template, "VPCEndpoint")) <= waits
    assert len(_of_type(template, "SubnetRouteTableAssociation")) == 3
    assert set(_of_type(template, "SubnetRouteTableAssociation")) <= waits
    assert set(_of_type(template, "SubnetNetworkAclAssociation")) <= waits


def test_the_control_plane_gets_two_private_subnets_with_the_way_out_of_the_nodes() -> None:
    waits, template = _consumer(control_plane_availability_zone_ids=ZONES)
    subnets = {
        resource["Properties"]["CidrBlock"]: (name, resource["Properties"])
        for name, resource in _of_type(template, "Subnet").items()
    }
    assert sorted(subnets) == ["10.0.0.0/24", "10.0.1.0/24", "10.0.128.0/17", "10.0.2.0/24"]
    tables = {}
    for association in _of_type(template, "SubnetRouteTableAssociation").values():
        properties = association["Properties"]
        tables[properties["SubnetId"]["Ref"]] = properties["RouteTableId"]
    accelerator, _ = subnets["10.0.128.0/17"]
    for cidr, zone in zip(("10.0.1.0/24", "10.0.2.0/24"), ZONES, strict=True):
        name, properties = subnets[cidr]
        assert properties["AvailabilityZoneId"] == zone
        assert properties["MapPublicIpOnLaunch"] is False
        assert tables[name] == tables[accelerator]
    assert set(_of_type(template, "Route")) <= waits
    assert set(_of_type(template, "NatGateway")) <= waits


def test_other_constructs_take_the_control_plane_subnets() -> None:
    stack = _stack()
    network = _network(
        stack, control_plane_availability_zone_ids=ZONES, control_plane_subnet_prefix_length=28
    )
    first, second = network.control_plane_subnets
    assert (first.ipv4_cidr_block, second.ipv4_cidr_block) == ("10.0.1.0/28", "10.0.1.16/28")
    assert first.route_table.route_table_id == network.accelerator_subnet.route_table.route_table_id
    fsx.CfnFileSystem(stack, "Any", file_system_type="LUSTRE", subnet_ids=[first.subnet_id, second.subnet_id])
    (file_system,) = Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values()
    assert len({reference["Ref"] for reference in file_system["Properties"]["SubnetIds"]}) == 2


@pytest.mark.parametrize("isolated", [False, True])
def test_the_range_may_be_a_token(isolated: bool) -> None:
    stack = _stack()
    cidr = CfnParameter(stack, "Cidr").value_as_string
    zones = [CfnParameter(stack, f"Zone{number}").value_as_string for number in (1, 2)]
    network = _network(
        stack,
        vpc_cidr=cidr,
        isolated=isolated,
        control_plane_availability_zone_ids=zones,
        control_plane_subnet_prefix_length=26,
    )
    blocks = [stack.resolve(subnet.ipv4_cidr_block) for subnet in network.control_plane_subnets]
    # The second and third /24 of the VPC, of each the first /26.
    assert blocks == [
        {
            "Fn::Select": [
                0,
                {"Fn::Cidr": [{"Fn::Select": [n, {"Fn::Cidr": [{"Ref": "Cidr"}, 3, "8"]}]}, 1, "6"]},
            ]
        }
        for n in (1, 2)
    ]
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::Subnet", {"AvailabilityZoneId": {"Ref": "Zone2"}}
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"control_plane_availability_zone_ids": ["usw2-az1"]},
            r"cluster network 'Stack/Network': control_plane_availability_zone_ids: must be two zones, got 1",
        ),
        (
            {"control_plane_availability_zone_ids": ["usw2-az1", "us-west-2a"]},
            r"control_plane_availability_zone_ids\[1\]: must be the id of an Availability Zone, got the name",
        ),
        (
            {"control_plane_availability_zone_ids": "usw2-az1"},
            r"control_plane_availability_zone_ids: must be a list of two Availability Zone ids, got 'usw2",
        ),
        (
            {"control_plane_availability_zone_ids": ["use1-az1", "use1-az3"]},
            r"control_plane_availability_zone_ids\[1\]: must be a zone in which EKS takes subnets",
        ),
        (
            {"control_plane_availability_zone_ids": ZONES, "control_plane_subnet_prefix_length": 29},
            r"control_plane_subnet_prefix_length: must be from 24 to 28, got 29",
        ),
        (
            {"control_plane_availability_zone_ids": ZONES, "vpc_cidr": "10.0.0.0/23",
             "accelerator_subnet_prefix_length": 24, "public_subnet_prefix_length": 28},
            r"vpc_cidr: must hold accelerator_subnet_prefix_length /24, public_subnet_prefix_length /28 and",
        ),
        (
            {"isolated": True, "endpoint_subnet_prefix_length": 29},
            r"endpoint_subnet_prefix_length: must be from 16 to 28, got 29",
        ),
        ({"isolated": "false"}, r"isolated: must be True or False, got 'false'"),
        (
            {"optional_endpoints": ["fsx"]},
            r"optional_endpoints: needs isolated=True, got fsx in a network with a NAT gateway",
        ),
        (
            {"isolated": True, "optional_endpoints": ["fxs"]},
            r"optional_endpoints\[0\]: unknown VPC endpoint service 'fxs'",
        ),
        ({"isolated": True, "orchestrator": "mesos"}, r"orchestrator: must be slurm or eks, got 'mesos'"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _network(_stack(), **options)


def test_a_range_that_is_a_token_needs_room_below_the_nodes() -> None:
    stack = _stack()
    cidr = CfnParameter(stack, "Cidr").value_as_string
    with pytest.raises(
        InvalidInputError,
        match=r"accelerator_subnet_prefix_length: must leave room .* got 24; use 22 or shorter",
    ):
        _network(
            stack,
            vpc_cidr=cidr,
            accelerator_subnet_prefix_length=24,
            control_plane_availability_zone_ids=ZONES,
        )


def test_an_unlisted_zone_of_the_control_plane_leaves_a_warning() -> None:
    stack = _stack(env=OREGON)
    _network(stack, control_plane_availability_zone_ids=["usw2-az1", "usw2-az9"])
    Annotations.from_stack(stack).has_warning(
        "/Stack/Network", Match.string_like_regexp("'usw2-az9' is not a known zone of us-west-2")
    )


def _whole(scope: Any, **options: Any) -> Template:
    stack = Stack(scope, "Stack", **options)
    network = _network(stack, isolated=True, control_plane_availability_zone_ids=ZONES)
    assert network.endpoints is not None
    group = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc, https_egress=False)
    group.allow_endpoints(network.endpoints)
    LustreFileSystem(
        stack,
        "Scratch",
        vpc=network.vpc,
        subnet=network.accelerator_subnet,
        client_security_groups=[group],
        storage_capacity_gib=4800,
        throughput_mbps_per_tib=1000,
        efa_enabled=True,
        removal=FileSystemRemoval.RETAIN,
    )
    return Template.from_stack(stack)


def test_cloudformation_takes_the_template() -> None:
    arguments = ManualArgs(regions=["us-west-2"], ignore_checks=["W"])
    assert lint(json.dumps(_whole(App()).to_json()), config=arguments) == []


def test_a_file_system_reached_through_efa_works_in_an_isolated_network() -> None:
    template = _whole(App())
    template.has_resource_properties(
        "AWS::FSx::FileSystem",
        {
            "LustreConfiguration": {
                "EfaEnabled": True,
                "MetadataConfiguration": {"Mode": "AUTOMATIC"},
                "PerUnitStorageThroughput": 1000,
            }
        },
    )
    groups = template.find_resources("AWS::EC2::SecurityGroup")
    (nodes,) = (name for name in groups if name.startswith("Nodes"))
    (storage,) = (name for name in groups if name.startswith("Scratch"))
    everything = {
        (kind, rule["Properties"]["GroupId"]["Fn::GetAtt"][0], peer["Fn::GetAtt"][0])
        for kind, key in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId"))
        for rule in template.find_resources(f"AWS::EC2::SecurityGroup{kind}").values()
        if rule["Properties"]["IpProtocol"] == "-1" and (peer := rule["Properties"].get(key)) is not None
    }
    assert everything == {
        (kind, one, other)
        for kind in ("Ingress", "Egress")
        for one in (nodes, storage)
        for other in (nodes, storage)
    }


def _comparable(template: Template) -> dict[str, Any]:
    resources: dict[str, Any] = template.to_json()["Resources"]
    for resource in resources.values():
        for name in ("Tags", "Description"):
            resource.get("Properties", {}).pop(name, None)
    return resources


@pytest.mark.parametrize("env", [None, OREGON])
def test_the_template_is_the_same_in_a_stage_and_under_all_feature_flags(
    recommended_feature_flags: dict[str, Any], env: Environment | None
) -> None:
    expected = _comparable(_whole(App(), env=env))
    assert _comparable(_whole(App(context=recommended_feature_flags), env=env)) == expected
    assert _comparable(_whole(Stage(App(), "Prod"), env=env)) == expected
