"""Recovery that further failures interrupt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from hyperpod_lifecycle.goodput.ladder import Fall, Rung


class RecoveryChain(NamedTuple):
    """How recovery ends, over all that failures interrupt it with.

    A failure that strikes while another is recovered begins recovery anew, from the lower of the two rungs.

    Attributes:
        rate: Failures an hour that end on each rung, while the job trains.
        hours: Mean hours until training goes on, for those that end on each rung.
    """

    rate: dict[Rung, float]
    hours: dict[Rung, float]


def recovery_chain(falls: Sequence[Fall]) -> RecoveryChain:
    """Return how recovery ends for failures that strike while the job trains.

    Args:
        falls: What each kind of failure does.
    """
    rate: dict[Rung, float] = {}
    hours: dict[Rung, float] = {}
    ended_before = dict.fromkeys(falls, (0.0, 0.0))
    for rung in Rung:
        ended = _ended_within(falls, rung)
        of_rung = of_time = 0.0
        for fall in falls:
            of_rung += fall.rate * (ended[fall][0] - ended_before[fall][0])
            of_time += fall.rate * (ended[fall][1] - ended_before[fall][1])
        ended_before = ended
        rate[rung] = max(of_rung, 0.0)
        hours[rung] = of_time / of_rung if of_rung > 0 else 0.0
    return RecoveryChain(rate, hours)


def mean_hours_until_interrupted(total_rate: float, hours: float) -> float:
    """Return how long something of a length runs, of those runs that a failure interrupts.

    Args:
        total_rate: Failures an hour.
        hours: The length.
    """
    interrupted = -math.expm1(-total_rate * hours)
    if interrupted == 0:
        return hours / 2
    return 1 / total_rate - hours * (1 - interrupted) / interrupted


def _ended_within(falls: Sequence[Fall], worst: Rung) -> dict[Fall, tuple[float, float]]:
    """For each begin: probability that no rung below ``worst`` is reached, and mean of the time if so."""
    total = sum(fall.rate for fall in falls)
    undisturbed = {fall: math.exp(-total * fall.recovery_hours) for fall in falls}
    disturbed = {fall: mean_hours_until_interrupted(total, fall.recovery_hours) for fall in falls}
    within = [fall for fall in falls if fall.rung <= worst]
    again = sum(fall.rate / total * (1 - undisturbed[fall]) for fall in within)
    some = sum(fall.rate / total * undisturbed[fall] for fall in within) / (1 - again)
    time = sum(
        fall.rate
        / total
        * (undisturbed[fall] * fall.recovery_hours + (1 - undisturbed[fall]) * disturbed[fall] * some)
        for fall in within
    ) / (1 - again)
    return {
        fall: (
            undisturbed[fall] + (1 - undisturbed[fall]) * some,
            undisturbed[fall] * fall.recovery_hours
            + (1 - undisturbed[fall]) * (disturbed[fall] * some + time),
        )
        if fall.rung <= worst
        else (0.0, 0.0)
        for fall in falls
    }
