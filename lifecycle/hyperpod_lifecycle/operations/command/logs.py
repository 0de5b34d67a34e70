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
from hyperpod_lifecycle.operations.node_logs import LogLine, log_place, nothing_in, read_log
from hyperpod_lifecycle.operations.node_names import named
from hyperpod_model.command_line.output import emit
from hyperpod_model.command_line.parser import UsageError

_POLL_SECONDS: Final = 5.0


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
    (node,) = named(site.nodes, [options.node], cluster=site.cluster)
    lines = read_log(site.aws, site.cluster, node, options.of, since=options.since, most=options.lines)
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
