"""Routes, access lists and VPCs around a subnet, as far as the template tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.address_ranges import network_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Expression, integer, same, single

SUBNET: Final = "AWS::EC2::Subnet"
VPC: Final = "AWS::EC2::VPC"


def vpc_of(template: Template, subnet: Resource) -> Resource | None:
    """Return the VPC of a subnet, if the template makes it."""
    return template.resource(subnet.get("VpcId"), VPC)


def prefix_length_of(subnet: Resource) -> int | None:
    """Return the prefix length of a subnet's IPv4 range; ``None`` if only deployment can tell."""
    length = integer(subnet.get("Ipv4NetmaskLength"))
    if length is not None:
        return length
    value = subnet.get("CidrBlock")
    network = network_of(value)
    if network is not None:
        return network.prefixlen
    if isinstance(value, Expression) and value.function == "Fn::Select":
        return _length_of_a_slice(value.arguments)
    return None


def _length_of_a_slice(arguments: Any) -> int | None:
    """Return the prefix length of ranges that ``Fn::Cidr`` cuts: its last argument are the bits that stay."""
    for argument in arguments if isinstance(arguments, tuple) else ():
        if isinstance(argument, Expression) and argument.function == "Fn::Cidr":
            parts = argument.arguments
            bits = integer(parts[2]) if isinstance(parts, tuple) and len(parts) == 3 else None
            return None if bits is None else 32 - bits
    return None


def zone_of(template: Template, value: Any) -> Any:
    """Return the zone of a subnet by id or name; a subnet of elsewhere stands for its own zone."""
    subnet = template.resource(value, SUBNET)
    if subnet is None:
        return value
    return single(subnet.get("AvailabilityZoneId", default=subnet.get("AvailabilityZone")))


def same_zone(template: Template, one: Any, other: Any) -> bool | None:
    """Tell whether two subnets are in one zone."""
    if same(one, other) is True:
        return True
    return equal_zones(zone_of(template, one), zone_of(template, other))


def equal_zones(one: Any, other: Any) -> bool | None:
    """Tell whether two zones are one; a name and an id, or what is no zone, cannot be compared."""
    if one is None or other is None:
        return None
    return same(one, other) if one == other or _kind(one) == _kind(other) != "unknown" else None


def _kind(zone: Any) -> str:
    if not isinstance(zone, str) or zone.startswith("subnet-"):
        return "unknown"
    return "id" if "-az" in zone else "name"


def associated(template: Template, subnet: Resource, association: str, member: str) -> list[Resource]:
    """Return the associations of a subnet with a route table or network ACL that the template makes.

    Args:
        template: Template under review.
        subnet: The subnet.
        association: Type of the association.
        member: Property of the association that must be present.
    """
    return [
        found
        for found in template.of_type(association)
        if same(found.get("SubnetId"), subnet.ref) and member in found.properties
    ]


def route_tables(template: Template, subnet: Resource) -> list[Any]:
    """Return the route tables that a subnet is associated with explicitly."""
    found = associated(template, subnet, "AWS::EC2::SubnetRouteTableAssociation", "RouteTableId")
    return [association.get("RouteTableId") for association in found]


def routes(template: Template, table: Any) -> Iterator[Resource]:
    """Yield the routes that the template adds to a route table."""
    for route in template.of_type("AWS::EC2::Route"):
        if same(route.get("RouteTableId"), table):
            yield route
