"""HyperPod clusters: made, changed, described, listed, deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.logs.models import logs_backends

from aws_double import ACCOUNT, usage
from aws_double.progress import Progress
from aws_double.role_view import find_role, has_permissions
from aws_double.service_api import ApiError, Request, page
from aws_double.services.eks.api import cluster as eks_cluster
from aws_double.services.hyperpod.api import API, cluster, clusters_of, ready
from aws_double.services.hyperpod.changes import check_changes
from aws_double.services.hyperpod.cluster import Cluster, Group
from aws_double.services.hyperpod.description import describe, summary
from aws_double.services.hyperpod.prerequisites import check_prerequisites
from hyperpod_model.catalog.logs import log_group_name

_OF_GROUPS = ("InstanceGroups", "RestrictedInstanceGroups")


@API.operation("CreateCluster")
def create_cluster(request: Request) -> dict[str, Any]:
    asked = request.asked
    if asked["ClusterName"] in clusters_of(request.region):
        raise ApiError("ResourceInUse", f"Cluster {asked['ClusterName']} already exists.")
    made = Cluster(
        region=request.region,
        asked={key: value for key, value in asked.items() if key not in (*_OF_GROUPS, "Tags")},
        tags=list(asked.get("Tags", [])),
        groups=_groups(asked),
    )
    check_prerequisites(made)
    for group in made.groups.values():
        made.resize(group, group.asked["InstanceCount"])
    made.note("Cluster", "Cluster created")
    clusters_of(request.region)[made.name] = made
    _hold(made)
    # A stand-in for the first words of the lifecycle scripts: whoever prints first makes the group.
    logs_backends[ACCOUNT][made.region].ensure_log_group(log_group_name(made.name, made.id))
    return {"ClusterArn": made.arn}


@API.operation("UpdateCluster")
def update_cluster(request: Request) -> dict[str, Any]:
    asked = dict(request.asked)
    found = ready(request.region, asked.pop("ClusterName"))
    gone = asked.pop("InstanceGroupsToDelete", [])
    wanted = _groups(asked)
    check_changes(found, wanted, gone, asked)
    settings = {key: value for key, value in asked.items() if key not in _OF_GROUPS}
    after = Cluster(region=found.region, asked={**found.asked, **settings}, tags=[])
    after.groups = {name: group for name, group in found.groups.items() if name not in gone}
    for name, group in wanted.items():
        before = found.groups.get(name)
        after.groups[name] = group if before is None else _changed(before, group)
    check_prerequisites(after)
    for name in gone:
        found.resize(found.groups[name], 0)
    found.asked, found.groups = after.asked, after.groups
    for group in found.groups.values():
        found.resize(group, group.asked["InstanceCount"])
    found.progress = Progress("Updating", "InService")
    found.note("Cluster", "Cluster updated")
    _hold(found)
    return {"ClusterArn": found.arn}


@API.operation("DescribeCluster")
def describe_cluster(request: Request) -> dict[str, Any]:
    return describe(cluster(request.region, request.asked["ClusterName"]))


@API.operation("ListClusters")
def list_clusters(request: Request) -> dict[str, Any]:
    asked = request.asked
    found = [
        one
        for one in clusters_of(request.region).values()
        if asked.get("NameContains", "") in one.name
        and asked.get("CreationTimeAfter", 0) <= one.created.timestamp()
        and one.created.timestamp() <= asked.get("CreationTimeBefore", one.created.timestamp())
        and ("TrainingPlanArn" not in asked or asked["TrainingPlanArn"] in _training_plans(one))
    ]
    by_name = asked.get("SortBy") == "NAME"
    found.sort(
        key=lambda one: (one.name if by_name else "", one.created),
        reverse=asked.get("SortOrder") == "Descending",
    )
    shown, more = page([summary(one) for one in found], asked, size=10, limit="MaxResults", token="NextToken")
    return {"ClusterSummaries": shown, **more}


@API.operation("DeleteCluster")
def delete_cluster(request: Request) -> dict[str, Any]:
    found = cluster(request.region, request.asked["ClusterName"])
    if found.status == "Deleting":
        return {"ClusterArn": found.arn}
    for role_arn in sorted(found.roles):
        role = find_role(role_arn)
        if role is None or not has_permissions(role):
            raise ApiError(
                "ConflictException",
                f"Cluster {found.name} cannot be deleted without its role {role_arn} with its policies; "
                "on AWS it would stay in Deleting",
            )
    found.progress = Progress("Deleting", "GONE")
    if found.eks_cluster_arn is not None:
        eks_cluster(found.region, found.eks_cluster_arn.rpartition("/")[2]).node_counts.pop(found.arn, None)
    return {"ClusterArn": found.arn}


def _groups(asked: Mapping[str, Any]) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for member in _OF_GROUPS:
        for one in asked.get(member, []):
            name = one["InstanceGroupName"]
            if name in groups:
                raise ApiError("ValidationException", f"Instance group name {name} is not unique.")
            groups[name] = Group(asked=dict(one), restricted=member == "RestrictedInstanceGroups")
    return groups


def _changed(before: Group, after: Group) -> Group:
    kept = {key: before.asked[key] for key in ("SlurmConfig",) if key in before.asked}
    return Group(asked={**kept, **after.asked}, restricted=after.restricted, nodes=before.nodes)


def _training_plans(found: Cluster) -> set[str]:
    return {group.asked.get("TrainingPlanArn", "") for group in found.groups.values()}


def _hold(found: Cluster) -> None:
    places = [found.place(group) for group in found.groups.values()]
    network = {id for place in places if place is not None for id in (*place.subnets, *place.groups)}
    arn = found.eks_cluster_arn
    if arn is not None:
        counts = eks_cluster(found.region, arn.rpartition("/")[2]).node_counts
        counts[found.arn] = lambda: sum(group.running for group in found.groups.values())
    usage.hold(found.arn, {*network, *found.roles, *([] if arn is None else [arn])})
