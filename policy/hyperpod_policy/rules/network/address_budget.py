"""The subnets of the nodes have an address for everything that takes one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.checks.addresses import (
    addresses_with_efa_only,
    check_address_budget,
    file_system_addresses,
    node_addresses,
    usable_addresses,
)
from hyperpod_model.faults import UNKNOWN
from hyperpod_policy.clusters import Group, clusters, groups, orchestrator, subnets_of
from hyperpod_policy.isolated_networks import endpoints_beside_nodes
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.networks import SUBNET, prefix_length_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, integer, request_terms

_ALLOWED = "addresses for every node, file system and endpoint in it"


@dataclass(frozen=True, slots=True)
class _Place:
    """The subnets in which some groups may start nodes, all of the template."""

    cluster: Resource
    subnets: tuple[Resource, ...]


def check(template: Template) -> Iterator[Verdict]:
    """Judge each set of subnets that instance groups share."""
    for cluster in clusters(template):
        places: dict[Any, tuple[_Place | None, tuple[str | int, ...]]] = {}
        located: list[tuple[Group, Any]] = []
        for group in groups(cluster):
            values, complete, path = subnets_of(group)
            key = frozenset(values) if complete else path
            located.append((group, key))
            found = [template.resource(value, SUBNET) for value in values]
            known = complete and bool(values) and None not in found
            place = _Place(cluster, tuple(one for one in found if one is not None)) if known else None
            places.setdefault(key, (place, path))
        for key, (place, path) in places.items():
            if place is None:
                found_there = "the size of its subnets is not in this template"
                yield undetermined(cluster, *path, found=found_there, allowed=_ALLOWED)
            else:
                inside = [group for group, other in located if _is_within(other, key)]
                yield _judge(template, place, inside)


def _is_within(inner: Any, outer: Any) -> bool:
    return bool(inner <= outer) if isinstance(inner, frozenset) and isinstance(outer, frozenset) else False


def _judge(template: Template, place: _Place, inside: list[Group]) -> Verdict:
    first = place.subnets[0]
    lengths = [prefix_length_of(subnet) for subnet in place.subnets]
    unsized = [subnet for subnet, length in zip(place.subnets, lengths, strict=True) if length is None]
    if unsized:
        return undetermined(
            unsized[0], "CidrBlock", found=f"is {unsized[0].get('CidrBlock')}", allowed=_ALLOWED
        )
    sizes = [length for length in lengths if length is not None]
    terms = [(_term(group, "InstanceGroupName"), _hungriest(group), _count(group)) for group in inside]
    kind = orchestrator(place.cluster)
    spared = addresses_with_efa_only(
        (
            (type_name, request_terms(group.properties.get("NetworkInterface", {})).get("InterfaceType"))
            for group, (_, type_name, _) in zip(inside, terms, strict=True)
            if isinstance(type_name, str)
        ),
        kind,
    )
    others = sum(_others(template, subnet) for subnet in place.subnets)
    if len(sizes) == 1:
        faults = check_address_budget(
            groups=terms,
            orchestrator=kind,
            prefix_length=sizes[0],
            other_addresses=others,
            addresses_per_node=spared,
        )
        if faults:
            estimated = "~" in faults[0].message
            return failed(
                first,
                "CidrBlock",
                found=faults[0].message,
                allowed="",
                severity="warning" if estimated else None,
            )
    else:
        usable = sum(map(usable_addresses, sizes))
        needed = others + sum(
            count * spared.get(type_name, node_addresses(instance_types()[type_name], kind))
            for _, type_name, count in terms
            if isinstance(type_name, str) and type_name in instance_types() and isinstance(count, int)
        )
        if needed > usable:
            names = ", ".join(subnet.logical_id for subnet in place.subnets)
            found = f"{names} together have {usable} usable addresses, the groups in them need about {needed}"
            return failed(first, "CidrBlock", found=found, allowed=_ALLOWED, severity="warning")
    for group, (_, type_name, count) in zip(inside, terms, strict=True):
        if count is UNKNOWN or type_name is UNKNOWN or type_name not in instance_types():
            found = f"how many addresses group '{group.name}' takes is not known"
            return undetermined(first, "CidrBlock", found=found, allowed=_ALLOWED)
    return passed(first, "CidrBlock")


def _term(group: Group, name: str) -> Any:
    return request_terms(group.properties.get(name, UNKNOWN))


def _count(group: Group) -> Any:
    value = _term(group, "InstanceCount")
    number = integer(value)
    return UNKNOWN if number is None else number


def _hungriest(group: Group) -> Any:
    """Return the instance type of a group whose nodes take most addresses, or that nobody knows."""
    names, complete = group.instance_types
    listed = instance_types()
    known = [name for name in names if isinstance(name, str) and name in listed]
    if not complete or len(known) < len(names) or not known:
        return UNKNOWN
    return max(known, key=lambda name: node_addresses(listed[name], "eks"))


def _others(template: Template, subnet: Resource) -> int:
    """Addresses that file systems and endpoints of the template take in a subnet."""
    found = 0
    for file_system in lustre_file_systems(template):
        if subnet.ref in elements(file_system.get("SubnetIds"))[0]:
            capacity = integer(file_system.get("StorageCapacity"))
            found += file_system_addresses(UNKNOWN if capacity is None else capacity)
    for endpoint in endpoints_beside_nodes(template):
        found += subnet.ref in elements(endpoint.get("SubnetIds"))[0]
    return found


RULE = Rule(
    id="AddressBudget",
    title="the subnets of the nodes have addresses for all of them",
    severity="error",
    why=(
        "A node of an accelerated type takes an address for each network card, on EKS one for each pod as "
        "well. In a subnet that is too small the last nodes fail to start with insufficient free addresses, "
        "replacements find none, and neither subnet nor group can be changed later."
    ),
    fix="give the nodes a subnet with a shorter prefix, as the finding says, before the cluster exists",
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites (addresses in the VPC)",
    check=check,
)
