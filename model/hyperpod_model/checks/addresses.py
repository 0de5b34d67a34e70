"""Whether the subnet of the nodes has an address for everything that takes one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network
from math import ceil, log2
from types import MappingProxyType
from typing import Literal, NamedTuple

from hyperpod_model.catalog.fact import Fact, UnknownNameError
from hyperpod_model.catalog.instances import InstanceType, instance_type, instance_types
from hyperpod_model.catalog.limits import RESERVED_SUBNET_ADDRESSES, SUBNET_PREFIX_LENGTHS
from hyperpod_model.catalog.lustre import GIB_FOR_EACH_NETWORK_INTERFACE
from hyperpod_model.faults import Fault, Unknown

PUBLIC_SUBNET_PREFIX_LENGTH = 24
"""Prefix length of the NAT gateway's subnet in a network that is made, where nobody says another."""

_BUDGET_NEEDS_A_FIGURE = "a subnet cannot grow later, so an estimate that is named as one beats no check"


class _Demand(NamedTuple):
    words: str
    addresses: int
    is_estimate: bool


def check_address_budget(
    *,
    groups: Sequence[tuple[str | Unknown, str | Unknown, int | Unknown]],
    orchestrator: Literal["slurm", "eks"],
    prefix_length: int | Unknown,
    other_addresses: int | Unknown = 0,
    addresses_per_node: Mapping[str, int] = MappingProxyType({}),
) -> list[Fault]:
    """Check that every node and everything else in the subnet gets an address.

    A node takes several VPC addresses: one for each network card with Slurm, and with EKS those of its pods
    too. Documented by AWS is the figure of P5 alone; those of other types are derived from the EC2 limits and
    marked as estimates in the message. Source: SageMaker developer guide, sagemaker-hyperpod-prerequisites.

    Args:
        groups: Name, instance type and count of each instance group in the subnet. A group of which something
            is ``UNKNOWN``, or whose type the catalog does not list, counts as nothing: what is left may still
            be too much.
        orchestrator: ``slurm`` or ``eks``.
        prefix_length: Prefix length of the subnet's IPv4 range, such as 17. ``UNKNOWN`` checks only against
            the largest subnet that there is.
        other_addresses: Addresses that file systems, endpoints and other tenants take in the subnet.
        addresses_per_node: Figures by instance type that replace the catalog's, for whoever knows better:
            nodes whose EFA interfaces are all ``efa-only`` take fewer.

    Returns:
        One fault if the subnet is too small, with the prefix length needed.
    """
    demands = [
        demand
        for name, type_name, count in groups
        if (demand := _demand(name, type_name, count, orchestrator, addresses_per_node)) is not None
    ]
    others = 0 if isinstance(other_addresses, Unknown) else other_addresses
    needed = sum(demand.addresses for demand in demands) + others
    shortest, _ = SUBNET_PREFIX_LENGTHS
    length = shortest if isinstance(prefix_length, Unknown) else prefix_length
    usable = usable_addresses(length)
    if needed <= usable:
        return []
    parts = [demand.words for demand in demands]
    if others:
        parts.append(f"others {others}")
    message = (
        f"a /{length} subnet has {usable} usable addresses, the cluster needs {needed} ({', '.join(parts)})"
    )
    if any(demand.is_estimate for demand in demands):
        message += "; figures with ~ are estimates that addresses_per_node replaces"
    wanted = prefix_length_for(needed)
    if wanted is None:
        way_out = f"no subnet is larger than /{shortest}, so spread the groups over several subnets"
    else:
        way_out = f"use a prefix length of {wanted} or shorter"
    return [Fault((), f"{message}; {way_out}")]


def usable_addresses(prefix_length: int) -> int:
    """Addresses of a subnet less those that AWS keeps.

    Args:
        prefix_length: Prefix length of the subnet's IPv4 range.
    """
    return max(0, int(2 ** (32 - prefix_length)) - RESERVED_SUBNET_ADDRESSES)


def prefix_length_for(addresses: int) -> int | None:
    """Longest prefix of a subnet with at least so many usable addresses, None if no subnet has.

    Args:
        addresses: Usable addresses needed.
    """
    shortest, longest = SUBNET_PREFIX_LENGTHS
    length = min(longest, 32 - ceil(log2(addresses + RESERVED_SUBNET_ADDRESSES)))
    return length if length >= shortest else None


def file_system_addresses(storage_capacity_gib: int | Unknown) -> int:
    """Addresses that an FSx for Lustre file system takes in its subnet, estimated on the safe side.

    Args:
        storage_capacity_gib: Storage capacity in GiB. ``UNKNOWN`` counts as the smallest file system.
    """
    each = GIB_FOR_EACH_NETWORK_INTERFACE.assuming(because=_BUDGET_NEEDS_A_FIGURE)
    capacity = each if isinstance(storage_capacity_gib, Unknown) else storage_capacity_gib
    return 1 + ceil(capacity / each)


