"""Routes: to targets that are there, one a destination, and black holes once their target is gone."""

from __future__ import annotations

from typing import Any

from moto.ec2.exceptions import (
    DependencyViolationError,
    EC2ClientError,
    ResourceAlreadyAssociatedError,
    RouteAlreadyExistsError,
)
from moto.ec2.models import EC2Backend
from moto.ec2.models.route_tables import Route, RouteBackend

from aws_double.services.ec2.overriding import invalid, override
from aws_double.services.ec2.ranges import canonical_range

_TARGETS = (
    "gateway_id",
    "instance_id",
    "nat_gateway_id",
    "egress_only_igw_id",
    "transit_gateway_id",
    "interface_id",
    "vpc_peering_connection_id",
    "carrier_gateway_id",
    "vpc_endpoint_id",
)


def create_route(
    backend: Any,
    route_table_id: str,
    destination_cidr_block: str | None,
    destination_ipv6_cidr_block: str | None = None,
    destination_prefix_list_id: str | None = None,
    local: bool = False,
    **targets: Any,
) -> Any:
    """Create a route; moto takes one without a target, and another of the same IPv6 range."""
    table = backend.get_route_table(route_table_id)
    if destination_cidr_block:
        destination_cidr_block = canonical_range(destination_cidr_block, version=4)
    if destination_ipv6_cidr_block:
        destination_ipv6_cidr_block = canonical_range(destination_ipv6_cidr_block, version=6)
    given = [destination_cidr_block, destination_ipv6_cidr_block, destination_prefix_list_id]
    destination = _only("destination", given)
    if not local:
        _check_target(backend, table, **targets)
    if destination_prefix_list_id and destination_prefix_list_id not in backend.managed_prefix_lists:
        raise EC2ClientError(
            "InvalidPrefixListID.NotFound", f"The prefix list ID '{destination}' does not exist"
        )
    if any(destination == _destination(route) for route in table.routes):
        raise RouteAlreadyExistsError(destination)
    return RouteBackend.create_route(
        backend,
        route_table_id,
        destination_cidr_block,
        destination_ipv6_cidr_block,
        destination_prefix_list_id,
        local=local,
        **targets,
    )


def replace_route(
    backend: Any,
    route_table_id: str,
    destination_cidr_block: str,
    destination_ipv6_cidr_block: str | None = None,
    destination_prefix_list_id: str | None = None,
    nat_gateway_id: str | None = None,
    egress_only_igw_id: str | None = None,
    transit_gateway_id: str | None = None,
    **targets: Any,
) -> Any:
    """Give a route another target."""
    targets |= {
        "nat_gateway_id": nat_gateway_id,
        "egress_only_igw_id": egress_only_igw_id,
        "transit_gateway_id": transit_gateway_id,
    }
    _check_target(backend, backend.get_route_table(route_table_id), **targets)
    return RouteBackend.replace_route(
        backend,
        route_table_id,
        destination_cidr_block,
        destination_ipv6_cidr_block,
        destination_prefix_list_id,
        **targets,
    )


def associate_route_table(
    backend: Any, route_table_id: str, gateway_id: str | None = None, subnet_id: str | None = None
) -> str:
    """Associate a subnet; moto answers with whatever association the subnet has, with another table too."""
    table = backend.get_route_table(route_table_id)
    if subnet_id is not None:
        if backend.get_subnet(subnet_id).vpc_id != table.vpc_id:
            raise invalid(
                f"Route table {route_table_id} and subnet {subnet_id} belong to different networks."
            )
        for other in backend.route_tables.values():
            if other.id != route_table_id and subnet_id in other._associations.values():
                raise ResourceAlreadyAssociatedError(subnet_id)
    return RouteBackend.associate_route_table(backend, route_table_id, gateway_id, subnet_id)


def delete_route_table(backend: Any, route_table_id: str) -> None:
    """Delete a table, unless it is the main one or has subnets."""
    if backend.get_route_table(route_table_id).main_association_id is not None:
        raise DependencyViolationError(
            f"The routeTable '{route_table_id}' has dependencies and cannot be deleted. It is the main one."
        )
    RouteBackend.delete_route_table(backend, route_table_id)


def _only(what: str, values: list[str | None]) -> str:
    given = [value for value in values if value is not None]
    if len(given) != 1:
        raise EC2ClientError(
            "InvalidParameterCombination" if given else "MissingParameter",
            f"The request must contain exactly one {what}, got {', '.join(given) if given else 'none'}.",
        )
    return given[0]


def _check_target(backend: Any, table: Any, **targets: Any) -> None:
    target = _only("target", [targets.get(name) for name in _TARGETS])
    nat_gateway_id = targets.get("nat_gateway_id")
    if nat_gateway_id is not None:
        gateway = backend.nat_gateways.get(nat_gateway_id)
        if gateway is None or gateway.state == "deleted":
            raise EC2ClientError(
                "InvalidNatGatewayID.NotFound", f"The natGateway ID '{nat_gateway_id}' does not exist"
            )
        if gateway.vpc_id != table.vpc_id:
            raise invalid(f"route table {table.id} and nat gateway {target} belong to different networks")
    if target.startswith("igw-"):
        attached = backend.get_internet_gateway(target).vpc
        if attached is None or attached.id != table.vpc_id:
            raise invalid(f"route table {table.id} and network gateway {target} belong to different networks")


def _destination(route: Any) -> str | None:
    """Of a route; local ones count, for theirs cannot be given to another target."""
    for value in (route.destination_cidr_block, route.destination_ipv6_cidr_block):
        if value is not None:
            return str(value)
    return None if route.destination_prefix_list is None else str(route.destination_prefix_list.id)


def _state(route: Any) -> str:
    backend = route.route_table.ec2_backend
    gateway = route.gateway
    gone = (
        (route.nat_gateway is not None and route.nat_gateway.state == "deleted")
        or (gateway is not None and gateway.id.startswith("igw-") and gateway.vpc is None)
        or (
            gateway is not None
            and gateway.id.startswith("vpce-")
            and gateway.id not in backend.vpc_end_points
        )
        or (route.interface is not None and route.interface.id not in backend.enis)
    )
    return "blackhole" if gone else "active"


def install() -> None:
    """Put these in the place of moto's."""
    override(EC2Backend, create_route, replace_route, associate_route_table, delete_route_table)
    Route.state = property(_state)  # type: ignore[assignment,method-assign]
