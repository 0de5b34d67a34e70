"""What stands in the subnets of a cluster's network."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_policy.clusters import Group, clusters, groups, subnets_of
from hyperpod_policy.eks_clusters import control_plane_groups, control_planes
from hyperpod_policy.isolated_networks import endpoints_beside_nodes, service_of
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.reports.html.network.model import Kind, Member, Spot
from hyperpod_policy.reports.html.network.words import listed, named, spoken
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, frozen, integer, single, truth

_OTHERS: Final[Mapping[str, tuple[Kind, tuple[str, ...], tuple[str, ...]]]] = {
    "AWS::EC2::NatGateway": ("NAT gateway", ("SubnetId",), ()),
    "AWS::Lambda::Function": ("function", ("VpcConfig", "SubnetIds"), ("VpcConfig", "SecurityGroupIds")),
    "AWS::EC2::Instance": ("instance", ("SubnetId",), ("SecurityGroupIds",)),
    "AWS::EFS::MountTarget": ("file system", ("SubnetId",), ("SecurityGroups",)),
    "AWS::EKS::Nodegroup": ("instance", ("Subnets",), ()),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": ("other", ("Subnets",), ("SecurityGroups",)),
}
"""Other types that stand in subnets: what they are, where they name subnets, and where security groups."""

_SERVICES_A_LINE: Final = 3


def members(template: Template) -> list[Member]:
    """Return what stands in subnets, nodes first."""
    return [
        *_nodes(template),
        *_file_systems(template),
        *_control_planes(template),
        *_endpoints(template),
        *_others(template),
    ]


def spot(resource: Resource, *path: str | int) -> Spot:
    """Return a place in a template."""
    return Spot(resource.document.file, resource.logical_id, path)


def _values(value: Any) -> tuple[Hashable, ...]:
    return tuple(dict.fromkeys(frozen(single(item)) for item in elements(value)[0]))


def _nodes(template: Template) -> Iterator[Member]:
    for cluster in clusters(template):
        found = list(groups(cluster))
        for group in found:
            override = group.properties.get("OverrideVpcConfig")
            given = override.get("SecurityGroupIds") if isinstance(override, Mapping) else None
            yield Member(
                kind="nodes",
                title=group.name,
                details=tuple(_of_nodes(group)),
                subnets=tuple(dict.fromkeys(frozen(value) for value in subnets_of(group)[0])),
                groups=_values(cluster.get("VpcConfig", "SecurityGroupIds") if given is None else given),
                spots=(spot(cluster, *group.path),),
            )
        if not found:
            yield Member(
                kind="nodes",
                title=named(cluster),
                details=("groups known at deployment only",),
                subnets=_values(cluster.get("VpcConfig", "Subnets")),
                groups=_values(cluster.get("VpcConfig", "SecurityGroupIds")),
                spots=(spot(cluster),),
            )


def _of_nodes(group: Group) -> Iterator[str]:
    names, complete = group.instance_types
    types = " or ".join(spoken(name) for name in names) if names and complete else "type told at deployment"
    count = integer(group.properties.get("InstanceCount"))
    yield types if count is None else f"{count} \N{MULTIPLICATION SIGN} {types}"
    if group.uses_efa is not False and group.accelerated is not False:
        yield "EFA between its nodes" if group.uses_efa else "EFA unknown"


def _control_planes(template: Template) -> Iterator[Member]:
    for control_plane in control_planes(template):
        network = ("ResourcesVpcConfig",)
        is_public = truth(control_plane.get(*network, "EndpointPublicAccess", default=True))
        is_private = truth(control_plane.get(*network, "EndpointPrivateAccess", default=False))
        api = {
            (True, True): "API public and private",
            (True, False): "API public",
            (False, True): "API private",
        }.get((is_public is True, is_private is True), "API access unknown")
        version = control_plane.get("Version")
        yield Member(
            kind="control plane",
            title=named(control_plane),
            details=(f"Kubernetes {'' if version is None else spoken(version)}".strip(), api),
            subnets=_values(control_plane.get(*network, "SubnetIds")),
            groups=tuple(frozen(value) for value in control_plane_groups(control_plane)),
            spots=(spot(control_plane),),
        )


def _file_systems(template: Template) -> Iterator[Member]:
    for found in lustre_file_systems(template):
        details = ["FSx for Lustre"]
        kind = found.get("LustreConfiguration", "DeploymentType")
        capacity = integer(found.get("StorageCapacity"))
        if kind is not None:
            details.append(spoken(kind))
        if capacity is not None:
            details.append(f"{capacity} GiB")
        yield Member(
            kind="file system",
            title=named(found),
            details=tuple(details),
            subnets=_values(found.get("SubnetIds")),
            groups=_values(found.get("SecurityGroupIds")),
            spots=(spot(found),),
        )


def _endpoints(template: Template) -> Iterator[Member]:
    """Yield interface endpoints; those with the same subnets and groups stand together."""
    together: dict[tuple[tuple[Hashable, ...], tuple[Hashable, ...]], list[Resource]] = {}
    for endpoint in endpoints_beside_nodes(template):
        if endpoint.get("VpcEndpointType", default="Gateway") != "Gateway":
            place = (_values(endpoint.get("SubnetIds")), _values(endpoint.get("SecurityGroupIds")))
            together.setdefault(place, []).append(endpoint)
    for (places, guards), found in together.items():
        services = sorted(_service(endpoint) for endpoint in found)
        yield Member(
            kind="endpoints",
            title=services[0] if len(found) == 1 else f"{len(found)} interface endpoints",
            details=tuple(_lines(services)) if len(found) > 1 else ("interface endpoint",),
            subnets=places,
            groups=guards,
            spots=tuple(spot(endpoint) for endpoint in found),
        )


def _service(endpoint: Resource) -> str:
    found = service_of(endpoint)
    return named(endpoint) if found is None else found


def _lines(words: Sequence[str]) -> Iterator[str]:
    for first in range(0, len(words), _SERVICES_A_LINE):
        yield listed(words[first : first + _SERVICES_A_LINE])


def _others(template: Template) -> Iterator[Member]:
    for resource_type, (kind, where, guards) in _OTHERS.items():
        for resource in template.of_type(resource_type):
            places = _values(resource.get(*where))
            if places:
                yield Member(
                    kind=kind,
                    title=named(resource),
                    details=()
                    if kind in ("NAT gateway", "function")
                    else (resource_type.removeprefix("AWS::"),),
                    subnets=places,
                    groups=_values(resource.get(*guards)) if guards else (),
                    spots=(spot(resource),),
                )
