"""Whole networks in the double: all that their templates ask of EC2 comes, is told, and goes again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aws_cdk import App, BootstraplessSynthesizer, Environment, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from read_back.ec2 import group_rules
from told import assert_gone, assert_told

from aws_double.cloudformation.requests import goal_of
from aws_double.cloudformation.stack import Stack as Deployed
from aws_double.cloudformation.stacks import Stacks
from aws_double.resource import Resource
from aws_double.session import Session
from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.efa_security_group import EfaSecurityGroup

REGION = "us-west-2"
SECONDS = 120


def _behind_nat(stack: Stack) -> None:
    network = ClusterNetwork(
        stack,
        "Network",
        availability_zone_id="usw2-az2",
        control_plane_availability_zone_ids=["usw2-az1", "usw2-az2"],
    )
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
    others = ec2.SecurityGroup(stack, "Others", vpc=network.vpc, allow_all_outbound=False)
    for port in (ec2.Port.tcp_range(1018, 1023), ec2.Port.icmp_ping(), ec2.Port.udp(111)):
        nodes.connections.allow_to(others, port, "one of the ways of the nodes")
    others.add_ingress_rule(ec2.Peer.ipv6("fd00::/8"), ec2.Port.tcp(443), "IPv6")
    others.add_egress_rule(ec2.Peer.ipv4("10.0.0.0/16"), ec2.Port.all_traffic(), "VPC")


def _isolated(stack: Stack) -> None:
    network = ClusterNetwork(
        stack,
        "Network",
        availability_zone_id="usw2-az2",
        isolated=True,
        orchestrator="eks",
        control_plane_availability_zone_ids=["usw2-az1", "usw2-az3"],
        optional_endpoints=["fsx", "secretsmanager"],
        flow_log_bucket=s3.Bucket(stack, "FlowLogs", removal_policy=RemovalPolicy.DESTROY),
    )
    assert network.endpoints is not None
    EfaSecurityGroup(stack, "Nodes", vpc=network.vpc, https_egress=False).allow_endpoints(network.endpoints)


def _of_another_team(stack: Stack) -> None:
    vpc = ec2.Vpc(
        stack, "Vpc", availability_zones=["us-west-2a", "us-west-2b"], restrict_default_security_group=False
    )
    vpc.add_flow_log("Flows")
    vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
    vpc.add_interface_endpoint("Ecr", service=ec2.InterfaceVpcEndpointAwsService.ECR)


@pytest.fixture(scope="module", params=[_behind_nat, _isolated, _of_another_team])
def deployed(root: Session, request: pytest.FixtureRequest) -> Iterator[tuple[Stacks, Deployed]]:
    build: Callable[[Stack], None] = request.param
    app = App()
    environment = Environment(region=REGION)
    made = Stack(app, "Networks", env=environment, synthesizer=BootstraplessSynthesizer())
    build(made)
    template = json.dumps(app.synth().get_stack_by_name("Networks").template)
    stacks = Stacks(REGION, endpoint=root.endpoint, pace=0.0)
    stack = stacks.add("networks")
    goal, session = goal_of(
        {"TemplateBody": template, "Capabilities": ["CAPABILITY_IAM"]}, stack, stacks, root
    )
    stacks.deploy(stack, goal, session=session)
    stack.wait(SECONDS)
    yield stacks, stack
    if not stack.deleted:
        stacks.delete(stack, session=root)
        stack.wait(SECONDS)


def _of_ec2(stack: Deployed) -> list[Resource]:
    resources = [one.resource for one in stack.resources.values()]
    return [resource for resource in resources if resource.type.startswith("AWS::EC2::")]


def test_all_comes_into_being(deployed: tuple[Stacks, Deployed]) -> None:
    _, stack = deployed
    assert stack.status == "CREATE_COMPLETE", [
        event["ResourceStatusReason"] for event in stack.events if "ResourceStatusReason" in event
    ]


def test_every_property_is_told(root: Session, deployed: tuple[Stacks, Deployed]) -> None:
    resources = _of_ec2(deployed[1])
    assert len(resources) > 20
    for resource in resources:
        assert_told(root, resource)


def test_groups_have_the_rules_of_the_template_and_no_other(
    root: Session, deployed: tuple[Stacks, Deployed]
) -> None:
    wanted: dict[str, dict[str, list[Any]]] = {}
    for resource in _of_ec2(deployed[1]):
        kind = resource.type.removeprefix("AWS::EC2::")
        if kind == "SecurityGroup":
            rules = wanted.setdefault(resource.physical_id, {})
            for name in ("SecurityGroupIngress", "SecurityGroupEgress"):
                rules.setdefault(name, []).extend(resource.properties.get(name, []))
        elif kind in ("SecurityGroupIngress", "SecurityGroupEgress"):
            rule = {name: value for name, value in resource.properties.items() if name != "GroupId"}
            rules = wanted.setdefault(resource.properties["GroupId"], {})
            rules.setdefault(kind, []).append(rule)
    assert wanted
    for group_id, rules in wanted.items():
        told = group_rules(root, group_id)
        for name in told:
            assert sorted(told[name], key=_key) == sorted(rules[name], key=_key)


def _key(rule: dict[str, Any]) -> str:
    return json.dumps(rule, sort_keys=True)


def test_all_goes_again(root: Session, deployed: tuple[Stacks, Deployed]) -> None:
    stacks, stack = deployed
    resources = _of_ec2(stack)
    stacks.delete(stack, session=root)
    stack.wait(SECONDS)
    assert stack.status == "DELETE_COMPLETE", [
        event["ResourceStatusReason"] for event in stack.events if "ResourceStatusReason" in event
    ]
    for resource in resources:
        assert_gone(root, resource)
