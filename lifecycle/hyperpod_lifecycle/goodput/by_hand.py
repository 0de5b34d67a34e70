"""What failures cost, as one calculates by hand: each failure by itself, half an interval lost."""

from __future__ import annotations

from hyperpod_lifecycle.goodput.breakdown import Breakdown, Cause
from hyperpod_lifecycle.goodput.ladder import (
    STAGES_BEFORE_TRAINING,
    Fall,
    Rung,
    falls,
    stall_hours,
    training_hours,
)
from hyperpod_lifecycle.goodput.scenario import FailureKind, Scenario


def by_hand(scenario: Scenario) -> Breakdown:
    """Multiply failures by what each costs.

    It counts too much where failures strike while others are recovered: see ``estimate``. The kept hours are
    what is left, and not less than 0.

    Args:
        scenario: The run.
    """
    failures: dict[FailureKind, float] = {}
    lost: dict[Cause, float] = {}
    for fall in falls(scenario):
        number = fall.rate * scenario.hours
        failures[fall.kind] = failures.get(fall.kind, 0.0) + number
        for stage, hours in zip(STAGES_BEFORE_TRAINING, fall.stage_hours, strict=True):
            lost[fall.kind, stage] = lost.get((fall.kind, stage), 0.0) + number * hours
        again = number * lost_hours_by_hand(scenario, fall)
        lost[fall.kind, "lost_steps"] = lost.get((fall.kind, "lost_steps"), 0.0) + again
    saves = _stalled_share(scenario)
    left = max(scenario.hours - sum(lost.values()), 0.0)
    return Breakdown(
        scenario=scenario,
        failures=failures,
        kept_hours=left * (1 - saves),
        stall_hours=left * saves,
        lost_hours=lost,
    )


def lost_hours_by_hand(scenario: Scenario, fall: Fall) -> float:
    """Return the training that a failure sends back: half the interval, and what was not yet complete.

    Args:
        scenario: The run.
        fall: What the failure does.
    """
    interval = {
        Rung.PEER: 0.0,
        Rung.MEMORY: training_hours(scenario.checkpoint_interval_minutes / scenario.memory_saves_per_cycle),
        Rung.DURABLE: training_hours(scenario.checkpoint_interval_minutes),
    }[fall.rung]
    return interval / 2 + fall.again_hours


def _stalled_share(scenario: Scenario) -> float:
    training = training_hours(scenario.checkpoint_interval_minutes)
    memory = 0 if scenario.memory_interval_minutes is None else scenario.memory_saves_per_cycle
    stalled = stall_hours(scenario.save_stall_seconds + memory * scenario.memory_stall_seconds)
    return stalled / (training + stalled)
