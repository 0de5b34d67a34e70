"""A cluster as the AWS CLI shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from read_back import Clients

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
