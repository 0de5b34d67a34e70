"""VPCs, zones and subnets around a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

from hyperpod_policy.isolated_networks import service_of
from hyperpod_policy.networks import (
    SUBNET,
    VPC,
    associated,
    prefix_length_of,
    route_tables,
    routes,
    vpc_of,
    zone_of,
)
from hyperpod_policy.reports.html.network.members import spot
from hyperpod_policy.reports.html.network.model import Member, Spot, Subnet, Vpc, Zone
from hyperpod_policy.reports.html.network.words import listed, named, spoken, zone_label
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, frozen, same, single

_WAYS: Final = {
    "NatGatewayId": "out by NAT gateway",
    "EgressOnlyInternetGatewayId": "out by egress-only gateway",
    "TransitGatewayId": "to a transit gateway",
    "VpcPeeringConnectionId": "to a peered VPC",
    "NetworkInterfaceId": "to a network interface",
    "InstanceId": "to an instance",
    "CarrierGatewayId": "to a carrier gateway",
    "LocalGatewayId": "to a local gateway",
    "CoreNetworkArn": "to a core network",
    "VpcEndpointId": "to a VPC endpoint",
}
_CORE: Final = ("nodes", "control plane", "file system")


def places(template: Template, members: Sequence[Member]) -> tuple[Vpc, ...]:
    """Return the VPCs that nodes, control planes and file systems stand in, with all their subnets."""
    named_here = dict.fromkeys(key for member in members for key in member.subnets if member.kind in _CORE)
    by_vpc: dict[Hashable, list[Hashable]] = {}
    for key in named_here:
        by_vpc.setdefault(_vpc_key(template, key), []).append(key)
    for subnet in template.of_type(SUBNET):
        vpc = frozen(subnet.get("VpcId"))
        if vpc in by_vpc and subnet.ref not in by_vpc[vpc]:
            by_vpc[vpc].append(subnet.ref)
    return tuple(_vpc(template, vpc, keys) for vpc, keys in by_vpc.items())


def _vpc_key(template: Template, subnet: Hashable) -> Hashable:
    found = template.resource(subnet, SUBNET)
    return None if found is None else frozen(found.get("VpcId"))


def _vpc(template: Template, key: Hashable, subnets: Sequence[Hashable]) -> Vpc:
    zones: dict[Hashable, list[Subnet]] = {}
    labels: dict[Hashable, str] = {}
    for subnet in subnets:
        made = template.resource(subnet, SUBNET)
        zone = None if made is None else frozen(zone_of(template, subnet))
        labels[zone] = "zone not in the templates" if made is None else zone_label(zone)
        zones.setdefault(zone, []).append(_subnet(template, subnet, made))
    resource = template.resource(key, VPC)
    if resource is not None:
        label = f"VPC {named(resource)}"
    else:
        label = "VPC not in the templates" if key is None else f"VPC {spoken(key)}, not in the templates"
    return Vpc(
        label=label,
        addresses="" if resource is None else _vpc_addresses(template, resource),
        is_made=resource is not None,
        zones=tuple(Zone(labels[zone], tuple(found)) for zone, found in zones.items()),
        gateways=tuple(dict.fromkeys(_gateways(template, key))),
    )


def _vpc_addresses(template: Template, vpc: Resource) -> str:
    ranges = [vpc.get("CidrBlock"), vpc.get("Ipv4NetmaskLength")]
    for more in template.of_type("AWS::EC2::VPCCidrBlock"):
        if same(more.get("VpcId"), vpc.ref) is True:
            ranges += [more.get("CidrBlock"), more.get("Ipv6CidrBlock")]
    return listed(
        f"/{item}" if isinstance(item, int) else spoken(item) for item in ranges if item is not None
    )


def _subnet(template: Template, key: Hashable, made: Resource | None) -> Subnet:
    if made is None:
        return Subnet(
            key, spoken(key), "", "routes not in the templates", None, "not in the templates", False
        )
    way, is_public = _way_out(template, made)
    return Subnet(
        key=key,
        label=named(made),
        addresses=_addresses(made),
        way_out=way,
        is_public=is_public,
        access_list=_access_list(template, made),
        is_made=True,
        spots=(spot(made), *_routes(template, made)),
    )


def _routes(template: Template, subnet: Resource) -> Iterator[Spot]:
    for table in route_tables(template, subnet):
        for route in routes(template, table):
            yield spot(route)


def _addresses(subnet: Resource) -> str:
    value = subnet.get("CidrBlock")
    if isinstance(value, str):
        return value
    length = prefix_length_of(subnet)
    return "" if length is None else f"a /{length}"


def _way_out(template: Template, subnet: Resource) -> tuple[str, bool | None]:
    tables = route_tables(template, subnet)
    if any(isinstance(table, Unresolved) and template.resource(table) is None for table in tables):
        return "routes not in the templates", None
    if not tables and vpc_of(template, subnet) is None:
        return "routes not in the templates", None
    ways: dict[str, bool | None] = {}
    for route in (route for table in tables for route in routes(template, table)):
        gateway = route.get("GatewayId")
        if gateway is not None:
            made = template.resource(gateway)
            is_internet = made is not None and made.type == "AWS::EC2::InternetGateway"
            if is_internet or (isinstance(gateway, str) and gateway.startswith("igw-")):
                ways["public: straight to the internet"] = True
            else:
                ways[f"to gateway {spoken(gateway)}"] = None if made is None else False
        for member, words in _WAYS.items():
            if route.get(member) is not None:
                ways.setdefault(words, False)
    if not ways:
        return "no way out of the VPC", False
    return listed(ways), True if True in ways.values() else (None if None in ways.values() else False)


def _access_list(template: Template, subnet: Resource) -> str:
    found = associated(template, subnet, "AWS::EC2::SubnetNetworkAclAssociation", "NetworkAclId")
    return listed(spoken(item.get("NetworkAclId")) for item in found) if found else "the VPC's default"


def _gateways(template: Template, vpc: Hashable) -> Iterator[str]:
    if vpc is None:
        return
    for attachment in template.of_type("AWS::EC2::VPCGatewayAttachment"):
        if same(attachment.get("VpcId"), vpc) is True:
            yield "internet gateway" if attachment.get("InternetGatewayId") is not None else "VPN gateway"
    for endpoint in template.of_type("AWS::EC2::VPCEndpoint"):
        if endpoint.get("VpcEndpointType", default="Gateway") == "Gateway" and (
            same(endpoint.get("VpcId"), vpc) is True
        ):
            service = service_of(endpoint)
            tables = len({frozen(single(item)) for item in elements(endpoint.get("RouteTableIds"))[0]})
            words = "1 route table" if tables == 1 else f"{tables} route tables"
            yield f"{named(endpoint) if service is None else service} gateway endpoint, in {words}"
