"""What happened to a cluster with continuous provisioning."""

from __future__ import annotations

from typing import Any

from aws_double.service_api import ApiError, Request, page
from aws_double.services.hyperpod.api import API, cluster
from aws_double.services.hyperpod.cluster import Cluster, Event


@API.operation("ListClusterEvents")
def list_cluster_events(request: Request) -> dict[str, Any]:
    asked = request.asked
    found = _continuous(request)
    events = [
        event
        for event in found.events
        if asked.get("InstanceGroupName", event.group) == event.group
        and asked.get("NodeId", event.instance) == event.instance
        and asked.get("ResourceType", event.kind) == event.kind
        and asked.get("EventTimeAfter", 0) <= event.time.timestamp()
        and event.time.timestamp() <= asked.get("EventTimeBefore", event.time.timestamp())
    ]
    if asked.get("SortOrder", "Descending") == "Descending":
        events.reverse()
    shown, more = page(
        [_summary(found, event) for event in events], asked, size=100, limit="MaxResults", token="NextToken"
    )
    return {"Events": shown, **more}


@API.operation("DescribeClusterEvent")
def describe_cluster_event(request: Request) -> dict[str, Any]:
    found = _continuous(request)
    for event in found.events:
        if event.id == request.asked["EventId"]:
            return {"EventDetails": _summary(found, event)}
    raise ApiError("ResourceNotFound", f"{found.name} has no event {request.asked['EventId']}.")


def _continuous(request: Request) -> Cluster:
    found = cluster(request.region, request.asked["ClusterName"])
    if not found.is_continuous:
        raise ApiError("ValidationException", "Events need NodeProvisioningMode Continuous.")
    return found


def _summary(found: Cluster, event: Event) -> dict[str, Any]:
    return {
        "EventId": event.id,
        "ClusterArn": found.arn,
        "ClusterName": found.name,
        "ResourceType": event.kind,
        "EventTime": event.time,
        "Description": event.description,
        "EventLevel": "Info",
        **({} if event.group is None else {"InstanceGroupName": event.group}),
        **({} if event.instance is None else {"InstanceId": event.instance}),
    }
