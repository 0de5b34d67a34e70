"""What the API says of clusters, instance groups and nodes."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from aws_double.network_view import NetworkView
from aws_double.services.hyperpod.cluster import Cluster, Group, Node

_FIRST_ADDRESS = 4
"""AWS keeps those before it, in every subnet."""

_NOT_VERBATIM = {
    "InstanceCount",
    "MinInstanceCount",
    "InstanceRequirements",
    "KubernetesConfig",
    "AutoPatchConfig",
    "ImageId",
    "ImageReleaseVersion",
}
_OF_NODES = (
    "LifeCycleConfig",
    "OverrideVpcConfig",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "NetworkInterface",
)


def describe(cluster: Cluster) -> dict[str, Any]:
    """Say of a cluster what ``DescribeCluster`` says."""
    told = dict(cluster.asked)
    if "AutoScaling" in told:
        told["AutoScaling"] = {**told["AutoScaling"], "Status": "InService"}
    if "RestrictedInstanceGroupsConfig" in told:
        shared = told["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
        told["RestrictedInstanceGroupsConfig"] = {"SharedEnvironmentConfig": _current_and_desired(shared)}
    groups = list(cluster.groups.values())
    restricted = [_group(cluster, group) for group in groups if group.restricted]
    if restricted:
        told["RestrictedInstanceGroups"] = restricted
    return {
        **told,
        **summary(cluster),
        "InstanceGroups": [_group(cluster, group) for group in groups if not group.restricted],
    }


def summary(cluster: Cluster) -> dict[str, Any]:
    """Say of a cluster what ``ListClusters`` says."""
    return {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ClusterStatus": cluster.status,
        "CreationTime": cluster.created,
    }


def node_summary(cluster: Cluster, group: Group, node: Node, *, logical_id: bool) -> dict[str, Any]:
    """Say of a node what ``ListClusterNodes`` says."""
    return {
        "InstanceGroupName": group.name,
        "InstanceId": node.id,
        "InstanceType": group.instance_types[0],
        "LaunchTime": node.launched,
        "InstanceStatus": {"Status": node.progress.state, "Message": ""},
        **({"NodeLogicalId": node.logical_id} if logical_id and cluster.is_continuous else {}),
        **({} if node.updated is None else {"LastSoftwareUpdateTime": node.updated}),
    }


def node_details(cluster: Cluster, group: Group, node: Node) -> dict[str, Any]:
    """Say of a node what ``DescribeClusterNode`` says."""
    told = node_summary(cluster, group, node, logical_id=True)
    told |= {key: group.asked[key] for key in _OF_NODES if key in group.asked}
    if "KubernetesConfig" in group.asked:
        told["KubernetesConfig"] = _current_and_desired(group.asked["KubernetesConfig"])
    if "CapacityRequirements" in group.asked:
        told["CapacityType"] = next(iter(group.asked["CapacityRequirements"]))
    return {**told, **_where(cluster, group, node)}


def _group(cluster: Cluster, group: Group) -> dict[str, Any]:
    asked = group.asked
    told = {key: value for key, value in asked.items() if key not in _NOT_VERBATIM}
    if "MinInstanceCount" in asked:
        told["MinCount"] = asked["MinInstanceCount"]
    for key in ("ImageId", "ImageReleaseVersion"):
        if key in asked:
            told |= _current_and_desired({key: asked[key]})
    for key in ("InstanceRequirements", "KubernetesConfig"):
        if key in asked:
            told[key] = _current_and_desired(asked[key])
    if "AutoPatchConfig" in asked:
        patching = dict(asked["AutoPatchConfig"])
        schedule = {"PatchSchedule": patching.pop("PatchSchedule")} if "PatchSchedule" in patching else {}
        told["AutoPatchConfig"] = {**patching, **_current_and_desired(schedule)}
    status = cluster.status if cluster.status in ("Creating", "Updating", "Deleting") else "InService"
    return {
        **told,
        "CurrentCount": group.running,
        "TargetCount": asked["InstanceCount"],
        "Status": status,
    }


def _current_and_desired(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{when}{key}": value for key, value in asked.items() for when in ("Current", "Desired")}


def _where(cluster: Cluster, group: Group, node: Node) -> dict[str, Any]:
    place = cluster.place(group)
    if place is None:
        return {}
    subnet = NetworkView(cluster.region).subnet(place.subnets[0])
    network = ip_network(subnet.cidr_block)
    room = network.num_addresses - _FIRST_ADDRESS - 1
    address = network[_FIRST_ADDRESS + node.number % room]
    return {
        "PrivatePrimaryIp": str(address),
        "PrivateDnsHostname": f"ip-{str(address).replace('.', '-')}.{cluster.region}.compute.internal",
        "Placement": {
            "AvailabilityZone": subnet.availability_zone,
            "AvailabilityZoneId": subnet.availability_zone_id,
        },
    }