def check_subnet_ranges(
    *, vpc_cidr: str | Unknown, prefix_lengths: Mapping[str, int | Unknown]
) -> list[Fault]:
    """Check that a VPC range is legal and holds subnets of the wanted sizes.

    Args:
        vpc_cidr: IPv4 range of the VPC, such as ``10.0.0.0/16``.
        prefix_lengths: Prefix length by subnet name.

    Returns:
        Every fault found, with the path ``("vpc_cidr",)`` or that of the subnet's name.
    """
    shortest, longest = SUBNET_PREFIX_LENGTHS
    faults = [
        Fault((name,), f"must be from {shortest} to {longest}, got {length!r}; AWS has no other subnet sizes")
        for name, length in prefix_lengths.items()
        if not isinstance(length, Unknown) and not _is_length(length)
    ]
    if isinstance(vpc_cidr, Unknown):
        return faults
    try:
        network = IPv4Network(vpc_cidr)
    except ValueError as error:
        return [
            *faults,
            Fault(
                ("vpc_cidr",),
                f"must be an IPv4 range such as 10.0.0.0/16, got {vpc_cidr!r} ({error})"
                f"{_range_around(vpc_cidr)}",
            ),
        ]
    if not shortest <= network.prefixlen <= longest:
        allowed = f"/{shortest} to /{longest}"
        return [*faults, Fault(("vpc_cidr",), f"must have a prefix length from {allowed}, got {vpc_cidr!r}")]
    lengths = {name: length for name, length in prefix_lengths.items() if isinstance(length, int)}
    if not faults and sum(int(2 ** (32 - length)) for length in lengths.values()) > network.num_addresses:
        wanted = " and ".join(f"{name} /{length}" for name, length in lengths.items())
        faults.append(
            Fault(
                ("vpc_cidr",),
                f"must hold {wanted}, got {vpc_cidr!r} with {network.num_addresses} addresses; use "
                f"{'a larger range or ' if network.prefixlen > shortest else ''}longer prefixes",
            )
        )
    return faults


def top_subnet(*, vpc_cidr: str, prefix_length: int) -> str:
    """Last subnet of a size within a VPC range.

    Args:
        vpc_cidr: IPv4 range of the VPC, such as ``10.0.0.0/16``.
        prefix_length: Prefix length of the subnet, such as 17 for ``10.0.128.0/17``.
    """
    end = int(IPv4Network(vpc_cidr).broadcast_address) + 1
    return str(IPv4Network((end - int(2 ** (32 - prefix_length)), prefix_length)))


def bottom_subnet(*, vpc_cidr: str, prefix_length: int) -> str:
    """First subnet of a size within a VPC range.

    Args:
        vpc_cidr: IPv4 range of the VPC, such as ``10.0.0.0/16``.
        prefix_length: Prefix length of the subnet, such as 24 for ``10.0.0.0/24``.
    """
    return str(IPv4Network((int(IPv4Network(vpc_cidr).network_address), prefix_length)))


def _range_around(cidr: str) -> str:
    try:
        return f"; did you mean {IPv4Network(cidr, strict=False)}"
    except ValueError:
        return ""


def _is_length(length: object) -> bool:
    shortest, longest = SUBNET_PREFIX_LENGTHS
    return isinstance(length, int) and not isinstance(length, bool) and shortest <= length <= longest


def node_addresses(found: InstanceType, orchestrator: Literal["slurm", "eks"]) -> int:
    """Addresses that one node takes in its subnet, estimated where no source says it.

    Args:
        found: The instance type.
        orchestrator: ``slurm`` or ``eks``.
    """
    return _addresses(found, orchestrator).assuming(because=_BUDGET_NEEDS_A_FIGURE)


def addresses_with_efa_only(
    interfaces: Iterable[tuple[str, str | Unknown | None]], orchestrator: Literal["slurm", "eks"]
) -> dict[str, int]:
    """Addresses that one node takes by instance type, where EFA interfaces take none.

    Args:
        interfaces: Instance type and kind of the EFA interfaces of each group. A type that any group has with
            interfaces of another kind is left out, and so counts with all its addresses.
        orchestrator: ``slurm`` or ``eks``.
    """
    kinds: dict[str, set[str | Unknown | None]] = {}
    for type_name, kind in interfaces:
        kinds.setdefault(type_name, set()).add(kind)
    listed = instance_types()
    saving = [name for name, said in kinds.items() if said == {"efa-only"} and name in listed]
    if orchestrator == "slurm":
        return dict.fromkeys(saving, 1)
    return {name: listed[name].max_pods.assuming(because=_BUDGET_NEEDS_A_FIGURE) + 1 for name in saving}


def _addresses(found: InstanceType, orchestrator: Literal["slurm", "eks"]) -> Fact[int]:
    return found.eks_addresses if orchestrator == "eks" else found.slurm_addresses


def _demand(
    name: str | Unknown,
    type_name: str | Unknown,
    count: int | Unknown,
    orchestrator: Literal["slurm", "eks"],
    addresses_per_node: Mapping[str, int],
) -> _Demand | None:
    if isinstance(type_name, Unknown) or isinstance(count, Unknown):
        return None
    label = "a group" if isinstance(name, Unknown) else name
    if type_name in addresses_per_node:
        each, estimate = addresses_per_node[type_name], ""
    else:
        try:
            found = instance_type(type_name)
        except UnknownNameError:
            return None
        fact = _addresses(found, orchestrator)
        each, estimate = node_addresses(found, orchestrator), "" if fact.certain else "~"
    return _Demand(f"{label} {count} x {estimate}{each}", count * each, bool(estimate))
