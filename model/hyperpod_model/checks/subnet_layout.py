"""Where the subnets of a network that is made lie within its VPC."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import NamedTuple

from hyperpod_model.checks.addresses import check_subnet_ranges, top_subnet
from hyperpod_model.faults import Fault, Unknown

CONTROL_PLANE_ZONES = 2
"""Subnets that an EKS control plane gets: one for each of its zones."""

ENDPOINT_SUBNET_PREFIX_LENGTH = 24
"""Prefix length of the endpoints' subnet in an isolated network, where nobody says another."""

CONTROL_PLANE_PREFIX_LENGTHS = (24, 28)
"""Shortest and longest prefix of a control-plane subnet: EKS recommends 16 addresses, and never needs more
than AWS's own template gives it."""

CONTROL_PLANE_SUBNET_PREFIX_LENGTH = 24

_NAME = "control_plane_subnet_prefix_length"


class SubnetLayout(NamedTuple):
    """Ranges of the subnets of a network.

    Attributes:
        accelerator: The nodes' subnet, the last of its size.
        front: The NAT gateway's or the endpoints' subnet, the first of its size.
        control_plane: The control plane's subnets, the first of their size after that.
    """

    accelerator: str
    front: str
    control_plane: tuple[str, ...]


def check_subnet_layout(
    *,
    vpc_cidr: str | Unknown,
    accelerator_subnet_prefix_length: int | Unknown,
    front: tuple[str, int | Unknown],
    control_plane_subnet_prefix_length: int | Unknown | None = None,
) -> list[Fault]:
    """Check that a VPC holds the subnets of a network, each aligned to its size.

    Args:
        vpc_cidr: IPv4 range of the VPC, such as ``10.0.0.0/16``.
        accelerator_subnet_prefix_length: Prefix length of the nodes' subnet.
        front: Argument name and prefix length of the first subnet: that of the NAT gateway or the endpoints.
        control_plane_subnet_prefix_length: Prefix length of each of two control-plane subnets; None for none.

    Returns:
        Every fault found, with the path of the argument.
    """
    lengths = {"accelerator_subnet_prefix_length": accelerator_subnet_prefix_length, front[0]: front[1]}
    faults: list[Fault] = []
    shortest, longest = CONTROL_PLANE_PREFIX_LENGTHS
    length = control_plane_subnet_prefix_length
    if length is not None and not isinstance(length, Unknown) and not _is_between(length, shortest, longest):
        faults.append(
            Fault(
                (_NAME,),
                f"must be from {shortest} to {longest}, got {length!r}; EKS recommends 16 addresses, which "
                f"/{longest} has",
            )
        )
    faults += check_subnet_ranges(vpc_cidr=vpc_cidr, prefix_lengths=lengths)
    if faults or length is None:
        return faults
    if isinstance(accelerator_subnet_prefix_length, Unknown) or isinstance(front[1], Unknown):
        return faults
    if isinstance(length, Unknown) or isinstance(vpc_cidr, Unknown):
        return faults
    layout = lay_out_subnets(
        vpc_cidr=vpc_cidr,
        accelerator_subnet_prefix_length=accelerator_subnet_prefix_length,
        front_prefix_length=front[1],
        control_plane_subnet_prefix_length=length,
    )
    last = int(IPv4Network(layout.control_plane[-1]).broadcast_address)
    if last >= int(IPv4Network(layout.accelerator).network_address):
        faults.append(
            Fault(
                ("vpc_cidr",),
                f"must hold accelerator_subnet_prefix_length /{accelerator_subnet_prefix_length}, {front[0]} "
                f"/{front[1]} and {CONTROL_PLANE_ZONES} x {_NAME} /{length}, got {vpc_cidr!r}; use a larger "
                "range or longer prefixes",
            )
        )
    return faults


def lay_out_subnets(
    *,
    vpc_cidr: str,
    accelerator_subnet_prefix_length: int,
    front_prefix_length: int,
    control_plane_subnet_prefix_length: int | None = None,
) -> SubnetLayout:
    """Give each subnet its range; sizes must have passed ``check_subnet_layout``.

    Args:
        vpc_cidr: IPv4 range of the VPC.
        accelerator_subnet_prefix_length: Prefix length of the nodes' subnet.
        front_prefix_length: Prefix length of the first subnet.
        control_plane_subnet_prefix_length: Prefix length of each control-plane subnet; None for none.
    """
    start = int(IPv4Network(vpc_cidr).network_address)
    front = IPv4Network((start, front_prefix_length))
    control_plane = []
    end = int(front.broadcast_address) + 1
    for _ in range(0 if control_plane_subnet_prefix_length is None else CONTROL_PLANE_ZONES):
        assert control_plane_subnet_prefix_length is not None
        size = int(2 ** (32 - control_plane_subnet_prefix_length))
        end = -(-end // size) * size
        control_plane.append(str(IPv4Network((end, control_plane_subnet_prefix_length))))
        end += size
    return SubnetLayout(
        accelerator=top_subnet(vpc_cidr=vpc_cidr, prefix_length=accelerator_subnet_prefix_length),
        front=str(front),
        control_plane=tuple(control_plane),
    )


def _is_between(length: object, shortest: int, longest: int) -> bool:
    return isinstance(length, int) and not isinstance(length, bool) and shortest <= length <= longest
