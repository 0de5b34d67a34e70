"""Internet gateways, NAT gateways and addresses: made and taken away in the order that EC2 asks for."""

from __future__ import annotations

from typing import Any

from moto.ec2.exceptions import DependencyViolationError, EC2ClientError, ResourceAlreadyAssociatedError
from moto.ec2.models import EC2Backend
from moto.ec2.models.elastic_ip_addresses import ElasticAddressBackend
from moto.ec2.models.internet_gateways import InternetGatewayBackend
from moto.ec2.models.nat_gateways import NatGatewayBackend

from aws_double.services.ec2.overriding import override


def attach_internet_gateway(backend: Any, internet_gateway_id: str, vpc_id: str) -> Any:
    """Attach a gateway; a VPC has one at most."""
    if _has_internet_gateway(backend, vpc_id):
        raise ResourceAlreadyAssociatedError(vpc_id)
    return InternetGatewayBackend.attach_internet_gateway(backend, internet_gateway_id, vpc_id)


def detach_internet_gateway(backend: Any, internet_gateway_id: str, vpc_id: str) -> None:
    """Detach a gateway that no public address needs any more."""
    if any(address.eni is not None and address.eni.subnet.vpc_id == vpc_id for address in backend.addresses):
        raise DependencyViolationError(
            f"Network {vpc_id} has some mapped public address(es). Please unmap those public address(es) "
            "before detaching the gateway."
        )
    InternetGatewayBackend.detach_internet_gateway(backend, internet_gateway_id, vpc_id)


def create_nat_gateway(
    backend: Any,
    subnet_id: str,
    allocation_id: str,
    tags: dict[str, str] | None = None,
    connectivity_type: str | None = "public",
) -> Any:
    """Create a NAT gateway; a public one needs an address and a VPC with an internet gateway."""
    if connectivity_type is None:
        connectivity_type = "public"
    subnet = backend.get_subnet(subnet_id)
    if connectivity_type == "public":
        if not allocation_id:
            raise EC2ClientError("MissingParameter", "The request must contain the parameter allocationId")
        if not _has_internet_gateway(backend, subnet.vpc_id):
            raise EC2ClientError(
                "Gateway.NotAttached", f"Network {subnet.vpc_id} has no Internet gateway attached"
            )
        backend.address_by_allocation([allocation_id])
    gateway = NatGatewayBackend.create_nat_gateway(
        backend, subnet_id, allocation_id, tags=tags, connectivity_type=connectivity_type
    )
    interface = gateway._eni
    interface._group_set = []  # security groups do not apply to NAT gateways
    interface.description = f"Interface for NAT Gateway {gateway.id}"
    interface.interface_type = "nat_gateway"
    interface.requester_managed = True
    return gateway


def delete_nat_gateway(backend: Any, nat_gateway_id: str) -> Any:
    """Delete a NAT gateway with its interface, and let its address go, which moto does not."""
    gateway = backend.nat_gateways.get(nat_gateway_id)
    if gateway is None:
        raise EC2ClientError("NatGatewayNotFound", f"The Nat Gateway {nat_gateway_id} was not found")
    for address in backend.addresses:
        if address.eni is not None and address.eni.id == gateway._eni.id:
            backend.disassociate_address(association_id=address.association_id)
    backend.enis.pop(gateway._eni.id, None)
    return NatGatewayBackend.delete_nat_gateway(backend, nat_gateway_id)


def release_address(backend: Any, address: str | None = None, allocation_id: str | None = None) -> None:
    """Release an address that nothing has; moto takes it away from whatever has it."""
    for found in backend.addresses:
        asked_for = address == found.public_ip or allocation_id == found.allocation_id
        if asked_for and found.association_id is not None:
            raise EC2ClientError(
                "InvalidIPAddress.InUse",
                f"Address {found.public_ip} is in use by {found.network_interface_id}.",
            )
    ElasticAddressBackend.release_address(backend, address, allocation_id)


def _has_internet_gateway(backend: Any, vpc_id: str) -> bool:
    gateways = backend.internet_gateways.values()
    return any(gateway.vpc is not None and gateway.vpc.id == vpc_id for gateway in gateways)


def install() -> None:
    """Put these in the place of moto's."""
    override(
        EC2Backend,
        attach_internet_gateway,
        detach_internet_gateway,
        create_nat_gateway,
        delete_nat_gateway,
        release_address,
    )
