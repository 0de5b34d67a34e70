from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hyperpod_lifecycle.goodput.estimate import estimate
from hyperpod_lifecycle.goodput.intervals import (
    around,
    best_interval,
    daly,
    estimated_intervals,
    hours_between_losses,
    saved_every,
    simulated_intervals,
    young,
)
from hyperpod_lifecycle.goodput.scenario import Scenario
from hyperpod_model.faults import InvalidInputError

STALLS = Scenario(nodes=128, save_stall_seconds=60)


def test_young_s_formula():
    assert young(save_stall_seconds=60, hours_between_failures=48) == pytest.approx(
        math.sqrt(2 * 60 * 48 * 3600) / 60
    )


def test_daly_s_formula_is_young_s_where_saves_are_short():
    for seconds in (1, 10):
        values = {"save_stall_seconds": seconds, "hours_between_failures": 48}
        assert daly(**values) == pytest.approx(young(**values), rel=0.01)


def test_daly_s_formula_where_a_save_takes_longer_than_between_failures():
    assert daly(save_stall_seconds=7200, hours_between_failures=0.5) == pytest.approx(30)


def test_best_interval_is_daly_s_where_his_model_holds():
    between = hours_between_losses(STALLS)
    assert best_interval(STALLS).minutes == pytest.approx(
        daly(save_stall_seconds=60, hours_between_failures=between), rel=0.002
    )


def test_no_interval_nearby_is_better():
    best = best_interval(STALLS)
    for factor in (0.8, 0.95, 1.05, 1.25):
        assert estimate(saved_every(STALLS, best.minutes * factor)).goodput < best.goodput


def test_simulation_finds_the_same_interval():
    best = best_interval(STALLS)
    minutes = [best.minutes * factor for factor in (0.25, 1, 4)]
    low, middle, high = simulated_intervals(STALLS, minutes, runs=500)
    assert middle.error == 0
    assert middle.goodput > low.goodput + 3 * low.error
    assert middle.goodput > high.goodput + 3 * high.error
    assert middle.goodput == pytest.approx(best.goodput, abs=0.002)


def test_is_no_shorter_than_a_save_takes():
    assert best_interval(Scenario(nodes=128, save_minutes=12)).minutes == pytest.approx(12, rel=0.001)


def test_is_a_multiple_of_the_memory_interval():
    tiered = replace(STALLS, memory_interval_minutes=7.5, cluster_share=0.05)
    best = best_interval(tiered)
    assert best.minutes % 7.5 == 0
    for minutes in (best.minutes - 7.5, best.minutes + 7.5):
        assert estimate(saved_every(tiered, minutes)).goodput <= best.goodput


def test_refuses_where_saves_cost_nothing():
    with pytest.raises(InvalidInputError, match="state how long a save stops training, or how long it takes"):
        best_interval(Scenario(nodes=128))


def test_refuses_where_nothing_is_lost():
    with pytest.raises(InvalidInputError, match="no failure of this run falls back to a durable checkpoint"):
        best_interval(replace(STALLS, checkpointless=True))
    best_interval(replace(STALLS, checkpointless=True, cluster_share=0.01))


def test_intervals_around_one():
    assert around(60, scenario=STALLS, points=3) == (15, 60, 240)
    tiered = replace(STALLS, memory_interval_minutes=20)
    assert around(60, scenario=tiered, points=3) == (20, 60, 240)
    assert around(60, scenario=replace(STALLS, save_minutes=20), points=3) == (60, 240)


def test_estimated_intervals():
    (found,) = estimated_intervals(STALLS, [60])
    assert found == (60, estimate(STALLS).goodput, 0)
