"""How often to save: the interval of durable checkpoints that loses least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from hyperpod_lifecycle.goodput.estimate import estimate
from hyperpod_lifecycle.goodput.ladder import Rung, falls, stall_hours
from hyperpod_lifecycle.goodput.scenario import Scenario
from hyperpod_lifecycle.goodput.simulation import simulate
from hyperpod_model.faults import Fault, refuse

_MINUTES_PER_HOUR: Final = 60
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_CLOSE: Final = 1e-4
_MOST_MULTIPLE: Final = 10_000


class SavedEvery(NamedTuple):
    """An interval and what it leads to.

    Attributes:
        minutes: Training time from one durable checkpoint to the next.
        goodput: Share of the hours that make progress which is kept.
        error: Standard error of the difference to the best interval; 0 where nothing was simulated, and for
            the best one.
    """

    minutes: float
    goodput: float
    error: float = 0.0


def young(*, save_stall_seconds: float, hours_between_failures: float) -> float:
    """Return Young's interval in minutes: ``sqrt(2 * stall * time between failures)``.

    Source: J. W. Young, A first order approximation to the optimum checkpoint interval, 1974.

    Args:
        save_stall_seconds: How long a save stops training.
        hours_between_failures: Mean time between failures that lose steps.
    """
    return math.sqrt(2 * stall_hours(save_stall_seconds) * hours_between_failures) * _MINUTES_PER_HOUR


def daly(*, save_stall_seconds: float, hours_between_failures: float) -> float:
    """Return Daly's interval in minutes, which holds also where saves are not short beside failures.

    Source: J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, 2006,
    equation 37.

    Args:
        save_stall_seconds: How long a save stops training.
        hours_between_failures: Mean time between failures that lose steps.
    """
    stall, between = stall_hours(save_stall_seconds), hours_between_failures
    if stall >= 2 * between:
        return between * _MINUTES_PER_HOUR
    ratio = stall / (2 * between)
    hours = math.sqrt(2 * stall * between) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - stall
    return hours * _MINUTES_PER_HOUR


def hours_between_losses(scenario: Scenario) -> float:
    """Return the mean time between failures that fall back to a durable checkpoint, in hours.

    Args:
        scenario: The run.
    """
    rate = sum(fall.rate for fall in falls(scenario) if fall.rung is Rung.DURABLE)
    return math.inf if rate == 0 else 1 / rate


def saved_every(scenario: Scenario, minutes: float) -> Scenario:
    """Return the same run with another interval between durable checkpoints.

    Args:
        scenario: The run.
        minutes: The interval; of runs with a memory tier a multiple of its interval.
    """
    return replace(scenario, checkpoint_interval_minutes=minutes)


def best_interval(scenario: Scenario) -> SavedEvery:
    """Return the interval with the highest expected goodput.

    It is no shorter than a save takes, nor longer than the run; with a memory tier it is a multiple of that
    tier's interval.

    Args:
        scenario: The run; its own interval does not matter.

    Raises:
        InvalidInputError: If a save costs nothing, or nothing is ever lost: then no interval is best.
    """
    refuse(_no_best(scenario))
    shortest = scenario.save_minutes
    # Not to the very end: rounding must not make it too long.
    longest = min(scenario.days * 24 * _MINUTES_PER_HOUR, 0.999 * scenario.longest_interval_minutes)
    memory = scenario.memory_interval_minutes
    if memory is not None:
        least = max(math.ceil(shortest / memory - 1e-9), 1)
        most = max(min(math.floor(longest / memory), _MOST_MULTIPLE), least)
        return _best_multiple(scenario, memory, least, most)

    def goodput(logarithm: float) -> float:
        return estimate(saved_every(scenario, math.exp(logarithm))).goodput

    begin = math.log(max(shortest, scenario.save_stall_seconds / _MINUTES_PER_HOUR / 10, 1e-3))
    best = _highest(goodput, begin, math.log(longest))
    return SavedEvery(math.exp(best), goodput(best))


def simulated_intervals(
    scenario: Scenario, minutes: Sequence[float], *, runs: int = 1000, seed: int = 1
) -> tuple[SavedEvery, ...]:
    """Simulate the same failures with several intervals.

    Args:
        scenario: The run; its own interval does not matter.
        minutes: The intervals.
        runs: Simulated runs for each.
        seed: Of the random numbers.

    Returns:
        What each leads to, in the order of ``minutes``, with the error of its difference to the best.
    """
    import numpy

    results = [numpy.array(_in_order(saved_every(scenario, each), runs, seed)) for each in minutes]
    best = max(results, key=lambda goodputs: float(goodputs.mean()))
    return tuple(
        SavedEvery(
            each,
            float(goodputs.mean()),
            float((goodputs - best).std(ddof=1) / math.sqrt(runs)),
        )
        for each, goodputs in zip(minutes, results, strict=True)
    )


def around(minutes: float, *, scenario: Scenario, points: int = 13, factor: float = 4.0) -> tuple[float, ...]:
    """Return intervals around one, evenly spread by their ratio, that the run may have.

    Args:
        minutes: The middle.
        scenario: The run.
        points: How many, before those that coincide are left out.
        factor: How far: from ``minutes / factor`` to ``minutes * factor``.
    """
    spread = [minutes * factor ** (2 * point / (points - 1) - 1) for point in range(points)]
    memory = scenario.memory_interval_minutes
    if memory is not None:
        spread = [max(round(each / memory), 1) * memory for each in spread]
    longest = scenario.longest_interval_minutes
    return tuple(sorted({each for each in spread if scenario.save_minutes <= each <= longest}))


def estimated_intervals(scenario: Scenario, minutes: Sequence[float]) -> tuple[SavedEvery, ...]:
    """Return what each interval is expected to lead to.

    Args:
        scenario: The run; its own interval does not matter.
        minutes: The intervals.
    """
    return tuple(SavedEvery(each, estimate(saved_every(scenario, each)).goodput) for each in minutes)


def _in_order(scenario: Scenario, runs: int, seed: int) -> tuple[float, ...]:
    return simulate(scenario, runs=runs, seed=seed).in_order


def _no_best(scenario: Scenario) -> list[Fault]:
    if math.isinf(hours_between_losses(scenario)):
        return [
            Fault(
                (),
                "no failure of this run falls back to a durable checkpoint, so that no interval is best; set "
                "cluster_share to the share of failures that stop all nodes",
            )
        ]
    if scenario.save_stall_seconds == 0 and scenario.save_minutes == 0:
        return [
            Fault(
                ("save_stall_seconds",),
                "and save_minutes are 0, so that the shortest interval is best; state how long a save stops "
                "training, or how long it takes",
            )
        ]
    return []


def _highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Golden-section search for the maximum of a function with a single one."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > _CLOSE:
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2


def _best_multiple(scenario: Scenario, memory: float, least: int, most: int) -> SavedEvery:
    def goodput(multiple: int) -> float:
        return estimate(saved_every(scenario, multiple * memory)).goodput

    low, high = least, most
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        if goodput(left) >= goodput(right):
            high = right
        else:
            low = left
    best = max(range(low, high + 1), key=goodput)
    return SavedEvery(best * memory, goodput(best))
