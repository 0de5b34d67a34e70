"""What a node wrote into CloudWatch Logs: its lifecycle scripts, its health agent, its deep health checks."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.operations.node_health import SeenFault
from hyperpod_model.catalog.logs import (
    DEEP_HEALTH_FAILURE_FILTER,
    HEALTH_EVENT_DETAILS_KEY,
    HEALTH_EVENT_FILTER,
    deep_health_check_stream_name,
    health_monitoring_stream_name,
    lifecycle_stream_name,
    log_group_name,
)
from hyperpod_model.catalog.repairs import REPAIR_TEXTS

LogKind = Literal["lifecycle", "health", "deep-checks"]
LOG_KINDS: Final[tuple[LogKind, ...]] = ("lifecycle", "health", "deep-checks")

_CONDITION: Final = re.compile(r"Node condition (\w+) is now: True")
_EVENT: Final = "HealthMonitoringAgentDetectionEvent"
_NOTHING: Final[dict[LogKind, str]] = {
    "lifecycle": "its lifecycle scripts wrote nothing: they did not start, or the node's role may not write "
    "logs; a failed EFA check ends a node before its scripts",
    "health": "the health agent has detected nothing on it since then",
    "deep-checks": "no deep health check named it since then",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line of a log.

    Attributes:
        milliseconds: When, since 1970.
        stream: The log stream.
        text: What it says.
        id: Of the event.
    """

    milliseconds: int
    stream: str
    text: str
    id: str


def read_log(
    aws: Aws,
    cluster: Cluster,
    node: Node,
    kind: LogKind,
    *,
    since: datetime | None = None,
    most: int | None = None,
) -> list[LogLine]:
    """Read a log of a node, oldest line first.

    Args:
        aws: Clients.
        cluster: The cluster.
        node: The node.
        kind: Which log.
        since: From when on. Default: since the node was launched.
        most: Return the newest so many lines. Default: all.

    Returns:
        The lines; none where the log does not exist.

    Raises:
        OperationError: If AWS refuses.
    """
    start = node.launched if since is None else since
    try:
        lines = _lines(aws, cluster, node, kind, int(start.timestamp() * 1000))
        found = list(lines) if most is None else list(deque(lines, most))
    except OperationError as error:
        if code_of(error.__cause__) == "ResourceNotFoundException":
            return []
        raise
    return sorted(found, key=lambda line: line.milliseconds)


def nothing_in(kind: LogKind) -> str:
    """Return what it means that a log has no lines."""
    return _NOTHING[kind]


def log_place(cluster: Cluster, node: Node, kind: LogKind) -> tuple[str, str]:
    """Return the log group of a cluster, and the stream of a node's log or how its streams begin.

    Args:
        cluster: The cluster.
        node: The node.
        kind: Which log.
    """
    streams = {
        "lifecycle": lifecycle_stream_name(node.group, node.id),
        "health": health_monitoring_stream_name(node.group, node.id),
        "deep-checks": deep_health_check_stream_name(""),
    }
    return log_group_name(cluster.name, cluster.id), streams[kind]


def detected_faults(aws: Aws, cluster: Cluster, node: Node) -> list[SeenFault]:
    """Return what the health agent and deep health checks have found on a node since it was launched.

    Args:
        aws: Clients.
        cluster: The cluster.
        node: The node.

    Raises:
        OperationError: If AWS refuses.
    """
    found = [
        fault
        for line in read_log(aws, cluster, node, "health")
        if (fault := _detection(line.text)) is not None
    ]
    found += [
        SeenFault(message=line.text, source="deep health checks")
        for line in read_log(aws, cluster, node, "deep-checks")
        if any(text.contains in line.text for text in REPAIR_TEXTS)
    ]
    return found


def with_detections(aws: Aws, cluster: Cluster, nodes: Sequence[Node], *, since: datetime) -> frozenset[str]:
    """Return the ids of the nodes on which something was found lately, in few requests for all of them.

    Args:
        aws: Clients.
        cluster: The cluster.
        nodes: All its nodes. What was found on an instance before its launch, or on one that is gone, does
            not count.
        since: From when on.

    Raises:
        OperationError: If AWS refuses.
    """
    start = int(since.timestamp() * 1000)
    by_stream = {health_monitoring_stream_name(node.group, node.id): node for node in nodes}
    agents = f"{health_monitoring_stream_name('', '').rstrip('/')}/"
    found = {
        by_stream[line.stream].id
        for line in _search(aws, cluster, agents, HEALTH_EVENT_FILTER, start)
        if line.stream in by_stream and _detection(line.text) is not None
    }
    checks = deep_health_check_stream_name("")
    for line in _search(aws, cluster, checks, DEEP_HEALTH_FAILURE_FILTER, start):
        found |= {node.id for node in nodes if node.id in line.text}
    return frozenset(found)


def _search(aws: Aws, cluster: Cluster, streams: str, pattern: str, start: int) -> Iterator[LogLine]:
    request = {
        "logGroupName": log_group_name(cluster.name, cluster.id),
        "logStreamNamePrefix": streams,
        "filterPattern": pattern,
        "startTime": start,
    }
    try:
        for event in aws.pages("logs", "FilterLogEvents", "events", **request):
            yield _line(event)
    except OperationError as error:
        if code_of(error.__cause__) != "ResourceNotFoundException":
            raise


def _lines(aws: Aws, cluster: Cluster, node: Node, kind: LogKind, start: int) -> Iterator[LogLine]:
    group, stream = log_place(cluster, node, kind)
    request: dict[str, Any] = {"logGroupName": group, "startTime": start}
    if kind == "deep-checks":
        # One stream holds a whole check, which names the instances in its lines.
        request |= {"logStreamNamePrefix": stream, "filterPattern": f'"{node.id}"'}
    else:
        request["logStreamNames"] = [stream]
    for event in aws.pages("logs", "FilterLogEvents", "events", **request):
        yield _line(event)


def _line(event: Mapping[str, Any]) -> LogLine:
    return LogLine(
        milliseconds=int(event["timestamp"]),
        stream=str(event["logStreamName"]),
        text=str(event["message"]).rstrip("\n"),
        id=str(event["eventId"]),
    )


def _detection(text: str) -> SeenFault | None:
    try:
        told = json.loads(text)
    except ValueError:
        return None
    if not isinstance(told, Mapping) or _EVENT not in told:
        return None
    details = told.get(HEALTH_EVENT_DETAILS_KEY, told.get("details", {}))
    if not isinstance(details, Mapping):
        return SeenFault(message=text, source="health agent")
    message = str(details.get("message", ""))
    condition = _CONDITION.search(message)
    return SeenFault(
        kind="" if condition is None else condition[1],
        reason=str(details.get("reason", "")),
        message=message,
        source="health agent",
    )
