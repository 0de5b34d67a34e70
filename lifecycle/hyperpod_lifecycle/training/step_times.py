"""How long steps take, by rank and over time: finds the rank that all wait for, and a run that slows down."""

from __future__ import annotations

import logging
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from hyperpod_lifecycle.training.coordinator import Coordinator, SingleProcess

SLOW_RANK_PATTERN: Final = "HYPERPOD_SLOW_RANK"
SLOWER_PATTERN: Final = "HYPERPOD_SLOWER"

_log = logging.getLogger("hyperpod_lifecycle.training")


@dataclass(frozen=True, kw_only=True)
class StepTimeFinding:
    """A rank that is slower than the others, or than it was.

    Attributes:
        kind: ``slow_rank``: against the median of all ranks. ``slower``: against the fastest window of this
            start.
        step: Step after which it was found.
        rank: The rank.
        host: Where it runs.
        seconds: Median seconds of its own work in a step.
        usual_seconds: What it is held against.
    """

    kind: Literal["slow_rank", "slower"]
    step: int
    rank: int
    host: str
    seconds: float
    usual_seconds: float

    @property
    def ratio(self) -> float:
        """How many times the usual it takes."""
        return self.seconds / self.usual_seconds

    @property
    def line(self) -> str:
        """The line for logs, in a form that stays: a word, then ``name=value``."""
        pattern = SLOW_RANK_PATTERN if self.kind == "slow_rank" else SLOWER_PATTERN
        return (
            f"{pattern} rank={self.rank} host={self.host} step={self.step} seconds={self.seconds:.6f} "
            f"usual_seconds={self.usual_seconds:.6f} ratio={self.ratio:.2f}"
        )


class StepTimes:
    """Compares how long the ranks work on their own.

    In synchronous training every rank waits for the slowest, so the whole step takes the same time on all of
    them. Only what a rank does before it waits tells them apart: put that, such as loading data and the
    forward pass, into :meth:`own_work`. On a GPU, work is queued and not done when the call returns:
    synchronize before the block ends, at least in the steps that are measured.

    Args:
        coordinator: Of the ranks. Default a single process.
        window_steps: Steps whose median is compared; also how often ranks talk. Default 100.
        slow_rank_ratio: Times the median of all ranks from which a rank counts as slow. Default 1.2.
        slower_ratio: Times its own fastest window from which a rank counts as slower than it was. Default
            1.5.
        on_finding: Called on rank 0 with each finding, beside the line in the log. Default nothing.
        clock: Seconds. Default :func:`time.perf_counter`.

    Raises:
        ValueError: If a number is out of range.
    """

    def __init__(
        self,
        coordinator: Coordinator | None = None,
        *,
        window_steps: int = 100,
        slow_rank_ratio: float = 1.2,
        slower_ratio: float = 1.5,
        on_finding: Callable[[StepTimeFinding], None] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if window_steps < 1:
            raise ValueError(f"window_steps must be 1 or more, got {window_steps}")
        if slow_rank_ratio <= 1 or slower_ratio <= 1:
            raise ValueError(f"ratios must be above 1, got {slow_rank_ratio} and {slower_ratio}")
        self._coordinator: Coordinator = SingleProcess() if coordinator is None else coordinator
        self._window = window_steps
        self._slow_rank_ratio = slow_rank_ratio
        self._slower_ratio = slower_ratio
        self._on_finding = on_finding
        self._clock = clock
        self._own = 0.0
        self._times: list[float] = []
        self._fastest: dict[int, float] = {}

    @contextmanager
    def own_work(self) -> Iterator[None]:
        """Measure what a rank does in this step without waiting for others; several times, if need be."""
        begun = self._clock()
        try:
            yield
        finally:
            self._own += self._clock() - begun

    def step_done(self, step: int) -> list[StepTimeFinding]:
        """Say that a step is done; every ``window_steps`` of them the ranks compare. Call it on all ranks.

        Args:
            step: Which.

        Returns:
            What was found, on rank 0; nothing on others and between windows.
        """
        self._times.append(self._own)
        self._own = 0.0
        if len(self._times) < self._window:
            return []
        seconds = statistics.median(self._times)
        self._times.clear()
        told = self._coordinator.gather({"seconds": seconds, "host": socket.gethostname()})
        if told is None:
            return []
        findings = self._compared(step, [(one["seconds"], one["host"]) for one in told])
        for finding in findings:
            _log.warning("%s", finding.line)
            if self._on_finding is not None:
                self._on_finding(finding)
        return findings

    def _compared(self, step: int, told: list[tuple[float, str]]) -> list[StepTimeFinding]:
        findings = []
        usual = statistics.median(seconds for seconds, _ in told)
        for rank, (seconds, host) in enumerate(told):
            fastest = min(self._fastest.get(rank, seconds), seconds)
            self._fastest[rank] = fastest
            common = {"step": step, "rank": rank, "host": host, "seconds": seconds}
            if len(told) > 1 and 0 < usual * self._slow_rank_ratio <= seconds:
                findings.append(StepTimeFinding(kind="slow_rank", usual_seconds=usual, **common))  # type: ignore[arg-type]
            if 0 < fastest * self._slower_ratio <= seconds:
                findings.append(StepTimeFinding(kind="slower", usual_seconds=fastest, **common))  # type: ignore[arg-type]
        return findings
