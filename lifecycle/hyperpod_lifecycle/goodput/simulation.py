"""The cost of failures by simulation (Monte Carlo), many runs at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from hyperpod_lifecycle.goodput.breakdown import Breakdown, Cause
from hyperpod_lifecycle.goodput.ladder import (
    STAGES_BEFORE_TRAINING,
    Rung,
    again_hours,
    rung_of,
    stage_hours,
    stall_hours,
    training_hours,
)
from hyperpod_lifecycle.goodput.scenario import KINDS, Scenario
from hyperpod_model.faults import Fault, refuse

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_SEED: Final = 20240723
_RUNS_AT_ONCE: Final = 300
"""So many runs take twice as long for a failure as one does."""
_MOST_FAILURES: Final = 1e8


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """What many simulated runs cost.

    Attributes:
        mean: Mean over the runs.
        goodput_error: Standard error of the mean goodput.
        in_order: Goodput of each run, in an order that is the same for the same seed.
    """

    mean: Breakdown
    goodput_error: float
    in_order: tuple[float, ...]

    @cached_property
    def _sorted(self) -> tuple[float, ...]:
        return tuple(sorted(self.in_order))

    def quantile(self, share: float) -> float:
        """Return the goodput that a share of the runs stays below.

        Args:
            share: 0 to 1.
        """
        position = min(int(share * len(self._sorted)), len(self._sorted) - 1)
        return self._sorted[position]


def simulate(scenario: Scenario, *, runs: int = 1000, seed: int = _SEED) -> Simulated:
    """Simulate runs, failure by failure.

    The same model as ``estimate``: the job trains while at most ``spare_nodes`` nodes are away, and no sooner
    than a replacement time after all nodes failed. Runs begin at a checkpoint with all nodes and end wherever
    they are.

    Args:
        scenario: The run.
        runs: How many.
        seed: Of the random numbers. Scenarios with the same failures meet the same ones.

    Raises:
        ValueError: If ``runs`` is less than 2.
        InvalidInputError: If so many failures are expected that it would take minutes.
    """
    if runs < 2:
        raise ValueError(f"runs must be 2 or more for a mean with an error, got {runs}")
    refuse(_too_long(scenario, runs))
    state = _Runs(scenario, runs, seed)
    while state.fail_and_train():
        pass
    return state.result()


def _too_long(scenario: Scenario, runs: int) -> list[Fault]:
    if scenario.expected_failures * (runs + _RUNS_AT_ONCE) <= _MOST_FAILURES:
        return []
    return [
        Fault(
            (),
            f"{scenario.expected_failures:,.0f} failures are expected in each of {runs} simulated runs, "
            "which would take minutes; simulate fewer (--runs), a shorter run (--days), or none: --runs 0",
        )
    ]


class _Runs:
    """All simulated runs at the same number of failures."""

    def __init__(self, scenario: Scenario, runs: int, seed: int) -> None:
        import numpy

        self._np = numpy
        self._scenario = scenario
        self._random = numpy.random.default_rng(seed)
        self._count = runs
        number = scenario.memory_saves_per_cycle
        near = 0.0 if scenario.memory_interval_minutes is None else stall_hours(scenario.memory_stall_seconds)
        self._training = training_hours(scenario.checkpoint_interval_minutes) / number
        self._segment = self._training + near
        self._segments = number
        self._cycle = number * self._segment + stall_hours(scenario.save_stall_seconds)
        self._rates = numpy.array([scenario.rate(kind) for kind in KINDS])
        self._shares = self._rates / max(self._rates.sum(), 1e-300)
        self._rungs = numpy.array([rung_of(scenario, kind) for kind in KINDS])
        self._stages = numpy.array([stage_hours(scenario, kind, node_hours=0.0) for kind in KINDS])
        self._again = numpy.array([again_hours(scenario, Rung(rung)) for rung in self._rungs])
        self._replacement = training_hours(scenario.replacement_minutes)
        self._swap = training_hours(scenario.spare_minutes) if scenario.spare_nodes > 0 else 0.0

        zeros = numpy.zeros
        self._now: Floats = zeros(runs)
        self._ready: Floats = zeros(runs)
        self._kind = numpy.full(runs, -1)
        self._rung = zeros(runs, dtype=int)
        self._spent: Floats = zeros((runs, len(STAGES_BEFORE_TRAINING) + 1))
        self._cycles: Floats = zeros(runs)
        self._inside: Floats = zeros(runs)
        self._lost: Floats = zeros((runs, len(KINDS), len(STAGES_BEFORE_TRAINING) + 1))
        self._failures: Floats = zeros((runs, len(KINDS)))
        # When the last failed nodes come back, the oldest first: one more than there are spares.
        self._back: Floats = numpy.full((runs, scenario.spare_nodes + 1), -numpy.inf)
        self._all_back: Floats = numpy.full(runs, -numpy.inf)

    def fail_and_train(self) -> bool:
        """Go on to the next failure of every run. False once all runs are over."""
        np = self._np
        total = self._rates.sum()
        end = self._scenario.hours
        gap = self._random.exponential(1 / total, self._count) if total > 0 else np.full(self._count, np.inf)
        kind = self._random.choice(len(KINDS), self._count, p=self._shares) if total > 0 else self._kind
        over = self._now >= end
        fails = np.minimum(self._now + gap, end)
        until = np.where(over, self._now, fails)
        self._recover_and_train(until)
        failed = ~over & (self._now + gap < end)
        self._now = until
        self._fail(failed, kind)
        return bool((self._now < end).any())

    def _recover_and_train(self, until: Floats) -> None:
        np = self._np
        recovering = self._kind >= 0
        hours = np.where(recovering, np.minimum(until, self._ready) - self._now, 0.0).clip(min=0.0)
        left = hours.copy()
        rows = np.arange(self._count)
        for stage in range(self._spent.shape[1]):
            part = np.minimum(left, self._spent[:, stage])
            self._lost[rows, self._kind, stage] += np.where(recovering, part, 0.0)
            left -= part
        ended = recovering & (self._ready <= until)
        self._fall_back(ended)
        self._kind = np.where(ended, -1, self._kind)
        trained = np.where(self._kind < 0, until - np.maximum(self._now, self._ready), 0.0).clip(min=0.0)
        reached = self._inside + trained
        more = np.floor(reached / self._cycle)
        self._cycles += more
        self._inside = reached - more * self._cycle

    def _fall_back(self, ended: Any) -> None:
        np = self._np
        position = np.minimum(np.floor(self._inside / self._segment), self._segments - 1)
        begins = np.where(
            self._rung == Rung.PEER,
            self._inside,
            np.where(self._rung == Rung.MEMORY, position * self._segment, 0.0),
        )
        again = np.where(ended, self._inside - begins, 0.0)
        self._lost[np.arange(self._count), self._kind, -1] += again
        self._inside = np.where(ended, begins, self._inside)

    def _fail(self, failed: Any, kind: Any) -> None:
        np = self._np
        rows = np.arange(self._count)
        self._failures[rows, kind] += failed
        node = failed & (kind == KINDS.index("node"))
        back = np.roll(self._back, -1, axis=1)
        back[:, -1] = self._now + self._replacement
        self._back = np.where(node[:, None], back, self._back)
        whole = failed & (kind == KINDS.index("cluster"))
        self._all_back = np.where(whole, self._now + self._replacement, self._all_back)
        # The job trains while no more nodes are away than there are spares.
        waits = np.maximum(np.maximum(self._back[:, 0], self._all_back) - self._now, 0.0)
        node_hours = np.where(kind == KINDS.index("node"), waits + self._swap, waits)
        rung = np.where(self._kind >= 0, np.maximum(self._rung, self._rungs[kind]), self._rungs[kind])
        stages = self._stages[kind].copy()
        stages[:, 0] += node_hours
        spent = np.concatenate([stages, self._again[kind][:, None]], axis=1)
        self._spent = np.where(failed[:, None], spent, self._spent)
        self._ready = np.where(failed, self._now + spent.sum(axis=1), self._ready)
        self._rung = np.where(failed, rung, self._rung)
        self._kind = np.where(failed, kind, self._kind)

    def result(self) -> Simulated:
        """Sum the runs up."""
        np = self._np
        segments = np.minimum(np.floor(self._inside / self._segment), self._segments - 1)
        partly = np.minimum(self._inside - segments * self._segment, self._training)
        kept = (self._cycles * self._segments + segments) * self._training + partly
        stalled = self._cycles * self._cycle + self._inside - kept
        goodputs = kept / self._scenario.hours
        stages = (*STAGES_BEFORE_TRAINING, "lost_steps")
        lost: dict[Cause, float] = {
            (kind, stage): float(self._lost[:, row, column].mean())
            for row, kind in enumerate(KINDS)
            for column, stage in enumerate(stages)
            if self._rates[row] > 0
        }
        mean = Breakdown(
            scenario=self._scenario,
            failures={
                kind: float(self._failures[:, row].mean())
                for row, kind in enumerate(KINDS)
                if self._rates[row] > 0
            },
            kept_hours=float(kept.mean()),
            stall_hours=float(stalled.mean()),
            lost_hours=lost,
        )
        return Simulated(
            mean=mean,
            goodput_error=float(goodputs.std(ddof=1) / np.sqrt(self._count)),
            in_order=tuple(float(value) for value in goodputs),
        )
