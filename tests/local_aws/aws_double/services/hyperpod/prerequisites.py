"""What has to be there before HyperPod can make nodes: each check catches a forgotten dependency."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aws_double.network_view import ALL_TRAFFIC, NetworkView, Place, Wanted
from aws_double.role_view import find_role, has_permissions, is_trusted_by
from aws_double.service_api import ApiError
from aws_double.services.eks.api import clusters_of as eks_clusters_of
from aws_double.services.fsx.api import file_systems_of
from aws_double.services.hyperpod.cluster import Cluster, Group
from aws_double.services.hyperpod.scripts import script_faults
from hyperpod_model.catalog.add_ons import CHART_NAMESPACE, CHART_RELEASE
from hyperpod_model.catalog.iam import CLUSTER_ROLE_SERVICE, EXECUTION_ROLE_SERVICE
from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.ports import HTTPS, LUSTRE, OPENZFS

_BECAUSE = "a group that may have EFA is checked as if it had"


def check_prerequisites(cluster: Cluster) -> None:
    """Refuse a cluster whose nodes would not come up.

    Raises:
        ApiError: With all that is missing.
    """
    faults = [*_role_faults(cluster)]
    for group in cluster.groups.values():
        faults += [f"instance group {group.name}: {fault}" for fault in script_faults(cluster, group)]
    if "VpcConfig" in cluster.asked:
        faults += _network_faults(cluster)
    faults += _eks_faults(cluster)
    if faults:
        raise ApiError("ValidationException", f"Cluster {cluster.name}: {'; '.join(faults)}")


def _role_faults(cluster: Cluster) -> Iterator[str]:
    own = {cluster.asked["ClusterRole"]} if "ClusterRole" in cluster.asked else set()
    for role_arn in sorted(cluster.roles):
        service = CLUSTER_ROLE_SERVICE if role_arn in own else EXECUTION_ROLE_SERVICE
        role = find_role(role_arn)
        if role is None:
            yield f"role {role_arn} does not exist"
        elif not is_trusted_by(role, service):
            yield f"role {role_arn} is not trusted by {service}"
        elif not has_permissions(role):
            yield f"role {role_arn} has no policy, attached or inline"


def _network_faults(cluster: Cluster) -> Iterator[str]:
    network = NetworkView(cluster.region)
    for group in cluster.groups.values():
        place = cluster.place(group)
        if place is None:
            continue
        absent = network.absent(place)
        if absent:
            yield f"instance group {group.name}: {', '.join(absent)} do not exist"
            continue
        for subnet in place.subnets:
            if not network.reaches_s3(subnet):
                yield (
                    f"instance group {group.name}: {subnet} has no way to S3, neither an endpoint nor a NAT "
                    "gateway"
                )
        for fault in (*_efa_faults(network, group, place), *_storage_faults(network, cluster, group, place)):
            yield f"instance group {group.name}: {fault}"


def _has_efa(group: Group) -> bool:
    return any(
        instance_type(name).efa_interfaces.assuming(because=_BECAUSE) > 0 for name in group.instance_types
    )


def _efa_faults(network: NetworkView, group: Group, place: Place) -> Iterator[str]:
    if not _has_efa(group):
        return
    for group_id in place.groups:
        if network.without_self_rule(group_id, "ingress"):
            yield f"EFA health checks fail, since {group_id} does not admit all traffic from itself by its id"
        if network.without_self_rule(group_id, "egress"):
            yield f"EFA health checks fail, since {group_id} does not let all traffic to itself out by its id"


def _storage_faults(network: NetworkView, cluster: Cluster, group: Group, place: Place) -> Iterator[str]:
    for storage in group.asked.get("InstanceStorageConfigs", []):
        for kind, member in (("LUSTRE", "FsxLustreConfig"), ("OPENZFS", "FsxOpenZfsConfig")):
            if member in storage:
                yield from _mount_faults(network, cluster.region, group, place, kind, storage[member])


def _mount_faults(
    network: NetworkView, region: str, group: Group, place: Place, kind: str, mount: dict[str, Any]
) -> Iterator[str]:
    id = mount["DnsName"].partition(".")[0]
    found = file_systems_of(region).file_systems.get(id)
    if found is None or found.type != kind:
        yield f"there is no {kind} file system {id}"
        return
    if found.lifecycle != "AVAILABLE":
        yield f"file system {id} is {found.lifecycle}, not AVAILABLE"
        return
    if mount["DnsName"] != found.dns_name:
        yield f"file system {id} has the address {found.dns_name}, not {mount['DnsName']}"
    if kind == "OPENZFS":
        yield from network.blocked(place, found.place, OPENZFS)
        return
    if mount["MountName"] != found.mount_name:
        yield f"file system {id} has the mount name {found.mount_name}, not {mount['MountName']}"
    over_efa = found.asked.get("LustreConfiguration", {}).get("EfaEnabled", False) and _has_efa(group)
    wanted: tuple[Wanted, ...] = (ALL_TRAFFIC,) if over_efa else LUSTRE
    yield from network.blocked(place, found.place, wanted)
    yield from network.blocked(found.place, place, wanted)


def _eks_faults(cluster: Cluster) -> Iterator[str]:
    arn = cluster.eks_cluster_arn
    if arn is None:
        return
    found = eks_clusters_of(cluster.region).get(arn.rpartition("/")[2])
    if found is None or found.arn != arn:
        yield f"there is no EKS cluster {arn}"
        return
    if found.status != "ACTIVE":
        yield f"EKS cluster {found.name} is {found.status}, not ACTIVE"
    if found.authentication_mode == "CONFIG_MAP":
        yield f"EKS cluster {found.name} has the authentication mode CONFIG_MAP, without access entries"
    if not found.has_release(CHART_NAMESPACE, CHART_RELEASE):
        yield (
            f"EKS cluster {found.name} has no Helm release {CHART_RELEASE} in {CHART_NAMESPACE}, which "
            "HyperPod needs first"
        )
    if "VpcConfig" not in cluster.asked:
        yield "a cluster on EKS needs VpcConfig"
        return
    network = NetworkView(cluster.region)
    for group in cluster.groups.values():
        place = cluster.place(group)
        if place is None or network.absent(place):
            continue
        if found.vpc_id not in network.vpcs(place):
            yield f"instance group {group.name} is not in {found.vpc_id}, the VPC of EKS cluster {found.name}"
        elif not found.asked["resourcesVpcConfig"].get("endpointPublicAccess", True):
            for fault in network.blocked(place, found.place, HTTPS):
                yield f"instance group {group.name} does not reach the Kubernetes API: {fault}"
