"""What the network fields of a specification say together."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from hyperpod_model.catalog import names
from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.names import NameRule
from hyperpod_model.checks.addresses import (
    PUBLIC_SUBNET_PREFIX_LENGTH,
    addresses_with_efa_only,
    check_address_budget,
    file_system_addresses,
)
from hyperpod_model.checks.subnet_layout import (
    CONTROL_PLANE_SUBNET_PREFIX_LENGTH,
    ENDPOINT_SUBNET_PREFIX_LENGTH,
    check_subnet_layout,
)
from hyperpod_model.checks.zones import check_availability_zone_id
from hyperpod_model.cluster_spec.network import MAKES_NETWORK_ONLY, NetworkSpec
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec


_VERBS = {"isolated": "closes"}
_BUDGET_NEEDS_A_FIGURE = "a subnet cannot grow later, so an estimate beats no check"


def check_network(spec: ClusterSpec) -> list[Fault]:
    """Check the network of a specification, with paths from the top.

    Args:
        spec: The specification; any of its values may be ``UNKNOWN``.
    """
    network = spec.network
    if not known(network):
        return []
    faults = [
        *_check_ids(network.subnet_ids, names.SUBNET_ID, ("network", "subnet_ids")),
        *_check_ids(network.security_group_ids, names.SECURITY_GROUP_ID, ("network", "security_group_ids")),
        *_check_id(network.vpc_id, names.VPC_ID, ("network", "vpc_id")),
        *_check_zone(spec, network),
        *_check_overrides(spec),
    ]
    if known(network.subnet_ids):
        faults += _check_existing(spec, network) if network.is_existing else _check_made(spec, network)
    return [*faults, *_check_http_egress(network), *_check_addresses(spec, network)]


def _check_zone(spec: ClusterSpec, network: NetworkSpec) -> list[Fault]:
    if network.availability_zone_id is None:
        return []
    found = check_availability_zone_id(network.availability_zone_id, region=spec.region)
    return [fault._replace(path=("network", "availability_zone_id")) for fault in found]


def _check_overrides(spec: ClusterSpec) -> Iterator[Fault]:
    kinds: dict[str, Any] = {
        "instance_groups": spec.instance_groups,
        "restricted_instance_groups": spec.restricted_instance_groups,
    }
    rules = {
        "override_subnet_ids": names.SUBNET_ID,
        "override_security_group_ids": names.SECURITY_GROUP_ID,
    }
    for kind, groups in kinds.items():
        for index, group in enumerate(groups if known(groups) else ()):
            if known(group):
                for field, rule in rules.items():
                    yield from _check_ids(getattr(group, field), rule, (kind, index, field))


def _check_made(spec: ClusterSpec, network: NetworkSpec) -> list[Fault]:
    faults = []
    if network.availability_zone_id is None:
        faults.append(
            Fault(
                ("network", "availability_zone_id"),
                "is required where the network is made: the ID of the zone that has your capacity, such as "
                "usw2-az1; or give vpc_id, subnet_ids and security_group_ids of an existing network",
            )
        )
    for name in ("vpc_id", "security_group_ids", "subnet_cidr"):
        if getattr(network, name) is not None:
            faults.append(
                Fault(
                    ("network", name), "goes with an existing network; give subnet_ids too, or leave it out"
                )
            )
    front = (
        ("endpoint_subnet_prefix_length", ENDPOINT_SUBNET_PREFIX_LENGTH)
        if network.isolated is True
        else ("public_subnet_prefix_length", PUBLIC_SUBNET_PREFIX_LENGTH)
    )
    makes_control_plane = spec.orchestrator == "eks" and known(spec.eks) and spec.eks.cluster_arn is None
    ranges = check_subnet_layout(
        vpc_cidr=network.vpc_cidr,
        accelerator_subnet_prefix_length=network.accelerator_subnet_prefix_length,
        front=front,
        control_plane_subnet_prefix_length=(
            CONTROL_PLANE_SUBNET_PREFIX_LENGTH if makes_control_plane else None
        ),
    )
    return faults + [fault._replace(path=("network", *fault.path)) for fault in ranges]


def _check_http_egress(network: NetworkSpec) -> list[Fault]:
    if network.http_egress is True and network.isolated is True:
        return [
            Fault(
                ("network", "http_egress"),
                "opens port 80 of the internet, and the network is isolated from it; leave one out",
            )
        ]
    if network.security_group_ids is None or not network.http_egress:
        return []
    return [
        Fault(
            ("network", "http_egress"),
            "opens the security group that is made, and security_group_ids name existing ones, which are "
            "yours to open; leave one of the two out",
        )
    ]


def _check_existing(spec: ClusterSpec, network: NetworkSpec) -> list[Fault]:
    faults = [
        Fault(
            ("network", name),
            f"{_VERBS.get(name, 'sizes')} a network that is made, and subnet_ids name an existing one; leave "
            "it out",
        )
        for name in MAKES_NETWORK_ONLY
        if name in network.model_fields_set
    ]
    if network.subnet_ids == ():
        faults.append(
            Fault(("network", "subnet_ids"), "is empty; give a subnet, or leave it out to have one made")
        )
    if network.security_group_ids == ():
        faults.append(
            Fault(
                ("network", "security_group_ids"),
                "is empty; give a security group, or leave it out to have one made",
            )
        )
    makes = []
    if network.security_group_ids is None:
        makes.append("a security group (or give security_group_ids)")
    if spec.file_system is not None:
        makes.append("a file system (or set file_system: null)")
    if network.vpc_id is None and makes:
        faults.append(
            Fault(("network", "vpc_id"), f"is required with subnet_ids, to make {' and '.join(makes)}")
        )
    if network.subnet_cidr is not None and known(network.subnet_cidr) and _range(network.subnet_cidr) is None:
        faults.append(
            Fault(
                ("network", "subnet_cidr"),
                f"must be an IPv4 range such as 10.0.128.0/17, got {network.subnet_cidr!r}",
            )
        )
    return faults


def _check_addresses(spec: ClusterSpec, network: NetworkSpec) -> list[Fault]:
    if not known(network.subnet_ids, spec.instance_groups):
        return []
    length: Any
    if network.subnet_ids is None:
        length, path = network.accelerator_subnet_prefix_length, "accelerator_subnet_prefix_length"
    else:
        if network.subnet_cidr is None or not known(network.subnet_cidr) or len(network.subnet_ids) != 1:
            return []
        subnet = _range(network.subnet_cidr)
        if subnet is None:
            return []
        length, path = subnet.prefixlen, "subnet_cidr"
    if length is UNKNOWN or not 0 < length <= 32:
        return []
    others = 0
    if known(spec.file_system) and spec.file_system is not None:
        others = file_system_addresses(spec.file_system.storage_capacity_gib)
    if not known(spec.orchestrator):
        return []
    groups = [group for group in _groups_in_the_subnet(spec) if known(*group)]
    faults = check_address_budget(
        groups=[(name, type_name, count) for name, type_name, count, _ in groups],
        orchestrator=spec.orchestrator,
        prefix_length=length,
        other_addresses=others,
        addresses_per_node=addresses_with_efa_only(
            ((type_name, interface) for _, type_name, _, interface in groups), spec.orchestrator
        ),
    )
    return [fault._replace(path=("network", path)) for fault in faults]


def _groups_in_the_subnet(spec: ClusterSpec) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Name, type, count and kind of interface of each group; of several types, the hungriest."""
    groups: list[Any] = list(spec.instance_groups)
    groups += spec.restricted_instance_groups if known(spec.restricted_instance_groups) else ()
    for group in groups:
        if not known(group) or _is_elsewhere(group, spec.network):
            continue
        types = getattr(group, "named_instance_types", (group.instance_type,))
        interface = getattr(group, "network_interface_type", None)
        if types and known(*types):
            yield group.name, max(types, key=_most_addresses), group.instance_count, interface


def _is_elsewhere(group: Any, network: NetworkSpec) -> bool:
    own: Any = group.override_subnet_ids
    if own is None:
        return False
    return not known(own) or network.subnet_ids is None or network.subnet_ids[0] not in own


def _most_addresses(type_name: str) -> int:
    found = instance_types().get(type_name)
    return 0 if found is None else found.eks_addresses.assuming(because=_BUDGET_NEEDS_A_FIGURE)


def _check_ids(ids: Any, rule: NameRule, path: FaultPath) -> list[Fault]:
    if ids is None or not known(ids):
        return []
    return [fault for index, value in enumerate(ids) for fault in _check_id(value, rule, (*path, index))]


def _check_id(value: Any, rule: NameRule, path: FaultPath) -> list[Fault]:
    if value is None or not known(value) or rule.matches(value):
        return []
    return [Fault(path, f"must be {rule.in_words}, got {value!r}")]


def _range(cidr: str) -> IPv4Network | None:
    try:
        return IPv4Network(cidr)
    except ValueError:
        return None
