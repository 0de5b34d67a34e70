"""`hyperpod-nodes advise`: reboot, replace, or leave alone."""

from __future__ import annotations

import dataclasses
from argparse import Namespace
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final

from hyperpod_lifecycle.operations.advice import Advice, advise
from hyperpod_lifecycle.operations.clusters import Node
from hyperpod_lifecycle.operations.command.output import health_line, write
from hyperpod_lifecycle.operations.command.site import Site, site_of
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_health import HealthView, SeenFault, is_faulty
from hyperpod_lifecycle.operations.node_logs import detected_faults, with_detections
from hyperpod_lifecycle.operations.node_names import named
from hyperpod_lifecycle.operations.transitions import (
    Transition,
    events_command,
    events_of,
    transition_of,
)
from hyperpod_model.command_line.parser import UsageError

_LATELY_HOURS: Final = 24
_AUTOMATIC: Final = (
    "HyperPod repairs nodes of this cluster by itself (NodeRecovery Automatic): look whether it is at it "
    "already"
)


def run(options: Namespace) -> int:
    """Advise.

    Returns:
        The exit code.

    Raises:
        OperationError: If AWS refuses.
        UsageError: If neither a cluster nor a fault is named.
    """
    if options.faults:
        if options.cluster is not None:
            raise UsageError("--xid and --fault ask nobody: leave the cluster and its nodes out")
        return _told(options)
    if options.cluster is None:
        raise UsageError("name a cluster, or a fault with --xid or --fault")
    return _asked(options)


def _told(options: Namespace) -> int:
    faults = [SeenFault(message=text, source="you") for text in options.faults]
    advice = advise(faults, rebooted=options.rebooted)
    write(options, text="".join(f"{line}\n" for line in _lines(advice)), data=dataclasses.asdict(advice))
    return 0


def _asked(options: Namespace) -> int:
    site = site_of(options)
    health = site.health(options)
    notes = [line for line in [health_line(health)] if line is not None]
    nodes = (
        named(site.nodes, options.nodes, cluster=site.cluster)
        if options.nodes
        else _with_faults(site, health, notes)
    )
    unseen: set[str] = set()
    advised = [
        (
            node,
            _of_node(site, node, health, options, notes, unseen),
            transition_of(site.aws, site.cluster, node),
        )
        for node in nodes
    ]
    if site.cluster.replaces_nodes and any(
        advice.repair in ("replace", "reboot") for _, advice, _ in advised
    ):
        notes.append(_AUTOMATIC)
    if not options.nodes:
        notes += _missing(site)
    if not advised:
        elsewhere = "" if health.unreachable is None else " that can be seen from here"
        notes.append(f"no node of {site.cluster.name} has a fault{elsewhere}")
    write(
        options,
        text="".join(f"{line}\n" for line in _report(site, advised, notes, unseen, health)),
        data={
            "cluster": site.cluster.name,
            "nodes": [
                {
                    "name": node.name,
                    "id": node.id,
                    "status": node.status,
                    **dataclasses.asdict(advice),
                    "all_asked": node.id not in unseen and health.unreachable is None,
                    "transition": None if transition is None else dataclasses.asdict(transition),
                }
                for node, advice, transition in advised
            ],
            "notes": list(dict.fromkeys(notes)),
        },
    )
    return 0


def _with_faults(site: Site, health: HealthView, notes: list[str]) -> list[Node]:
    """Return the nodes that the orchestrator, the API or the logs of late know a fault of.

    Alarms on the logs do not name the node.
    """
    logged: Collection[str] = ()
    try:
        logged = with_detections(
            site.aws, site.cluster, site.nodes, since=datetime.now(UTC) - timedelta(hours=_LATELY_HOURS)
        )
    except OperationError as error:
        notes.append(f"the logs of the nodes are not known: {error}")
    return [node for node in site.nodes if node.id in logged or is_faulty(node, health)]


def _of_node(
    site: Site, node: Node, health: HealthView, options: Namespace, notes: list[str], unseen: set[str]
) -> Advice:
    faults: list[SeenFault] = []
    try:
        faults += detected_faults(site.aws, site.cluster, node)
    except OperationError as error:
        notes.append(f"the logs of {node.name} are not known: {error}")
        unseen.add(node.id)
    if node.status == "Failure":
        faults.append(SeenFault(message=f"{node.status}: {node.message}", source="HyperPod's API"))
    return advise(faults, health=health.nodes.get(node.id), rebooted=options.rebooted)


def _missing(site: Site) -> Iterator[str]:
    """Tell of nodes that a group should have and that are not there: no node tells why."""
    for group in site.cluster.groups:
        if group.current >= group.target:
            continue
        events, why = events_of(site.aws, site.cluster, group.name)
        yield f"group {group.name} has {group.current} of {group.target} nodes; the others are not there"
        yield from (f"  event: {event.line}" for event in events)
        yield f"  {why}" if why is not None else f"  look at: {events_command(site.cluster, group.name)}"


def _report(
    site: Site,
    advised: Sequence[tuple[Node, Advice, Transition | None]],
    notes: Sequence[str],
    unseen: Collection[str],
    health: HealthView,
) -> Iterator[str]:
    for node, advice, transition in advised:
        first, *rest = _lines(advice)
        if not advice.evidence and node.id in unseen:
            first = "no fault is known, but not all could be asked: nothing can be advised"
        elif not advice.evidence and health.unreachable is not None:
            first = (
                f"its logs tell of no fault, but {health.source} could not be asked: nothing can be advised"
            )
        if transition is not None:
            # While HyperPod changes a node, no known fault is no sign that all is well.
            first = transition.means if not advice.evidence else f"{transition.means}; {first}"
            rest += [f"  {line}" for line in transition.lines]
        yield f"{node.name} ({node.id}), {node.status}: {first}"
        yield from rest
        if advice.repair in ("replace", "reboot") and transition is None:
            yield f"  hyperpod-nodes {advice.repair} {site.cluster.name} {node.id} {site.cluster.where}"
    yield from dict.fromkeys(notes)


def _lines(advice: Advice) -> Iterator[str]:
    yield advice.words
    for (source, fault), told in groupby(advice.evidence, key=lambda one: (one.source, one.fault)):
        yield f"  {source}: {fault}"
        yield from (f"    {one.why}" for one in told)
