"""VPC endpoints: with interfaces in their groups, routes in their tables, and a policy that is one."""

from __future__ import annotations

import json
import re
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError, InvalidServiceName, InvalidVpcEndPointIdError
from moto.ec2.models import EC2Backend
from moto.ec2.models.vpcs import AWS_ENDPOINT_SERVICES, VPCBackend, VPCEndPoint
from moto.ec2.responses import EC2Response
from moto.ec2.utils import random_private_ip

from aws_double.services.ec2.overriding import invalid, override

# Newer than moto's list.
_SERVICES = frozenset({*AWS_ENDPOINT_SERVICES, "oidc-eks"})
_GATEWAY_SERVICES = frozenset({"s3", "dynamodb"})


def create_vpc_endpoint(
    backend: Any,
    vpc_id: str,
    service_name: str,
    endpoint_type: str | None,
    policy_document: str | None,
    route_table_ids: list[str],
    subnet_ids: list[str] | None = None,
    client_token: str | None = None,
    security_group_ids: list[str] | None = None,
    tags: dict[str, str] | None = None,
    private_dns_enabled: bool | None = None,
) -> Any:
    """Create an endpoint of a service that the region has."""
    vpc = backend.get_vpc(vpc_id)
    kind = "Gateway" if endpoint_type is None else endpoint_type
    _check_service(backend, service_name, kind)
    _check_policy(policy_document)
    groups = list(security_group_ids) if security_group_ids is not None else []
    if kind == "Interface":
        if route_table_ids:
            raise invalid("Route table IDs are only supported for Gateway type VPC Endpoints.")
        if not groups:
            groups = [backend.get_default_security_group(vpc_id).id]
        if private_dns_enabled:
            _check_private_dns(backend, vpc, service_name)
    elif subnet_ids or groups:
        raise invalid("Subnets and security groups are only supported for Interface type VPC Endpoints.")
    made = VPCBackend.create_vpc_endpoint(
        backend,
        vpc_id,
        service_name,
        kind,
        policy_document,
        [],
        subnet_ids=[],
        client_token=client_token,
        security_group_ids=[],
        tags=tags,
        private_dns_enabled=bool(private_dns_enabled) and kind == "Interface",
    )
    try:
        _set_groups(backend, made, groups)
        _set_subnets(backend, made, list(subnet_ids) if subnet_ids is not None else [])
        _set_route_tables(backend, made, list(route_table_ids))
    except EC2ClientError:
        delete_vpc_endpoints(backend, [made.id])
        raise
    return made


def delete_vpc_endpoints(backend: Any, vpce_ids: list[str] | None = None) -> None:
    """Delete endpoints with interfaces and routes; moto goes on to tell of them."""
    for endpoint_id in vpce_ids if vpce_ids is not None else ():
        endpoint = _endpoint(backend, endpoint_id)
        _set_subnets(backend, endpoint, [])
        _set_route_tables(backend, endpoint, [])
        del backend.vpc_end_points[endpoint_id]


def modify_vpc_endpoint(response: Any) -> ActionResult:
    """Change an endpoint; moto changes neither interfaces nor routes, and forgets private DNS."""
    backend, asked = response.ec2_backend, response._get_param
    endpoint = _endpoint(backend, asked("VpcEndpointId"))
    policy = asked("PolicyDocument")
    _check_policy(policy)
    if policy is not None:
        endpoint.policy_document = policy
    if asked("ResetPolicy"):
        endpoint.policy_document = json.dumps(VPCEndPoint.DEFAULT_POLICY)
    private_dns = asked("PrivateDnsEnabled")
    if private_dns is not None and bool(private_dns) != endpoint.private_dns_enabled:
        if private_dns:
            _check_private_dns(backend, backend.get_vpc(endpoint.vpc_id), endpoint.service_name)
        endpoint.private_dns_enabled = bool(private_dns)
    for parameter, present, apply in (
        ("SecurityGroupIds", endpoint.security_group_ids, _set_groups),
        ("SubnetIds", endpoint.subnet_ids, _set_subnets),
        ("RouteTableIds", endpoint.route_table_ids, _set_route_tables),
    ):
        added, removed = asked(f"Add{parameter}", []), asked(f"Remove{parameter}", [])
        if added or removed:
            apply(backend, endpoint, [id_ for id_ in dict.fromkeys([*present, *added]) if id_ not in removed])
    return ActionResult({"Return": True})


def _endpoint(backend: Any, endpoint_id: str) -> Any:
    if endpoint_id not in backend.vpc_end_points:
        raise InvalidVpcEndPointIdError(endpoint_id)
    return backend.vpc_end_points[endpoint_id]


