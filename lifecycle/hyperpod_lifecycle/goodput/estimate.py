"""The expected cost of failures, in closed form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hyperpod_lifecycle.goodput.breakdown import Breakdown, Cause
from hyperpod_lifecycle.goodput.ladder import (
    STAGES_BEFORE_TRAINING,
    Fall,
    Rung,
    falls_with_nodes,
    stall_hours,
    training_hours,
)
from hyperpod_lifecycle.goodput.recovery_chain import (
    RecoveryChain,
    mean_hours_until_interrupted,
    recovery_chain,
)
from hyperpod_lifecycle.goodput.scenario import FailureKind, Scenario
from hyperpod_lifecycle.goodput.spares import (
    Standstill,
    mean_shortage_hours,
    shortages_per_hour,
    standstill,
)


class _Segment(NamedTuple):
    """Training from one checkpoint of the nearest tier to the next."""

    training: float
    stall: float

    @property
    def hours(self) -> float:
        return self.training + self.stall


def estimate(scenario: Scenario) -> Breakdown:
    """Return the expected hours of a long run, by what they are spent on.

    For the model of :class:`Scenario`, in the long run. It extends the model of J. T. Daly (A higher order
    estimate of the optimum checkpoint interval for restart dumps, 2006) to kinds of failure with recoveries
    and checkpoints of their own. The time in which the job waits for nodes is taken out first, whose share is
    known exactly: failures come in the hours that are left as often as in all hours, so that the rest is the
    same model without waits.

    Args:
        scenario: The run.
    """
    segments = _segments(scenario)
    training = sum(segment.training for segment in segments)
    stalls = sum(segment.stall for segment in segments)
    hours = scenario.hours
    found = falls_with_nodes(scenario)
    if not found:
        kept = hours * training / (training + stalls)
        return Breakdown(
            scenario=scenario, failures={}, kept_hours=kept, stall_hours=hours - kept, lost_hours={}
        )
    failures: dict[FailureKind, float] = {fall.kind: fall.rate * hours for fall in found}
    waits = _waits(scenario)
    left = hours * (1 - sum(waits))
    found = _worse_after_waits(scenario, found)
    chain = recovery_chain(found)
    cycle = _cycle(segments, chain)
    kept = left * training / cycle.hours
    stalled = left * stalls / cycle.hours
    lost = _recovery_hours(found, left)
    again = left - kept - stalled - sum(lost.values())
    for kind, share in _shares_of_lost_steps(found, cycle.again).items():
        lost[kind, "lost_steps"] = lost.get((kind, "lost_steps"), 0.0) + share * again
    for kind in failures:
        lost[kind, "job_restart"] = lost.get((kind, "job_restart"), 0.0) + hours * getattr(waits, kind)
    return Breakdown(
        scenario=scenario, failures=failures, kept_hours=kept, stall_hours=stalled, lost_hours=lost
    )


def _waits(scenario: Scenario) -> Standstill:
    return standstill(
        spare_nodes=scenario.spare_nodes,
        replacement_hours=training_hours(scenario.replacement_minutes),
        process_failures=scenario.rate("process"),
        node_failures=scenario.rate("node"),
        cluster_failures=scenario.rate("cluster"),
    )


def _worse_after_waits(scenario: Scenario, found: Sequence[Fall]) -> tuple[Fall, ...]:
    """Count a wait for a node in which all nodes failed as a failure of all nodes: it falls as far."""
    rates = {fall.kind: fall.rate for fall in found}
    if "cluster" not in rates or "node" not in rates:
        return tuple(found)
    spares: dict[str, Any] = {
        "spare_nodes": scenario.spare_nodes,
        "failures_per_hour": rates["node"],
        "replacement_hours": training_hours(scenario.replacement_minutes),
    }
    worse = shortages_per_hour(**spares) * -math.expm1(-rates["cluster"] * mean_shortage_hours(**spares))
    more = {"node": -worse, "cluster": worse}
    return tuple(replace(fall, rate=fall.rate + more.get(fall.kind, 0.0)) for fall in found)


def _segments(scenario: Scenario) -> list[_Segment]:
    number = scenario.memory_saves_per_cycle
    training = training_hours(scenario.checkpoint_interval_minutes) / number
    near = 0.0 if scenario.memory_interval_minutes is None else stall_hours(scenario.memory_stall_seconds)
    durable = stall_hours(scenario.save_stall_seconds)
    return [
        _Segment(training, near + (durable if position == number - 1 else 0.0)) for position in range(number)
    ]


class _Cycle(NamedTuple):
    """From one durable checkpoint to the next.

    Attributes:
        hours: Expected hours, with all that fails meanwhile.
        again: Expected hours of training done again, by the rung that a failure fell to.
    """

    hours: float
    again: dict[Rung, float]


def _cycle(segments: Sequence[_Segment], chain: RecoveryChain) -> _Cycle:
    near, durable = chain.rate[Rung.MEMORY], chain.rate[Rung.DURABLE]
    losing = near + durable
    stretch = 1 + chain.rate[Rung.PEER] * chain.hours[Rung.PEER]
    # Hours from a segment's begin to the end of the cycle: constant + factor * hours of the whole cycle.
    constant, factor = 0.0, 0.0
    for segment in reversed(segments):
        ends = math.exp(-losing * segment.hours)
        runs = segment.hours if losing == 0 else (1 - ends) / losing
        to_near = (1 - ends) * (near / losing if losing else 0.0)
        to_durable = (1 - ends) * (durable / losing if losing else 0.0)
        stays = 1 - to_near
        constant = (
            runs * stretch
            + ends * constant
            + to_near * chain.hours[Rung.MEMORY]
            + to_durable * chain.hours[Rung.DURABLE]
        ) / stays
        factor = (ends * factor + to_durable) / stays
    return _Cycle(constant / (1 - factor), _done_again(segments, near, durable))


def _done_again(segments: Sequence[_Segment], near: float, durable: float) -> dict[Rung, float]:
    """Return the expected hours that run in vain in a cycle, up to a common factor."""
    losing = near + durable
    again = {Rung.MEMORY: 0.0, Rung.DURABLE: 0.0}
    begins, before = 1.0, 0.0
    for segment in segments:
        ends = math.exp(-losing * segment.hours)
        if losing:
            to_near = begins * (1 - ends) * near / losing
            to_durable = begins * (1 - ends) * durable / losing
            partly = mean_hours_until_interrupted(losing, segment.hours)
            # A segment that falls to the nearest tier begins once more.
            again_here = 1 / (1 - (1 - ends) * near / losing)
            again[Rung.MEMORY] += to_near * again_here * partly
            again[Rung.DURABLE] += to_durable * again_here * (before + partly)
            begins *= ends * again_here
        before += segment.hours
    return again


def _recovery_hours(found: Sequence[Fall], hours: float) -> dict[Cause, float]:
    """Return the hours of all recoveries, also of those that the next failure interrupts.

    Failures arrive whatever the job does, so that each begins a recovery.
    """
    total = sum(fall.rate for fall in found)
    lost: dict[Cause, float] = {}
    for fall in found:
        begin = 0.0
        stages = (
            *zip(STAGES_BEFORE_TRAINING, fall.stage_hours, strict=True),
            ("lost_steps", fall.again_hours),
        )
        for stage, length in stages:
            spent = math.exp(-total * begin) * -math.expm1(-total * length) / total
            cause: Cause = (fall.kind, stage)
            lost[cause] = lost.get(cause, 0.0) + hours * fall.rate * spent
            begin += length
    return lost


def _shares_of_lost_steps(found: Sequence[Fall], again: Mapping[Rung, float]) -> dict[FailureKind, float]:
    """Share the training that is done again out among the kinds that fall to each rung, by their rates."""
    whole = sum(again.values())
    shares: dict[FailureKind, float] = {}
    for rung, hours in again.items():
        fallen = [fall for fall in found if fall.rung is rung]
        rate = sum(fall.rate for fall in fallen)
        for fall in fallen if whole > 0 else ():
            shares[fall.kind] = shares.get(fall.kind, 0.0) + hours / whole * fall.rate / rate
    return shares
