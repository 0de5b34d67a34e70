"""`hyperpod-nodes logs`: what a node wrote into CloudWatch Logs."""

from __future__ import annotations

import dataclasses
import sys
import time
from argparse import Namespace
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from hyperpod_lifecycle.operations.clusters import Node
from hyperpod_lifecycle.operations.command.output import write
from hyperpod_lifecycle.operations.command.site import Site, site_of
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_logs import LogLine, log_place, nothing_in, read_log
from hyperpod_lifecycle.operations.node_names import INSTANCE_ID, named
from hyperpod_model.command_line.output import emit
from hyperpod_model.command_line.parser import UsageError

_POLL_SECONDS: Final = 5.0
_EVER: Final = datetime.fromtimestamp(0, UTC)


def run(options: Namespace) -> int:
    """Print a log.

    Returns:
        The exit code.

    Raises:
        OperationError: If AWS refuses.
        UsageError: If JSON is to be followed.
    """
    if options.follow and options.format == "json":
        raise UsageError("--follow has no end, and JSON needs one: leave one of them out")
    site = site_of(options)
    node, gone = _node(site, options)
    lines = read_log(site.aws, site.cluster, node, options.of, since=options.since, most=options.lines)
    if gone:
        print(f"{node.id} is not in {site.cluster.name} any more; it logged this", file=sys.stderr)
    group, stream = log_place(site.cluster, node, options.of)
    if not lines and options.format == "text":
        print(f"{group} {stream}: {nothing_in(options.of)}", file=sys.stderr)
    write(
        options,
        text=_text(lines),
        data={
            "log_group": group,
            "log_stream": stream,
            "node": node.id,
            "lines": [dataclasses.asdict(line) for line in lines],
        },
    )
    if options.follow:
        _follow(site, node, options, lines)
    return 0


def _node(site: Site, options: Namespace) -> tuple[Node, bool]:
    """Return the node that is meant, and whether it is gone: failures are told of instances that soon are.

    Raises:
        OperationError: If there is no such node, and no log of one.
        UsageError: If the log of a node that is gone is to be followed.
    """
    try:
        (node,) = named(site.nodes, [options.node], cluster=site.cluster)
    except OperationError as error:
        if error.why != "unknown_node" or not INSTANCE_ID.fullmatch(options.node):
            raise
        gone = _gone(site, options)
        if gone is None:
            groups = ", ".join(group.name for group in site.cluster.groups)
            raise OperationError(
                "unknown_node",
                f"there is no node '{options.node}' in cluster {site.cluster.name} in {site.cluster.region}, "
                f"and none of its groups ({groups}) has such a log of it",
            ) from error
        if options.follow:
            raise UsageError(f"{options.node} is gone and logs nothing more: leave --follow out") from error
        return gone, True
    return node, False


def _gone(site: Site, options: Namespace) -> Node | None:
    """Return an instance that is gone, by the group under whose name it has a log; None if there is none."""
    for group in site.cluster.groups:
        node = Node(
            group=group.name,
            number=0,
            id=options.node,
            logical_id=None,
            instance_type=group.instance_type,
            status="NotFound",
            message="",
            launched=_EVER,
            host=None,
            image_version=None,
            image_status=None,
        )
        if read_log(site.aws, site.cluster, node, options.of, most=1):
            return node
    return None


def _follow(site: Site, node: Node, options: Namespace, lines: Iterable[LogLine]) -> None:
    seen = {line.id for line in lines}
    newest = max((line.milliseconds for line in lines), default=int(node.launched.timestamp() * 1000))
    while True:
        time.sleep(_POLL_SECONDS)
        since = datetime.fromtimestamp(newest / 1000, UTC)
        found = read_log(site.aws, site.cluster, node, options.of, since=since)
        news = [line for line in found if line.id not in seen]
        emit(_text(news))
        newest = max((line.milliseconds for line in news), default=newest)
        seen |= {line.id for line in news}


def _text(lines: Iterable[LogLine]) -> str:
    return "".join(f"{_when(line)} {line.text}\n" for line in lines)


def _when(line: LogLine) -> str:
    return f"{datetime.fromtimestamp(line.milliseconds / 1000, UTC):%Y-%m-%dT%H:%M:%S}Z"
