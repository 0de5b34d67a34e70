"""VPCs: with a default security group as EC2 makes it, and not to be deleted while something is in them."""

from __future__ import annotations

from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.vpcs import VPCBackend

from aws_double.services.ec2.overriding import invalid, override, refuse_if_used
from aws_double.services.ec2.ranges import canonical_range


def create_vpc(backend: Any, cidr_block: str, *arguments: Any, **options: Any) -> Any:
    """Create a VPC; its default group admits itself, which moto leaves out."""
    vpc = VPCBackend.create_vpc(backend, canonical_range(cidr_block, version=4), *arguments, **options)
    group = backend.get_default_security_group(vpc.id)
    backend.authorize_security_group_ingress(
        group.id, "-1", None, None, [], source_groups=[{"GroupId": group.id}]
    )
    return vpc


def modify_vpc_attribute(backend: Any, vpc_id: str, attr_name: str, attr_value: Any) -> None:
    """Set an attribute; names for hosts need a resolver."""
    vpc = backend.get_vpc(vpc_id)
    if attr_name == "enable_dns_hostnames" and attr_value and not vpc.enable_dns_support:
        raise invalid(
            "Value (true) for parameter enableDnsHostnames is invalid while enableDnsSupport is false."
        )
    VPCBackend.modify_vpc_attribute(backend, vpc_id, attr_name, attr_value)


def delete_vpc(backend: Any, vpc_id: str) -> Any:
    """Delete a VPC with what came with it: main route table, default group and default network ACL."""
    backend.get_vpc(vpc_id)
    refuse_if_used(
        f"The vpc '{vpc_id}' has dependencies and cannot be deleted.", vpc_id, _contents(backend, vpc_id)
    )
    groups = backend.groups[vpc_id]
    for group in list(groups.values()):
        del groups[group.id]
    for acl in list(backend.network_acls.values()):
        if acl.vpc_id == vpc_id:
            del backend.network_acls[acl.id]
    for table in list(backend.route_tables.values()):
        if table.vpc_id == vpc_id:
            del backend.route_tables[table.id]
    return VPCBackend.delete_vpc(backend, vpc_id)


def _contents(backend: Any, vpc_id: str) -> list[str]:
    """What a user made in a VPC and has to delete first."""
    subnets = [subnet for by_zone in backend.subnets.values() for subnet in by_zone.values()]
    gateways = [gateway for gateway in backend.internet_gateways.values() if gateway.vpc is not None]
    return [
        *(subnet.id for subnet in subnets if subnet.vpc_id == vpc_id),
        *(gateway.id for gateway in gateways if gateway.vpc.id == vpc_id),
        *(endpoint.id for endpoint in backend.vpc_end_points.values() if endpoint.vpc_id == vpc_id),
        *(group.id for group in backend.groups[vpc_id].values() if not group.is_default),
        *(acl.id for acl in backend.network_acls.values() if acl.vpc_id == vpc_id and not acl.default),
        *(
            table.id
            for table in backend.route_tables.values()
            if table.vpc_id == vpc_id and table.main_association_id is None
        ),
    ]


def install() -> None:
    """Put these in the place of moto's."""
    override(EC2Backend, create_vpc, modify_vpc_attribute, delete_vpc)
