"""The goodput that a run had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

ADVICE: Final[Mapping[str, str]] = {
    "job restart": "failures are noticed late, or nodes are waited for: alarms, automatic recovery, spares",
    "initialization": "processes start slowly: imports, image pulls, set-up of communication",
    "checkpoint retrieval": "checkpoints load slowly: a nearer tier, sharded checkpoints, more throughput",
    "data loading": "the data loader starts slowly: keep its position, not its history",
    "first step": "the first step is slow: keep compilation caches",
    "lost steps": "much is computed again: save more often (hyperpod-goodput interval)",
    "restart": "from the last step before a failure to the first one after; recovery records tell the stages",
    "start-up": "the first start is slow beside the run",
    "stopped by saves": "saves stop training: save asynchronously, or less often (hyperpod-goodput interval)",
    "slow steps": "steps took longer than the median: look for slow nodes, input and storage",
}
"""What to look at, for each place where hours go."""

GOOD: Final = 0.9
"""Below this share a measurement says where the hours went."""

_AT_MOST: Final = 1.01
"""The median of the time of a step may be a little more than its mean."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Where the hours of a run went.

    Attributes:
        paid_hours: From the begin of the first start to the last line.
        kept_steps: Steps whose result was kept.
        step_seconds: Median seconds of a step.
        starts: How often the job started, the first included.
        lost_hours: Hours that made no progress, by place.
        warnings: Why the numbers may be off.
    """

    paid_hours: float
    kept_steps: int
    step_seconds: float
    starts: int
    lost_hours: Mapping[str, float]
    warnings: tuple[str, ...] = ()

    @property
    def kept_hours(self) -> float:
        """Hours of progress: kept steps at the median time of a step."""
        return self.kept_steps * self.step_seconds / 3600

    @property
    def goodput(self) -> float:
        """Share of the paid hours that made progress which was kept."""
        return min(self.kept_hours / self.paid_hours, 1.0)

    @property
    def advice(self) -> tuple[str, ...]:
        """The three places where most hours went, the worst first; nothing from ``GOOD`` on."""
        if self.goodput >= GOOD:
            return ()
        worst = sorted(self.lost_hours.items(), key=lambda item: -item[1])
        return tuple(
            f"{place}: {hours:.2f} h, {hours / self.paid_hours:.1%} of the run; {ADVICE[place]}"
            for place, hours in worst[:3]
            if hours > 0
        )


class UnmeasurableError(ValueError):
    """What was given says too little about a run."""


def measured(
    *,
    paid_seconds: float,
    kept_steps: int,
    step_seconds: float,
    starts: int,
    lost_seconds: Mapping[str, float],
    warnings: Sequence[str] = (),
) -> Measured:
    """Put a measurement together; what no place explains are slow steps.

    Args:
        paid_seconds: Whole length.
        kept_steps: Steps whose result was kept.
        step_seconds: Median seconds of a step.
        starts: How often the job started.
        lost_seconds: Seconds by place, of those that are known.
        warnings: Why the numbers may be off. Default: nothing.

    Raises:
        UnmeasurableError: If no time passed.
    """
    if paid_seconds <= 0:
        raise UnmeasurableError("the run must have a first and a last time, got no time between them")
    kept = kept_steps * step_seconds
    if kept > _AT_MOST * paid_seconds:
        warnings = [
            *warnings,
            f"{kept_steps} steps at {step_seconds:.3g} s are {kept / 3600:.2f} hours, more than the "
            f"{paid_seconds / 3600:.2f} that passed: times or records are missing, or a clock went back; "
            "goodput counts as 100%",
        ]
    rest = paid_seconds - kept_steps * step_seconds - sum(lost_seconds.values())
    return Measured(
        paid_hours=paid_seconds / 3600,
        kept_steps=kept_steps,
        step_seconds=step_seconds,
        starts=starts,
        lost_hours={
            place: seconds / 3600
            for place, seconds in {**lost_seconds, "slow steps": max(rest, 0.0)}.items()
            if seconds > 0
        },
        warnings=tuple(warnings),
    )


def median_step(seconds_a_step: list[float]) -> float:
    """Return the median of step times.

    Args:
        seconds_a_step: Of each stretch of steps.

    Raises:
        UnmeasurableError: If there are none.
    """
    if not seconds_a_step:
        raise UnmeasurableError("no start did two steps that are recorded, so that no step time is known")
    return median(seconds_a_step)
