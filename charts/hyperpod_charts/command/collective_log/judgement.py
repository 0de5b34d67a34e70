"""Whether what a log says is EFA, and all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from hyperpod_charts.command.collective_log.expectation import Expectation
from hyperpod_charts.command.collective_log.lines import LogLine
from hyperpod_charts.command.collective_log.observation import NodeObservation, Observation
from hyperpod_model.catalog.collective_logs import (
    EFA_NETWORKS,
    EFA_PROVIDER,
    GPU_DIRECT_REQUIRED,
    MISCOUNTED_INTERFACES,
    SOCKET_NETWORK,
)

EFA: Final = "EFA"
TCP: Final = "TCP"

_NAMED: Final = 3
_FEWER: Final = (
    "request all of them as vpc.amazonaws.com/efa; if pods are to have fewer, say how many with --interfaces"
)
_MORE: Final = (
    "see that the node's EFA device plugin is current, and that this instance type is the one meant"
)


@dataclass(frozen=True, slots=True)
class LogFinding:
    """What is wrong with a job's communication.

    Attributes:
        id: Name of the kind.
        severity: ``error`` where it is not EFA or not all of it, ``warning`` where that is not sure.
        message: What is wrong, what was found, what is expected.
        fix: The way out.
        first: First line that says so; None where no single one does.
        source: Where the words of the log are from; empty for the catalog's own facts.
    """

    id: str
    severity: Literal["error", "warning"]
    message: str
    fix: str
    first: LogLine | None = None
    source: str = ""


def transports(seen: Observation) -> dict[str, tuple[str, ...]]:
    """Say by what each node talks to the others, all that it uses.

    Args:
        seen: What the log says.

    Returns:
        By pod or host: ``EFA``, ``TCP``, ``libfabric over ...``, or another network by NCCL's name. Nodes
        that do not tell are left out.
    """
    found = {name: tuple(sorted(set(_transports(node, seen)))) for name, node in seen.nodes.items()}
    return {name: words for name, words in found.items() if words}


def judge(seen: Observation, expected: Expectation) -> tuple[LogFinding, ...]:
    """Judge a log.

    Args:
        seen: What it says.
        expected: What it should say.
    """
    return (
        *_known_errors(seen),
        *_not_efa(seen, expected),
        *_interfaces(seen, expected),
        *_gpu_direct(seen, expected),
        *_silent_nodes(seen),
    )


def _transports(node: NodeObservation, seen: Observation) -> Iterator[str]:
    for device, network in node.networks.items():
        yield _named(network, node.providers.get(device))
    if not node.networks:
        for network in node.connections:
            yield _named(network, next(iter(node.providers.values()), None))
    if not node.networks and not node.connections:
        # Neuron says no more than this, and NCCL does not where it may speak of NET only.
        for provider in node.providers.values():
            yield _named(EFA_NETWORKS[-1], provider)
        if node.failed and "CCOM" in seen.libraries:
            yield "no network"


def _named(network: str, provider: str | None) -> str:
    if network == SOCKET_NETWORK:
        return TCP
    if network not in EFA_NETWORKS:
        return network
    return EFA if provider in (EFA_PROVIDER, None) else f"libfabric over {provider}"


def _known_errors(seen: Observation) -> Iterator[LogFinding]:
    for error, found in sorted(
        seen.errors.items(), key=lambda entry: (entry[1].first.file, entry[1].first.number)
    ):
        where = f" on {_listed(sorted(found.nodes))}" if found.nodes else ""
        times = f", {found.count} times" if found.count > 1 else ""
        yield LogFinding(
            error.id, "error", f"{error.means}{where}{times}", error.fix, found.first, error.source
        )


def _not_efa(seen: Observation, expected: Expectation) -> Iterator[LogFinding]:
    slow: dict[str, list[str]] = {}
    for node, words in transports(seen).items():
        for word in words:
            if word != EFA:
                slow.setdefault(word, []).append(node)
    fix = (
        f"{expected.instance_type} has no EFA; take a type that has"
        if expected.interfaces == 0
        else "mend what is said above, if anything; else see that the pods request vpc.amazonaws.com/efa and "
        "that NCCL_NET and FI_PROVIDER are not set to anything else"
    )
    for word, nodes in slow.items():
        yield LogFinding("not-efa", "error", f"{_listed(nodes)} must use EFA, got {word}", fix)


def _interfaces(seen: Observation, expected: Expectation) -> Iterator[LogFinding]:
    if not expected.interfaces:
        return
    wrong: dict[int, list[str]] = {}
    for name, node in seen.nodes.items():
        if node.interfaces is not None and node.interfaces != expected.interfaces:
            wrong.setdefault(node.interfaces, []).append(name)
    for count, nodes in sorted(wrong.items()):
        message = (
            f"{_listed(nodes)} must find {expected.interfaces} interfaces, as {expected.because}, got {count}"
        )
        miscount = MISCOUNTED_INTERFACES.get(expected.instance_type or "")
        if miscount is not None and miscount.value[0] == count:
            yield LogFinding("interfaces", "error", message, miscount.value[1], source=miscount.source)
            continue
        yield LogFinding("interfaces", "error", message, _FEWER if count < expected.interfaces else _MORE)


def _gpu_direct(seen: Observation, expected: Expectation) -> Iterator[LogFinding]:
    if expected.instance_type not in GPU_DIRECT_REQUIRED.value:
        return
    without = []
    for name, node in seen.nodes.items():
        made = sum(node.connections[network] for network in EFA_NETWORKS)
        direct = sum(node.gpu_direct[network] for network in EFA_NETWORKS)
        if made > direct:
            without.append(name)
    if without or seen.gpu_direct_said["Disabled"]:
        nodes = _listed(without) if without else "some interface"
        yield LogFinding(
            "gpu-direct",
            "error",
            f"{nodes} must use GPUDirect RDMA on all connections, as {expected.instance_type} can, got some "
            "without",
            "install libfabric and aws-ofi-nccl by one EFA installer; leave NCCL_NET_GDR_LEVEL out",
            source=GPU_DIRECT_REQUIRED.source,
        )


def _silent_nodes(seen: Observation) -> Iterator[LogFinding]:
    told = transports(seen)
    silent = sorted(name for name in seen.nodes if name not in told)
    if told and silent:
        yield LogFinding(
            "silent",
            "warning",
            f"{_listed(silent)} must say what it uses, as the others do, got no such line",
            "read its whole log, from its start",
        )


def _listed(names: list[str]) -> str:
    shown = [name or "the log" for name in names[:_NAMED]]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(shown) + more
