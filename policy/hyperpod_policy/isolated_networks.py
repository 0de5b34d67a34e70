"""Networks of nodes without a way to the internet, and their VPC endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_policy.address_ranges import network_of
from hyperpod_policy.clusters import Used, distinct, subnets
from hyperpod_policy.networks import SUBNET, route_tables, routes, vpc_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Text, elements, same

VPC_ENDPOINT: Final = "AWS::EC2::VPCEndpoint"

_NAT_GATEWAY: Final = "AWS::EC2::NatGateway"

_SERVICE: Final = re.compile(r"(?:[a-z]+\.)*amazonaws\.[^.]+\.(?P<service>.+)")
_WAYS_OUT: Final = (
    "NatGatewayId",
    "GatewayId",
    "EgressOnlyInternetGatewayId",
    "TransitGatewayId",
    "VpcPeeringConnectionId",
    "NetworkInterfaceId",
    "InstanceId",
    "CarrierGatewayId",
    "LocalGatewayId",
    "CoreNetworkArn",
)


@dataclass(frozen=True, slots=True)
class IsolatedSubnet:
    """A subnet of nodes whose route tables lead nowhere.

    Attributes:
        used: How the cluster names it.
        subnet: The subnet.
        tables: Its route tables.
    """

    used: Used
    subnet: Resource
    tables: tuple[Any, ...]


def isolated_subnets(template: Template) -> Iterator[IsolatedSubnet]:
    """Yield the nodes' subnets of the template whose route tables have no route to elsewhere.

    One to a NAT gateway leads nowhere if that has no way out itself, or if it is for private addresses. A
    route to a VPC endpoint, such as a firewall's, counts as a way out as well: what lies behind it is not in
    the template. A subnet without route table has the main one of its VPC, which leads nowhere if the
    template makes the VPC.
    """
    for used, _ in distinct(subnets(template)):
        subnet = template.resource(used.value, SUBNET)
        if subnet is None:
            continue
        tables = route_tables(template, subnet)
        found = [route for table in tables for route in routes(template, table)]
        known = tables or vpc_of(template, subnet) is not None
        if known and not any(_leads_out(template, route) for route in found):
            yield IsolatedSubnet(used, subnet, tuple(tables))


def endpoints_of(template: Template, subnet: Resource) -> dict[str, Resource]:
    """Return the VPC endpoints in the VPC of a subnet, by service such as ``ecr.api``."""
    found: dict[str, Resource] = {}
    for endpoint in template.of_type(VPC_ENDPOINT):
        service = service_of(endpoint)
        if service is not None and same(endpoint.get("VpcId"), subnet.get("VpcId")) is True:
            found.setdefault(service, endpoint)
    return found


def endpoints_beside_nodes(template: Template) -> list[Resource]:
    """Return the VPC endpoints in the VPCs of nodes."""
    vpcs = [
        subnet.get("VpcId")
        for used, _ in distinct(subnets(template))
        if (subnet := template.resource(used.value, SUBNET)) is not None
    ]
    return [
        endpoint
        for endpoint in template.of_type(VPC_ENDPOINT)
        if any(same(endpoint.get("VpcId"), vpc) is True for vpc in vpcs)
    ]


def service_of(endpoint: Resource) -> str | None:
    """Return the service of a VPC endpoint, such as ``s3``; ``None`` if only deployment can tell."""
    name = endpoint.get("ServiceName")
    parts = name.parts if isinstance(name, Text) else (name,)
    text = "".join(part if isinstance(part, str) else "region" for part in parts)
    match = _SERVICE.fullmatch(text)
    return None if match is None else match["service"]


def serves(endpoint: Resource, isolated: IsolatedSubnet) -> bool | None:
    """Tell whether a gateway endpoint has routes in the tables of a subnet."""
    listed, complete = elements(endpoint.get("RouteTableIds"))
    answers = {same(table, item) for table in isolated.tables for item in listed}
    if True in answers:
        return True
    return None if None in answers or not complete else False


def _leads_out(template: Template, route: Resource) -> bool:
    """Whether a route leads to the internet, or to where the template does not tell."""
    if not any(route.get(member) is not None for member in (*_WAYS_OUT, "VpcEndpointId")):
        return False
    if route.get("NatGatewayId") is not None and _is_private(route.get("DestinationCidrBlock")):
        return False
    nat = template.resource(route.get("NatGatewayId"), _NAT_GATEWAY)
    return nat is None or _reaches_the_internet(template, nat)


def _is_private(destination: Any) -> bool:
    """Whether a route is for addresses of a private network only."""
    network = network_of(destination)
    return network is not None and network.is_private and network.prefixlen > 0


def _reaches_the_internet(template: Template, nat: Resource) -> bool:
    """Whether a NAT gateway stands in a subnet with a way to the internet, as far as the template tells.

    A subnet without a route table of its own has the main one of its VPC, which leads nowhere if the template
    makes the VPC.
    """
    subnet = template.resource(nat.get("SubnetId"), SUBNET)
    if subnet is None or vpc_of(template, subnet) is None:
        return True
    tables = route_tables(template, subnet)
    if any(template.resource(table) is None for table in tables):
        return True
    return any(
        route.get(member) is not None and not _is_private(route.get("DestinationCidrBlock"))
        for table in tables
        for route in routes(template, table)
        for member in _WAYS_OUT
    )
