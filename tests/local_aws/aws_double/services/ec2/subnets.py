"""Subnets: in a zone of their own region, and not to be deleted while something stands in them."""

from __future__ import annotations

import ipaddress
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.subnets import SubnetBackend

from aws_double.services.ec2.overriding import invalid, override, refuse_if_used
from aws_double.services.ec2.ranges import canonical_range

_PREFIX_LENGTHS = range(16, 29)


def create_subnet(
    backend: Any,
    vpc_id: str,
    cidr_block: str,
    ipv6_cidr_block: str | None = None,
    availability_zone: str | None = None,
    availability_zone_id: str | None = None,
    ipv6_native: bool = False,
    tags: Any = None,
) -> Any:
    """Create a subnet; moto takes zones of any region, and makes the first of a zone hand out addresses."""
    zone = _zone(backend, availability_zone, availability_zone_id)
    if cidr_block:
        cidr_block = canonical_range(cidr_block, version=4)
        if ipaddress.ip_network(cidr_block).prefixlen not in _PREFIX_LENGTHS:
            raise EC2ClientError("InvalidSubnet.Range", f"The CIDR '{cidr_block}' is invalid.")
    made = SubnetBackend.create_subnet(
        backend,
        vpc_id,
        cidr_block,
        ipv6_cidr_block,
        availability_zone=zone.name,
        ipv6_native=ipv6_native,
        tags=tags,
    )
    if not backend.get_vpc(vpc_id).is_default:
        made.default_for_az = False
        made.map_public_ip_on_launch = False
    return made


def delete_subnet(backend: Any, subnet_id: str) -> Any:
    """Delete a subnet and its associations, which moto leaves behind."""
    backend.get_subnet(subnet_id)
    refuse_if_used(
        f"The subnet '{subnet_id}' has dependencies and cannot be deleted.",
        subnet_id,
        [interface.id for interface in backend.enis.values() if interface.subnet.id == subnet_id],
    )
    for table in backend.route_tables.values():
        for association, associated in list(table._associations.items()):
            if associated == subnet_id:
                del table._associations[association]
    for acl in backend.network_acls.values():
        for key, association in list(acl._associations.items()):
            if association.subnet_id == subnet_id:
                del acl._associations[key]
    return SubnetBackend.delete_subnet(backend, subnet_id)


def _zone(backend: Any, name: str | None, zone_id: str | None) -> Any:
    if name and zone_id:
        raise EC2ClientError(
            "InvalidParameterCombination", "Only one of AvailabilityZone and AvailabilityZoneId may be given."
        )
    zones = backend.describe_availability_zones()
    for zone in zones:
        if name == zone.name or zone_id == zone.zone_id:
            return zone
    raise invalid(
        f"Value ({name if name else zone_id}) for parameter availabilityZone is invalid. Subnets can "
        f"currently only be created in the following availability zones: "
        f"{', '.join(f'{zone.name} ({zone.zone_id})' for zone in zones)}."
    )


def install() -> None:
    """Put these in the place of moto's."""
    override(EC2Backend, create_subnet, delete_subnet)
