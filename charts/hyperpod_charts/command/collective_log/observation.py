"""What the lines of a log say, added up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from hyperpod_charts.command.collective_log.lines import LogLine
from hyperpod_model.catalog.collective_logs import EFA_NETWORKS, LogError

_NETWORK: Final = re.compile(r"^Using network (.+)$|^Assigned NET plugin (.+) to comm$")
_PROVIDER: Final = re.compile(
    r"^NET/OFI Selected [Pp]rovider is ([^\s,*]+)\*?(?:, fabric is ([^\s,]+))?(?:,? \(found (\d+) nics\))?"
)
_PLUGIN: Final = re.compile(r"^NET/OFI (?:Initializing|Using) aws-ofi-nccl (\S+)")
_LIBFABRIC: Final = re.compile(r"^NET/OFI Using Libfabric version (\S+)")
_PROTOCOL: Final = re.compile(r"^NET/OFI Using transport protocol (\S+)")
_PLATFORM: Final = re.compile(r"^NET/OFI Running on (\S+) platform")
_NCCL: Final = re.compile(r"\bNCCL version (\S+)")
_CHANNEL: Final = re.compile(r" via NET/(.+?)/(\d+)(?:\(\d+\))?((?:/\w+|\(\w+\))*)")
_GPU_DIRECT: Final = re.compile(r"^NET/(.+?) : GPU Direct RDMA (Enabled|Disabled)\b")
_CONNECTED: Final = re.compile(r"^Connected (?:all (rings|trees)|(NVLS tree))")
_CHOSEN: Final = re.compile(r"\bBytes -> Algo ([A-Za-z]+) proto \w+")
_RANKS: Final = re.compile(r"\brank \d+ nranks (\d+)\b")

_MOST_WARNINGS: Final = 5


@dataclass(slots=True)
class NodeObservation:
    """What one pod or host said. Of what it says again after a restart, the last counts.

    Attributes:
        networks: What NCCL took, by accelerator.
        providers: What libfabric took, by accelerator.
        fabrics: Fabrics of the provider, such as ``efa-direct``.
        interfaces: Interfaces that were found.
        platform: Instance type in the plugin's words.
        connections: Connections to other nodes, by network.
        gpu_direct: How many of them use GPUDirect RDMA.
        processes: Process ids.
        failed: Accelerators whose plugin gave up.
    """

    networks: dict[int, str] = field(default_factory=dict)
    providers: dict[int, str] = field(default_factory=dict)
    fabrics: set[str] = field(default_factory=set)
    interfaces: int | None = None
    platform: str | None = None
    connections: Counter[str] = field(default_factory=Counter)
    gpu_direct: Counter[str] = field(default_factory=Counter)
    processes: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)


@dataclass(slots=True)
class ErrorSeen:
    """A known error in the log.

    Attributes:
        first: Where it stands first.
        nodes: Pods and hosts that said it.
        count: How often it stands there.
    """

    first: LogLine
    nodes: set[str] = field(default_factory=set)
    count: int = 0


@dataclass(slots=True)
class Observation:
    """What a log says.

    Attributes:
        lines: Lines that told anything.
        nodes: By pod or host.
        versions: Of NCCL, aws-ofi-nccl and libfabric, as they name themselves.
        protocols: Of aws-ofi-nccl, such as ``RDMA``.
        libraries: ``NCCL`` or ``CCOM``, those that wrote lines.
        connected: What was connected: ``rings``, ``trees``, ``NVLS tree``.
        chosen: Algorithms that NCCL chose, in lower case, with how often.
        gpu_direct_said: Answers for interfaces of libfabric, with how often.
        ranks: Ranks of the largest communicator; 0 where none told.
        errors: Known errors.
        warnings: The first of NCCL's warnings that are no known error.
    """

    lines: int = 0
    nodes: dict[str, NodeObservation] = field(default_factory=dict)
    versions: dict[str, set[str]] = field(default_factory=dict)
    protocols: set[str] = field(default_factory=set)
    libraries: set[str] = field(default_factory=set)
    connected: set[str] = field(default_factory=set)
    chosen: Counter[str] = field(default_factory=Counter)
    gpu_direct_said: Counter[str] = field(default_factory=Counter)
    ranks: int = 0
    errors: dict[LogError, ErrorSeen] = field(default_factory=dict)
    warnings: list[LogLine] = field(default_factory=list)


def observe(lines: Iterable[LogLine]) -> Observation:
    """Add up what lines say.

    Args:
        lines: As ``telling_lines`` yields them.
    """
    seen = Observation()
    for line in lines:
        seen.lines += 1
        if line.library is not None:
            seen.libraries.add(line.library)
        if line.error is not None:
            _note_error(seen, line, line.error)
        elif line.level == "WARN" and len(seen.warnings) < _MOST_WARNINGS:
            seen.warnings.append(line)
        node = _node(seen, line)
        if node is not None:
            _note_network(node, line)
        _note_job(seen, line.text)
    return seen


def _node(seen: Observation, line: LogLine) -> NodeObservation | None:
    if line.process is None:
        return None
    node = seen.nodes.setdefault(line.node, NodeObservation())
    node.processes.add(line.process)
    return node


def _note_error(seen: Observation, line: LogLine, error: LogError) -> None:
    found = seen.errors.setdefault(error, ErrorSeen(line))
    found.count += 1
    if line.node:
        found.nodes.add(line.node)


def _note_network(node: NodeObservation, line: LogLine) -> None:
    device, text = line.device or 0, line.text
    if found := _NETWORK.search(text):
        node.networks[device] = found[1] or found[2]
    elif found := _PROVIDER.search(text):
        node.providers[device] = found[1]
        node.failed.discard(device)
        if found[2] is not None:
            node.fabrics.add(found[2])
        if found[3] is not None:
            node.interfaces = int(found[3])
    elif found := _PLATFORM.search(text):
        node.platform = found[1]
    elif found := _CHANNEL.search(text):
        node.connections[found[1]] += 1
        if "/GDRDMA" in found[3]:
            node.gpu_direct[found[1]] += 1
    elif line.error is not None and line.error.id == "plugin-failed":
        node.failed.add(device)
        node.providers.pop(device, None)


def _note_job(seen: Observation, text: str) -> None:
    for name, pattern in (("NCCL", _NCCL), ("aws-ofi-nccl", _PLUGIN), ("libfabric", _LIBFABRIC)):
        if found := pattern.search(text):
            seen.versions.setdefault(name, set()).add(found[1])
    if found := _PROTOCOL.search(text):
        seen.protocols.add(found[1])
    if found := _CONNECTED.search(text):
        seen.connected.add(found[1] or found[2])
    if found := _CHOSEN.search(text):
        seen.chosen[found[1].lower()] += 1
    if (found := _GPU_DIRECT.search(text)) and found[1] in EFA_NETWORKS:
        seen.gpu_direct_said[found[2]] += 1
    if found := _RANKS.search(text):
        seen.ranks = max(seen.ranks, int(found[1]))