def _set_groups(backend: Any, endpoint: Any, group_ids: list[str]) -> None:
    groups = [_group(backend, endpoint, group_id) for group_id in group_ids]
    endpoint.security_group_ids = group_ids
    for interface_id in endpoint.network_interface_ids:
        backend.enis[interface_id]._group_set = groups


def _set_subnets(backend: Any, endpoint: Any, subnet_ids: list[str]) -> None:
    """Let the endpoint have one interface in each of the subnets, at most one in a zone."""
    subnets = [backend.get_subnet(subnet_id) for subnet_id in subnet_ids]
    if any(subnet.vpc_id != endpoint.vpc_id for subnet in subnets):
        raise EC2ClientError("InvalidSubnetID.NotFound", f"A subnet is not in {endpoint.vpc_id}")
    if len({subnet.availability_zone for subnet in subnets}) < len(subnets):
        raise EC2ClientError(
            "DuplicateSubnetsInSameZone", "Found another VPC endpoint subnet in the same zone"
        )
    interfaces = {backend.enis[id_].subnet.id: id_ for id_ in endpoint.network_interface_ids}
    for subnet_id, interface_id in interfaces.items():
        if subnet_id not in subnet_ids:
            del backend.enis[interface_id]
    endpoint.network_interface_ids = [
        interfaces[subnet.id] if subnet.id in interfaces else _add_interface(backend, endpoint, subnet)
        for subnet in subnets
    ]
    endpoint.subnet_ids = subnet_ids


def _add_interface(backend: Any, endpoint: Any, subnet: Any) -> str:
    interface = backend.create_network_interface(
        subnet,
        random_private_ip(subnet.cidr_block),
        group_ids=list(endpoint.security_group_ids),
        description=f"VPC Endpoint Interface {endpoint.id}",
    )
    interface.interface_type = "vpc_endpoint"
    interface.requester_managed = True
    return str(interface.id)


def _set_route_tables(backend: Any, endpoint: Any, table_ids: list[str]) -> None:
    prefix_list_id = endpoint.destination_prefix_list_id
    for table_id in table_ids:
        if backend.get_route_table(table_id).vpc_id != endpoint.vpc_id:
            raise EC2ClientError("InvalidRouteTableId.NotFound", f"{table_id} is not in {endpoint.vpc_id}")
    for table_id in set(endpoint.route_table_ids) - set(table_ids):
        if table_id in backend.route_tables:
            backend.delete_route(table_id, None, None, prefix_list_id)
    for table_id in [id_ for id_ in table_ids if id_ not in endpoint.route_table_ids]:
        backend.create_route(
            table_id, None, gateway_id=endpoint.id, destination_prefix_list_id=prefix_list_id
        )
    endpoint.route_table_ids = table_ids


def _group(backend: Any, endpoint: Any, group_id: str) -> Any:
    group = backend.get_security_group_from_id(group_id)
    if group is None or group.vpc_id != endpoint.vpc_id:
        raise EC2ClientError(
            "InvalidGroup.NotFound", f"The security group '{group_id}' does not exist in {endpoint.vpc_id}"
        )
    return group


def _check_service(backend: Any, service_name: str, kind: str) -> None:
    match = re.fullmatch(rf"com\.amazonaws\.{backend.region_name}\.(.+)", service_name)
    services = {"Gateway": _GATEWAY_SERVICES, "Interface": _SERVICES}
    if kind not in services:
        raise invalid(f"VPC endpoints of type {kind} are not in this double, only {', '.join(services)}.")
    if match is None or match[1] not in services[kind]:
        raise InvalidServiceName(service_name)


def _check_policy(policy: str | None) -> None:
    if policy is None:
        return
    try:
        statements = json.loads(policy)["Statement"]
        sound = all(
            {"Effect", "Principal", "Action", "Resource"} <= set(statement) for statement in statements
        )
    except (KeyError, TypeError, ValueError):
        sound = False
    if not sound:
        raise EC2ClientError("InvalidPolicyDocument", f"The policy document is not valid: {policy}")


def _check_private_dns(backend: Any, vpc: Any, service_name: str) -> None:
    if not (vpc.enable_dns_support and vpc.enable_dns_hostnames):
        raise EC2ClientError(
            "InvalidParameter",
            "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set "
            f"to true for {vpc.id}",
        )
    for other in backend.vpc_end_points.values():
        if other.vpc_id == vpc.id and other.service_name == service_name and other.private_dns_enabled:
            raise EC2ClientError(
                "InvalidParameter",
                "private-dns-enabled cannot be set because there is already a conflicting DNS domain for "
                f"{service_name} in the VPC {vpc.id}",
            )


def install() -> None:
    """Put these in the place of moto's."""
    override(EC2Backend, create_vpc_endpoint, delete_vpc_endpoints)
    override(EC2Response, modify_vpc_endpoint)
