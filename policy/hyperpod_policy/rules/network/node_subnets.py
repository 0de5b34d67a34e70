"""Nodes live in private subnets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_policy.clusters import distinct, subnets
from hyperpod_policy.networks import SUBNET, route_tables, routes
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, truth

_ALLOWED = "nodes belong in subnets without public addresses and without a route to an internet gateway"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each subnet of nodes."""
    for used, _ in distinct(subnets(template)):
        subnet = template.resource(used.value, SUBNET)
        if subnet is None:
            yield undetermined(
                used.cluster,
                *used.path,
                found=f"subnet {used.value} is not in this template",
                allowed=_ALLOWED,
            )
            continue
        verdicts = [*_public_addresses(subnet), *_public_routes(template, subnet)]
        yield from verdicts if verdicts else [passed(subnet, "MapPublicIpOnLaunch")]


def _public_addresses(subnet: Resource) -> Iterator[Verdict]:
    value = subnet.get("MapPublicIpOnLaunch", default=False)
    if isinstance(value, Unresolved):
        yield undetermined(subnet, "MapPublicIpOnLaunch", found=f"is {value}", allowed=_ALLOWED)
    elif truth(value) is not False:
        yield failed(
            subnet, "MapPublicIpOnLaunch", found="gives instances a public address", allowed=_ALLOWED
        )


def _public_routes(template: Template, subnet: Resource) -> Iterator[Verdict]:
    for table in route_tables(template, subnet):
        for route in routes(template, table):
            gateway = route.get("GatewayId")
            if gateway is None:
                continue
            public = _is_internet_gateway(template, gateway)
            if public is False:
                continue
            answer = undetermined if public is None else failed
            kind = f"gateway {gateway}" if public is None else "an internet gateway"
            yield answer(
                route,
                "GatewayId",
                found=f"routes {subnet.logical_id}, a subnet of the nodes, to {kind}",
                allowed=_ALLOWED,
            )


def _is_internet_gateway(template: Template, gateway: Any) -> bool | None:
    """Whether a gateway leads to the internet; virtual private gateways stand in the same property."""
    if isinstance(gateway, str):
        return gateway.startswith("igw-")
    made = template.resource(gateway)
    return None if made is None else made.type == "AWS::EC2::InternetGateway"


RULE = Rule(
    id="NodeSubnets",
    title="nodes are in private subnets",
    severity="error",
    why=(
        "HyperPod nodes with several network cards get no public address, so that in a public subnet they "
        "reach neither S3 nor Systems Manager, and instances that do get one stand on the internet. On EKS "
        "the service supports private subnets only."
    ),
    fix=(
        "set MapPublicIpOnLaunch to false and route the subnet through a NAT gateway or VPC endpoints; "
        "ClusterNetwork makes such a subnet"
    ),
    source=(
        "SageMaker developer guide, sagemaker-hyperpod-eks-prerequisites and sagemaker-hyperpod-prerequisites"
    ),
    check=check,
)
