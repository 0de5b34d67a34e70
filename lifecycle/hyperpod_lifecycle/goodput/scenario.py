"""A training run and how it fails, in the numbers that the cost of failures depends on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Final, Literal

from hyperpod_model.catalog.failures import reported_run
from hyperpod_model.faults import Fault, refuse

FailureKind = Literal["process", "node", "cluster"]

KINDS: Final[tuple[FailureKind, ...]] = ("process", "node", "cluster")

MEANINGS: Final[Mapping[FailureKind, str]] = MappingProxyType(
    {
        "process": "a process ends or hangs, and its node stays",
        "node": "a node fails, and another one takes its place",
        "cluster": "all nodes stop at once, and what their memory held is gone",
    }
)

_REPORTED = reported_run("llama-3-405b")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A training run and how it fails.

    Failures arrive independently of each other and of the job's state (a Poisson process): nodes fail also
    while the job recovers. Durations do not vary, except for how long a job waits for a node, which depends
    on the spares that are left. The defaults of durations are assumptions to begin with, no facts: measure
    your own (``hyperpod-goodput measure``).

    Attributes:
        nodes: Nodes that train, without spares.
        accelerators_per_node: Accelerators of each.
        days: Length of the run in days, all of it paid.
        failures_per_device_hour: Failures that stop the job, of all kinds together, for each accelerator and
            hour. Default: that of the Llama 3 report, 419 in 54 days on 16,384 accelerators.
        process_share: Share of the failures after which the node stays, 0 to 1. Default: what the Llama 3
            report does not count as confirmed or suspected hardware.
        cluster_share: Share of the failures that stop all nodes, 0 to 1. Default 0.
        detection_minutes: From a failure until the job is being stopped. Default 5; hours where a human has
            to notice.
        restart_minutes: Ending and starting processes on nodes that are there. Default 3.
        spare_nodes: Nodes that stand by. Default 0.
        spare_minutes: Putting a spare in a failed node's place. Default 2.
        replacement_minutes: Until a failed node's replacement can train: capacity, start, lifecycle scripts,
            deep health checks. Default 30.
        initialization_minutes: Imports, ranks, communication. Default 5.
        retrieval_minutes: Loading a durable checkpoint. Default 5.
        data_loading_minutes: Data loaders. Default 1.
        first_step_minutes: Overhead of the first step. Default 1.
        checkpoint_interval_minutes: Training time from one durable checkpoint (FSx, S3) to the next. Default
            60.
        save_stall_seconds: How long a durable save stops training. Default 0, as with asynchronous saves.
        save_minutes: From the begin of a save until the checkpoint is complete. Default 0.
        memory_interval_minutes: Training time between checkpoints in the memory of the nodes, of which the
            durable interval is a multiple; None (default) without tiered checkpointing.
        memory_stall_seconds: How long a save to memory stops training. Default 0.
        memory_retrieval_minutes: Loading a checkpoint from memory. Default 1.
        checkpointless: Whether failed processes and nodes take their state from peers, so that no step is
            lost unless all nodes stop. Default False.
        peer_minutes: With ``checkpointless``: from the end of detection until training goes on, but for a
            node that is waited for. Default 2.

    Raises:
        InvalidInputError: With every field that cannot be, and why.
    """

    nodes: int
    accelerators_per_node: int = 8
    days: float = 30.0
    failures_per_device_hour: float = _REPORTED.failures_per_device_hour
    process_share: float = 1 - _REPORTED.hardware_share.assuming(
        because="it is a default that every report states, and that users replace"
    )
    cluster_share: float = 0.0
    detection_minutes: float = 5.0
    restart_minutes: float = 3.0
    spare_nodes: int = 0
    spare_minutes: float = 2.0
    replacement_minutes: float = 30.0
    initialization_minutes: float = 5.0
    retrieval_minutes: float = 5.0
    data_loading_minutes: float = 1.0
    first_step_minutes: float = 1.0
    checkpoint_interval_minutes: float = 60.0
    save_stall_seconds: float = 0.0
    save_minutes: float = 0.0
    memory_interval_minutes: float | None = None
    memory_stall_seconds: float = 0.0
    memory_retrieval_minutes: float = 1.0
    checkpointless: bool = False
    peer_minutes: float = 2.0

    def __post_init__(self) -> None:
        refuse(_faults(self))

    @property
    def accelerators(self) -> int:
        """Accelerators that train."""
        return self.nodes * self.accelerators_per_node

    @property
    def paid_accelerators(self) -> int:
        """Accelerators that are paid for, spares included."""
        return (self.nodes + self.spare_nodes) * self.accelerators_per_node

    @property
    def hours(self) -> float:
        """Length of the run in hours."""
        return self.days * 24

    @property
    def failures_per_hour(self) -> float:
        """Failures of all kinds that stop the job, an hour."""
        return self.failures_per_device_hour * self.accelerators

    @property
    def expected_failures(self) -> float:
        """Failures of all kinds in the whole run."""
        return self.failures_per_hour * self.hours

    @property
    def memory_saves_per_cycle(self) -> int:
        """Intervals of the nearest tier in an interval of the durable one; 1 without a memory tier."""
        if self.memory_interval_minutes is None:
            return 1
        return round(self.checkpoint_interval_minutes / self.memory_interval_minutes)

    @property
    def longest_interval_minutes(self) -> float:
        """No longer interval is taken: more failures would strike in it than a run gets over."""
        if self.failures_per_hour == 0:
            return _most("checkpoint_interval_minutes")
        minutes = 60 * _MOST_FAILURES / self.failures_per_hour - self.save_stall_seconds / 60
        if self.memory_interval_minutes is not None:
            minutes /= 1 + self.memory_stall_seconds / 60 / self.memory_interval_minutes
        return min(minutes, _most("checkpoint_interval_minutes"))

    def rate(self, kind: FailureKind) -> float:
        """Failures of a kind an hour.

        Args:
            kind: One of ``KINDS``.
        """
        shares = {"process": self.process_share, "cluster": self.cluster_share}
        share = shares[kind] if kind in shares else 1 - self.process_share - self.cluster_share
        return self.failures_per_hour * max(share, 0.0)


