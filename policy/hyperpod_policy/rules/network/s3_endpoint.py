"""Checkpoints go to S3 by a gateway endpoint, not through the NAT gateway."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_policy.clusters import distinct, subnets
from hyperpod_policy.isolated_networks import VPC_ENDPOINT, service_of
from hyperpod_policy.networks import SUBNET, route_tables, routes, vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, same

_ALLOWED: Final = "an S3 gateway endpoint in the route tables of the nodes' subnets"
_GATEWAY: Final = "Gateway"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each subnet of the nodes, in a VPC of the template, that reaches S3 through a NAT gateway."""
    for used, _ in distinct(subnets(template)):
        subnet = template.resource(used.value, SUBNET)
        if subnet is None or vpc_of(template, subnet) is None:
            continue
        tables = route_tables(template, subnet)
        through_nat = any(
            route.get("NatGatewayId") is not None for table in tables for route in routes(template, table)
        )
        if through_nat:
            yield _judge(template, subnet, tables)


def _judge(template: Template, subnet: Resource, tables: list[object]) -> Verdict:
    unclear = False
    for endpoint in template.of_type(VPC_ENDPOINT):
        service = service_of(endpoint)
        kind = endpoint.get("VpcEndpointType", default=_GATEWAY)
        elsewhere = same(endpoint.get("VpcId"), subnet.get("VpcId")) is False
        if service not in ("s3", None) or kind != _GATEWAY or elsewhere:
            continue
        listed, complete = elements(endpoint.get("RouteTableIds"))
        answers = {same(table, item) for table in tables for item in listed}
        if service == "s3" and True in answers:
            return passed(subnet)
        unclear = unclear or service is None or not complete or None in answers
    found = f"nodes in {subnet.logical_id} reach S3 through the NAT gateway"
    if unclear:
        return undetermined(subnet, found=f"whether {found} is not in this template", allowed=_ALLOWED)
    return failed(subnet, found=found, allowed=_ALLOWED)


RULE = Rule(
    id="S3Endpoint",
    title="nodes reach S3 by a gateway endpoint",
    severity="warning",
    why=(
        "Checkpoints of large models are terabytes, written by all nodes at once. A NAT gateway charges for "
        "each gigabyte, is the bottleneck of them all, and takes the checkpoints with it when it fails. The "
        "endpoint costs nothing."
    ),
    fix="add an AWS::EC2::VPCEndpoint of type Gateway for S3 with the nodes' route tables, as ClusterNetwork",
    source="VPC user guide, NAT gateways (bandwidth, pricing); S3 user guide, gateway endpoints",
    check=check,
)
