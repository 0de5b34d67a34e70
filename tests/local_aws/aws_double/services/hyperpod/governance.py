"""Task governance: one set of priority classes for a cluster, and quotas of teams.

Kueue, which enforces them, runs nowhere. Whether AWS refuses a quota before there are priority classes is not
documented; the developer guide names that order, and this double holds to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request, page
from aws_double.services.eks.api import cluster as eks_cluster
from aws_double.services.hyperpod.api import API, cluster, clusters_of
from aws_double.services.hyperpod.cluster import Cluster, Governed
from hyperpod_model.catalog.task_governance import ADD_ON

_SCHEDULER = "ClusterSchedulerConfig"
_QUOTA = "ComputeQuota"


@API.operation("CreateClusterSchedulerConfig")
def create_scheduler_config(request: Request) -> dict[str, Any]:
    found = _governable(request)
    if found.scheduler_configs:
        raise ApiError("ConflictException", f"Cluster {found.name} has a cluster policy already.")
    return _made(found.scheduler_configs, found, _SCHEDULER, request.asked)


@API.operation("CreateComputeQuota")
def create_compute_quota(request: Request) -> dict[str, Any]:
    found = _governable(request)
    asked = request.asked
    if not found.scheduler_configs:
        raise ApiError("ValidationException", f"Cluster {found.name} has no cluster policy yet.")
    for other in found.quotas.values():
        if other.asked["Name"] == asked["Name"]:
            raise ApiError("ConflictException", f"A compute quota {asked['Name']} exists already.")
        if _team(other.asked) == _team(asked):
            raise ApiError("ConflictException", f"Team {_team(asked)} has a compute quota already.")
    _check_quota(found, asked)
    return _made(found.quotas, found, _QUOTA, asked)


@API.operation("UpdateClusterSchedulerConfig")
def update_scheduler_config(request: Request) -> dict[str, Any]:
    return _changed(_SCHEDULER, request)


@API.operation("UpdateComputeQuota")
def update_compute_quota(request: Request) -> dict[str, Any]:
    found, _, _ = _find(_QUOTA, request)
    _check_quota(found, request.asked)
    return _changed(_QUOTA, request)


@API.operation("DescribeClusterSchedulerConfig")
def describe_scheduler_config(request: Request) -> dict[str, Any]:
    found, _, one = _find(_SCHEDULER, request)
    return _told(_SCHEDULER, found, one)


@API.operation("DescribeComputeQuota")
def describe_compute_quota(request: Request) -> dict[str, Any]:
    found, _, one = _find(_QUOTA, request)
    return _told(_QUOTA, found, one)


@API.operation("DeleteClusterSchedulerConfig")
def delete_scheduler_config(request: Request) -> dict[str, Any]:
    _, kept, one = _find(_SCHEDULER, request)
    del kept[one.id]
    return {}


@API.operation("DeleteComputeQuota")
def delete_compute_quota(request: Request) -> dict[str, Any]:
    _, kept, one = _find(_QUOTA, request)
    del kept[one.id]
    return {}


@API.operation("ListClusterSchedulerConfigs")
def list_scheduler_configs(request: Request) -> dict[str, Any]:
    return _listed(_SCHEDULER, request, drop=("SchedulerConfig", "Description"))


@API.operation("ListComputeQuotas")
def list_compute_quotas(request: Request) -> dict[str, Any]:
    return _listed(_QUOTA, request, drop=("Description",))


def _governable(request: Request) -> Cluster:
    found = cluster(request.region, request.asked["ClusterArn"])
    arn = found.eks_cluster_arn
    if arn is None:
        raise ApiError("ValidationException", f"Cluster {found.name} is not orchestrated by Amazon EKS.")
    if ADD_ON not in eks_cluster(request.region, arn.rpartition("/")[2]).add_ons:
        raise ApiError("ValidationException", f"The add-on {ADD_ON} is not installed in {arn}.")
    return found


def _check_quota(found: Cluster, asked: Mapping[str, Any]) -> None:
    types = {group.asked.get("InstanceType") for group in found.groups.values()}
    for one in asked.get("ComputeQuotaConfig", {}).get("ComputeQuotaResources", []):
        if one["InstanceType"] not in types:
            raise ApiError("ValidationException", f"Cluster {found.name} has no {one['InstanceType']}.")


def _team(asked: Mapping[str, Any]) -> str:
    return str(asked["ComputeQuotaTarget"]["TeamName"])


def _made(kept: dict[str, Governed], found: Cluster, kind: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    one = Governed(asked=dict(asked))
    kept[one.id] = one
    return {f"{kind}Arn": _arn(kind, found, one), f"{kind}Id": one.id}


def _changed(kind: str, request: Request) -> dict[str, Any]:
    found, _, one = _find(kind, request)
    asked = dict(request.asked)
    del asked[f"{kind}Id"]
    if asked.pop("TargetVersion") != one.version:
        raise ApiError("ConflictException", f"{one.id} is at version {one.version}.")
    one.asked = {**one.asked, **asked}
    one.version += 1
    one.progress = Progress("Updating", "Updated")
    return {f"{kind}Arn": _arn(kind, found, one), f"{kind}Version": one.version}


def _kept(found: Cluster, kind: str) -> dict[str, Governed]:
    return found.scheduler_configs if kind == _SCHEDULER else found.quotas


def _find(kind: str, request: Request) -> tuple[Cluster, dict[str, Governed], Governed]:
    id = request.asked[f"{kind}Id"]
    for found in clusters_of(request.region).values():
        kept = _kept(found, kind)
        if id in kept:
            return found, kept, kept[id]
    raise ApiError("ResourceNotFound", f"{kind} {id} not found.")


def _arn(kind: str, found: Cluster, one: Governed) -> str:
    path = {_SCHEDULER: "cluster-scheduler-config", _QUOTA: "compute-quota"}[kind]
    return f"{found.arn.rpartition(':')[0]}:{path}/{one.id}"


def _told(kind: str, found: Cluster, one: Governed) -> dict[str, Any]:
    return {
        **{key: value for key, value in one.asked.items() if key != "Tags"},
        f"{kind}Arn": _arn(kind, found, one),
        f"{kind}Id": one.id,
        f"{kind}Version": one.version,
        "Status": one.progress.state,
        "CreationTime": one.created,
    }


def _all(kind: str, request: Request) -> Iterator[dict[str, Any]]:
    wanted = request.asked.get("ClusterArn")
    for found in clusters_of(request.region).values():
        if wanted is None or wanted == found.arn:
            yield from (_told(kind, found, one) for one in _kept(found, kind).values())


def _listed(kind: str, request: Request, *, drop: tuple[str, ...]) -> dict[str, Any]:
    items = [
        {key: value for key, value in one.items() if key not in drop}
        for one in _all(kind, request)
        if request.asked.get("NameContains", "") in one["Name"]
    ]
    shown, more = page(items, request.asked, size=100, limit="MaxResults", token="NextToken")
    summaries = {_SCHEDULER: "ClusterSchedulerConfigSummaries", _QUOTA: "ComputeQuotaSummaries"}[kind]
    return {summaries: shown, **more}