_AT_LEAST_ONE: Final = ("nodes", "accelerators_per_node")
_POSITIVE: Final = ("days", "checkpoint_interval_minutes", "memory_interval_minutes")
_MOST: Final[Mapping[str, float]] = MappingProxyType(
    {
        "nodes": 1_000_000,
        "accelerators_per_node": 1024,
        "spare_nodes": 1000,
        "failures_per_device_hour": 1000,
    }
)
"""Beyond these nobody means it; durations may be ten years."""
_MOST_FAILURES: Final = 30
"""Expected in one interval or recovery: the chance to get through is exp(-30)."""
_MOST_SAVES: Final = 100_000
_SHARES: Final = ("process_share", "cluster_share")


def _faults(scenario: Scenario) -> Iterator[Fault]:
    numbers = list(_numbers(scenario))
    for name, value in numbers:
        if not math.isfinite(value):
            yield Fault((name,), f"must be a finite number, got {value}")
        elif name in _AT_LEAST_ONE and value < 1:
            yield Fault((name,), f"must be 1 or more, got {value}")
        elif name in _POSITIVE and value <= 0:
            yield Fault((name,), f"must be more than 0, got {value:g}")
        elif name in _SHARES and not 0 <= value <= 1:
            yield Fault((name,), f"is a share, from 0 to 1, got {value:g}")
        elif value < 0:
            yield Fault((name,), f"must be 0 or more, got {value:g}")
        elif value > (most := _most(name)):
            yield Fault((name,), f"must be {most:,g} or less, got {value:g}")
    if scenario.process_share + scenario.cluster_share > 1 + 1e-12:
        yield Fault(
            ("process_share",),
            f"and cluster_share must be 1 or less together, got {scenario.process_share:g} and "
            f"{scenario.cluster_share:g}; what is left is the share of failed nodes",
        )
    if all(math.isfinite(value) for _, value in numbers):
        yield from _interval_faults(scenario)
        yield from _hopeless(scenario)


def _hopeless(scenario: Scenario) -> Iterator[Fault]:
    """Find runs that never come to a checkpoint, or out of a recovery; the model divides by that chance."""
    stages = (
        scenario.detection_minutes,
        scenario.restart_minutes,
        scenario.spare_minutes,
        scenario.replacement_minutes,
        scenario.initialization_minutes,
        scenario.retrieval_minutes,
        scenario.data_loading_minutes,
        scenario.first_step_minutes,
        scenario.save_minutes,
        scenario.peer_minutes,
        scenario.memory_retrieval_minutes,
    )
    if min(scenario.nodes, scenario.accelerators_per_node, scenario.checkpoint_interval_minutes) <= 0:
        return
    if scenario.memory_interval_minutes is not None and scenario.memory_interval_minutes <= 0:
        return
    saves = scenario.save_stall_seconds + scenario.memory_saves_per_cycle * scenario.memory_stall_seconds
    lengths = {
        "checkpoint_interval_minutes": scenario.checkpoint_interval_minutes + saves / 60,
        "replacement_minutes": sum(stages),
    }
    for name, minutes in lengths.items():
        failures = scenario.failures_per_hour * minutes / 60
        if failures > _MOST_FAILURES:
            what = "an interval and its saves" if name.startswith("checkpoint") else "a recovery"
            yield Fault(
                (name,),
                f"and its like make {what} {minutes:,.0f} minutes long, in which {failures:,.0f} failures "
                "are expected: such a run makes no progress",
            )


def _most(name: str) -> float:
    if name in _MOST:
        return _MOST[name]
    ten_years = 3660.0
    for unit, of_a_day in (("_minutes", 24 * 60), ("_seconds", 24 * 3600)):
        if name.endswith(unit):
            return ten_years * of_a_day
    return ten_years


def _interval_faults(scenario: Scenario) -> Iterator[Fault]:
    durable, memory = scenario.checkpoint_interval_minutes, scenario.memory_interval_minutes
    if scenario.save_minutes > durable > 0:
        yield Fault(
            ("save_minutes",),
            f"is {scenario.save_minutes:g}, and a checkpoint is begun every {durable:g} minutes; two saves "
            "in flight can deadlock: make the interval longer than a save takes",
        )
    if memory is None or memory <= 0 or not durable > 0:
        return
    multiple = durable / memory
    if multiple < 1 or abs(multiple - round(multiple)) > 1e-9 * multiple:
        yield Fault(
            ("memory_interval_minutes",),
            f"must divide checkpoint_interval_minutes, {durable:g}, got {memory:g}; such as "
            f"{durable / max(1, round(multiple)):g}",
        )
    elif multiple > _MOST_SAVES:
        yield Fault(
            ("memory_interval_minutes",),
            f"must be at least a {_MOST_SAVES:,}th of checkpoint_interval_minutes, {durable:g}, "
            f"got {memory:g}",
        )


def _numbers(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    for field in fields(scenario):
        value = getattr(scenario, field.name)
        if value is not None and not isinstance(value, bool):
            yield field.name, value
