"""`hyperpod-nodes watch`: the nodes, again and again."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from datetime import UTC, datetime
from typing import Any

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.command.list_nodes import parts_of, selected
from hyperpod_lifecycle.operations.command.output import drawn
from hyperpod_lifecycle.operations.command.site import aws_of, site_of
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_model.command_line.output import emit

_PASSES = frozenset({"throttled", "unreachable"})


def run(options: Namespace) -> int:
    """Watch.

    Returns:
        The exit code.

    Raises:
        OperationError: If AWS refuses, other than for a while.
    """
    aws = aws_of(options)
    looks = _look(options, aws, first=True)
    if not sys.stdout.isatty():
        emit(drawn(*looks))
        for _ in _later(options):
            emit(drawn(*_look(options, aws, first=False)))
        return 0
    from rich.console import Group
    from rich.live import Live

    with Live(Group(*looks), auto_refresh=False, screen=False) as live:
        live.refresh()
        for _ in _later(options):
            live.update(Group(*_look(options, aws, first=False)), refresh=True)
    return 0


def _later(options: Namespace) -> Any:
    done = 1
    while options.times is None or done < options.times:
        time.sleep(options.every)
        done += 1
        yield done


def _look(options: Namespace, aws: Aws, *, first: bool) -> list[Any]:
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    try:
        site = site_of(options, aws=aws)
        health = site.health(options)
    except OperationError as error:
        if first or error.why not in _PASSES:
            raise
        return [now, f"not known now, trying again: {error}"]
    return [now, *parts_of(site, selected(site, health, options), health, faulty=options.faulty)]
