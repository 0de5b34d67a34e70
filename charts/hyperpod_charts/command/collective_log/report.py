"""What a log says, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hyperpod_charts.command.collective_log.expectation import Expectation
from hyperpod_charts.command.collective_log.judgement import LogFinding, transports
from hyperpod_charts.command.collective_log.lines import LogLine
from hyperpod_charts.command.collective_log.observation import Observation
from hyperpod_model.catalog.collective_logs import ALGORITHMS
from hyperpod_policy.reports.printable import printable


def as_text(
    seen: Observation, expected: Expectation, findings: Sequence[LogFinding], width: int | None
) -> str:
    """Write it as text: the answer first, what it rests on, then what is wrong.

    Args:
        seen: What the log says.
        expected: What it should say.
        findings: What is wrong.
        width: Columns to wrap lines in. None for no wrapping.
    """
    lines = [_answer(seen)]
    for mark, words in _facts(seen, expected):
        lines += _wrapped(f"  {mark + ':':<13}", printable(words), width)
    for finding in findings:
        lines += ["", *_wrapped(f"{finding.severity}: ", printable(finding.message), width)]
        if finding.first is not None:
            lines += _wrapped("  at:  ", printable(_place(finding.first)), width)
        lines += _wrapped("  fix: ", printable(finding.fix), width)
        if finding.source:
            lines += _wrapped("  see: ", finding.source, width)
    if seen.warnings:
        lines += ["", "other warnings of NCCL, the first of them:"]
        for line in seen.warnings:
            lines += _wrapped(f"  {_place(line)}: ", printable(line.text), width)
    return "\n".join(lines) + "\n"


def as_json(
    seen: Observation, expected: Expectation, findings: Sequence[LogFinding], width: int | None
) -> str:
    """Write it as one JSON object, what is wrong in ``findings``.

    Args:
        seen: What the log says.
        expected: What it should say.
        findings: What is wrong.
        width: Not used: programs wrap no lines.
    """
    del width
    by_node = transports(seen)
    connections, direct = _connections(seen)
    said: dict[str, Any] = {
        "transport": _overall(seen),
        "instance_type": expected.instance_type,
        "interfaces_expected": expected.interfaces,
        "nodes": [
            {
                "name": name,
                "transports": list(by_node.get(name, ())),
                "interfaces": node.interfaces,
                "fabrics": sorted(node.fabrics),
                "processes": len(node.processes),
                "connections": sum(node.connections.values()),
                "gpu_direct_connections": sum(node.gpu_direct.values()),
            }
            for name, node in sorted(seen.nodes.items())
        ],
        "versions": {name: sorted(found) for name, found in sorted(seen.versions.items())},
        "protocols": sorted(seen.protocols),
        "connections": connections,
        "gpu_direct_connections": direct,
        "algorithms": {
            "connected": sorted(seen.connected),
            "chosen": {ALGORITHMS.get(name, name): count for name, count in seen.chosen.most_common()},
        },
        "ranks": seen.ranks,
        "findings": [
            {
                "id": finding.id,
                "severity": finding.severity,
                "message": finding.message,
                "fix": finding.fix,
                "file": None if finding.first is None else finding.first.file,
                "line": None if finding.first is None else finding.first.number,
                "source": finding.source,
            }
            for finding in findings
        ],
        "warnings": [{"file": line.file, "line": line.number, "text": line.text} for line in seen.warnings],
    }
    return json.dumps(said, indent=2) + "\n"


def _overall(seen: Observation) -> str:
    words = {word for found in transports(seen).values() for word in found}
    return " and ".join(sorted(words)) if words else "not told"


def _answer(seen: Observation) -> str:
    nodes = len(seen.nodes)
    processes = sum(len(node.processes) for node in seen.nodes.values())
    parts = [f"{nodes} {'node' if nodes == 1 else 'nodes'}"]
    parts.append(f"{processes} {'process' if processes == 1 else 'processes'}")
    if seen.ranks:
        parts.append(f"{seen.ranks} ranks")
    return f"{_overall(seen)} ({', '.join(parts)})"


def _facts(seen: Observation, expected: Expectation) -> Iterator[tuple[str, str]]:
    if seen.versions:
        yield (
            "versions",
            ", ".join(
                f"{name} {' and '.join(sorted(found))}" for name, found in sorted(seen.versions.items())
            ),
        )
    fabrics = {fabric for node in seen.nodes.values() for fabric in node.fabrics}
    if fabrics or seen.protocols:
        words = [f"fabric {name}" for name in sorted(fabrics)]
        yield "libfabric", ", ".join([*words, *(f"protocol {name}" for name in sorted(seen.protocols))])
    counts = Counter(node.interfaces for node in seen.nodes.values() if node.interfaces is not None)
    if counts:
        found = ", ".join(
            str(count) if len(counts) == 1 else f"{count} on {nodes} nodes"
            for count, nodes in sorted(counts.items())
        )
        of = (
            f"; {expected.because} {expected.interfaces}"
            if expected.interfaces
            else "; none expected for certain"
        )
        yield "interfaces", f"{found} found a node{of}"
    connections, direct = _connections(seen)
    if connections:
        yield "connections", f"{connections} between nodes, {direct} of them with GPUDirect RDMA"
    elif seen.nodes and "NCCL" in seen.libraries:
        yield "connections", "none between nodes yet, as far as the log goes"
    if seen.gpu_direct_said:
        yield (
            "GPUDirect",
            ", ".join(f"{word.lower()} for {count}" for word, count in sorted(seen.gpu_direct_said.items())),
        )
    yield "algorithms", _algorithms(seen)


def _algorithms(seen: Observation) -> str:
    if seen.chosen:
        return "chosen: " + ", ".join(
            f"{ALGORITHMS.get(name, name)} {count} times" for name, count in seen.chosen.most_common()
        )
    if seen.connected:
        return (
            f"{' and '.join(sorted(seen.connected))} connected; which one each collective takes, "
            "NCCL_DEBUG_SUBSYS=INIT,NET,TUNING says with NCCL 2.24 or later"
        )
    return "not told: neither rings nor trees were connected"


def _connections(seen: Observation) -> tuple[int, int]:
    made = sum(sum(node.connections.values()) for node in seen.nodes.values())
    return made, sum(sum(node.gpu_direct.values()) for node in seen.nodes.values())


def _place(line: LogLine) -> str:
    return f"{line.file}:{line.number}"


def _wrapped(mark: str, words: str, width: int | None) -> list[str]:
    if width is None:
        return [mark + words]
    return textwrap.wrap(words, width, initial_indent=mark, subsequent_indent=" " * len(mark)) or [mark]
