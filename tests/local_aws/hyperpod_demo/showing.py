"""A cluster as the AWS CLI shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from notices import reading, send_event, unhealthy
from read_back import Clients

from hyperpod_model.catalog.events import NODE_HEALTH

_NODES_SHOWN = 3
_HEADINGS = ("InstanceGroupName", "InstanceId", "InstanceType", "InstanceStatus")


def description(clients: Clients, name: str) -> str:
    """Return what ``aws sagemaker describe-cluster`` prints.

    Args:
        clients: Makes boto3 clients.
        name: The cluster's.
    """
    told = clients.client("sagemaker").describe_cluster(ClusterName=name)
    del told["ResponseMetadata"]
    return json.dumps(told, indent=4, default=_as_text)


def node_table(clients: Clients, name: str) -> Iterator[str]:
    """Return a table of the nodes, of large groups the first ones.

    Args:
        clients: Makes boto3 clients.
        name: The cluster's name.
    """
    pages = clients.client("sagemaker").get_paginator("list_cluster_nodes").paginate(ClusterName=name)
    rows = [_row(node) for page in pages for node in page["ClusterNodeSummaries"]]
    yield from _aligned([_HEADINGS, *_shortened(sorted(rows))])


def watch_table(clients: Clients, stack_name: str) -> Iterator[str]:
    """Return a table of what is watched, and who hears of it; nothing where the stack watches nothing.

    Args:
        clients: Makes boto3 clients.
        stack_name: The stack of the cluster.
    """
    made = _made(clients, stack_name)
    events, cloudwatch = clients.client("events"), clients.client("cloudwatch")
    rules = [events.describe_rule(Name=name) for name in made.get("AWS::Events::Rule", [])]
    names = made.get("AWS::CloudWatch::Alarm", [])
    alarms = cloudwatch.describe_alarms(AlarmNames=names)["MetricAlarms"] if names else []
    rows: list[tuple[str, ...]] = [
        *(("events", one["Description"], one["State"]) for one in rules),
        *(("alarm", one["AlarmName"], one["StateValue"]) for one in alarms),
        *(("dashboard", name, "") for name in made.get("AWS::CloudWatch::Dashboard", [])),
        *(("told", address, "not confirmed") for address in _told(clients, made)),
    ]
    return _aligned(rows) if rows else iter(())


def notice_of_a_fault(clients: Clients, *, cluster_name: str, topic_arn: str) -> str:
    """Return what people hear when a node fails. The event is a stand-in: no node of the double fails.

    Args:
        clients: Makes boto3 clients.
        cluster_name: The cluster's name.
        topic_arn: The topic that they read.
    """
    sagemaker = clients.client("sagemaker")
    arn = sagemaker.describe_cluster(ClusterName=cluster_name)["ClusterArn"]
    node = sagemaker.list_cluster_nodes(ClusterName=cluster_name)["ClusterNodeSummaries"][0]["InstanceId"]
    with reading(clients, topic_arn, name=f"demo-{cluster_name}") as reader:
        send_event(
            clients, NODE_HEALTH, cluster_arn=arn, detail=unhealthy(node, "a fault of this demonstration")
        )
        return "\n".join(reader.messages())


def _made(clients: Clients, stack_name: str) -> dict[str, list[str]]:
    """Return the physical ids of a stack's resources by type."""
    found: dict[str, list[str]] = {}
    pages = clients.client("cloudformation").get_paginator("list_stack_resources")
    for page in pages.paginate(StackName=stack_name):
        for one in page["StackResourceSummaries"]:
            found.setdefault(one["ResourceType"], []).append(one["PhysicalResourceId"])
    return found


def _told(clients: Clients, made: Mapping[str, list[str]]) -> Iterator[str]:
    sns = clients.client("sns")
    for arn in made.get("AWS::SNS::Topic", []):
        for page in sns.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=arn):
            yield from (one["Endpoint"] for one in page["Subscriptions"])


def _row(node: Mapping[str, Any]) -> tuple[str, ...]:
    status = node["InstanceStatus"]["Status"]
    return node["InstanceGroupName"], node["InstanceId"], node["InstanceType"], status


def _shortened(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    for (group, status), found in groupby(rows, key=lambda row: (row[0], row[3])):
        nodes = list(found)
        # A line that says "1 more" is no shorter than the node itself.
        shown = nodes if len(nodes) <= _NODES_SHOWN + 1 else nodes[:_NODES_SHOWN]
        yield from shown
        if len(shown) < len(nodes):
            yield group, f"and {len(nodes) - len(shown)} more", "", status


def _aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{value!r} is not what the API tells")
