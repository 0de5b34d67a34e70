from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hyperpod_lifecycle.goodput.by_hand import by_hand
from hyperpod_lifecycle.goodput.estimate import estimate
from hyperpod_lifecycle.goodput.ladder import Rung, falls
from hyperpod_lifecycle.goodput.scenario import Scenario
from hyperpod_lifecycle.goodput.simulation import simulate
from hyperpod_lifecycle.goodput.spares import wait_for_node

PLAIN = Scenario(nodes=128, save_stall_seconds=60, save_minutes=2)
TIERED = Scenario(
    nodes=512,
    cluster_share=0.05,
    memory_interval_minutes=5,
    memory_stall_seconds=1,
    save_stall_seconds=30,
    save_minutes=5,
)
SCENARIOS = {
    "plain": PLAIN,
    "by hand": replace(PLAIN, detection_minutes=180, replacement_minutes=120),
    "spare": replace(PLAIN, spare_nodes=1, replacement_minutes=180),
    "spares of a large fleet": replace(PLAIN, nodes=1024, spare_nodes=3, replacement_minutes=180),
    "tiered": TIERED,
    "checkpointless": replace(PLAIN, checkpointless=True, cluster_share=0.05, spare_nodes=4),
    "only processes": replace(PLAIN, process_share=1.0),
    "only the whole cluster": replace(PLAIN, process_share=0.0, cluster_share=1.0),
    "100,000 accelerators": Scenario(
        nodes=12_500,
        spare_nodes=40,
        replacement_minutes=180,
        checkpoint_interval_minutes=10,
        memory_interval_minutes=2,
        cluster_share=0.01,
    ),
}


@pytest.fixture(scope="module", params=SCENARIOS)
def both(request):
    scenario = SCENARIOS[request.param]
    runs = 200 if scenario.nodes > 10_000 else 2000
    return estimate(scenario), simulate(scenario, runs=runs, seed=7)


def test_simulation_agrees_within_its_error(both):
    expected, simulated = both
    assert simulated.mean.goodput == pytest.approx(
        expected.goodput, abs=4 * simulated.goodput_error + 0.001 * (1 - expected.goodput)
    )


def test_simulation_agrees_in_what_hours_go_to(both):
    expected, simulated = both
    of_the_loss = 0.05 * expected.all_lost_hours
    assert simulated.mean.stall_hours == pytest.approx(expected.stall_hours, rel=0.02, abs=0.01)
    for cause, hours in expected.lost_hours.items():
        assert simulated.mean.lost_hours[cause] == pytest.approx(hours, rel=0.1, abs=of_the_loss), cause
    for kind, number in expected.failures.items():
        assert simulated.mean.failures[kind] == pytest.approx(number, rel=0.1, abs=0.1), kind


def test_hours_add_up_to_the_run(both):
    for found in (both[0], both[1].mean):
        whole = found.kept_hours + found.stall_hours + sum(found.lost_hours.values())
        assert whole == pytest.approx(found.scenario.hours)
        assert found.all_lost_hours == pytest.approx(
            found.stall_hours + sum(found.lost_to(kind) for kind in found.failures)
        )
        assert 0 < found.paid_goodput <= found.goodput < 1


def test_is_daly_s_model_where_there_is_one_kind_and_one_tier():
    scenario = replace(PLAIN, process_share=1.0, save_minutes=0)
    (fall,) = falls(scenario)
    segment = 1 + 60 / 3600
    hours = math.exp(fall.rate * fall.recovery_hours) * math.expm1(fall.rate * segment) / fall.rate
    assert estimate(scenario).goodput == pytest.approx(1 / hours)


def test_without_failures_only_saves_stop_training():
    found = estimate(replace(PLAIN, failures_per_device_hour=0))
    assert found.goodput == pytest.approx(3600 / 3660)
    assert found.all_failures == 0
    assert found.lost_hours == {}
    assert simulate(found.scenario, runs=2).mean.goodput == pytest.approx(found.goodput, rel=0.001)


def test_calculation_by_hand_is_close_where_failures_are_rare():
    rare = replace(PLAIN, failures_per_device_hour=1e-7)
    assert by_hand(rare).all_lost_hours == pytest.approx(estimate(rare).all_lost_hours, rel=0.001)


def test_calculation_by_hand_counts_too_much_where_they_are_not():
    often = replace(PLAIN, nodes=4096, detection_minutes=60)
    assert by_hand(often).kept_hours < estimate(often).kept_hours


@pytest.mark.parametrize(
    ("scenario", "rungs"),
    [
        (PLAIN, {"process": Rung.DURABLE, "node": Rung.DURABLE}),
        (TIERED, {"process": Rung.MEMORY, "node": Rung.MEMORY, "cluster": Rung.DURABLE}),
        (
            replace(TIERED, checkpointless=True),
            {"process": Rung.PEER, "node": Rung.PEER, "cluster": Rung.DURABLE},
        ),
    ],
)
def test_how_far_each_kind_falls(scenario, rungs):
    assert {fall.kind: fall.rung for fall in falls(scenario)} == rungs


def test_nothing_is_lost_where_a_peer_has_the_state():
    found = estimate(replace(PLAIN, checkpointless=True))
    assert found.lost_in("lost_steps") == pytest.approx(0, abs=1e-9)
    assert found.lost_in("checkpoint_retrieval") == 0


class TestWaitForNode:
    def test_every_failure_waits_without_spares(self):
        assert wait_for_node(spare_nodes=0, failures_per_hour=0.1, replacement_hours=3) == (1.0, 3.0)

    def test_erlang_s_loss_formula(self):
        found = wait_for_node(spare_nodes=2, failures_per_hour=0.5, replacement_hours=4)
        assert found.probability == pytest.approx((2**2 / 2) / (1 + 2 + 2**2 / 2))
        assert found.hours == pytest.approx(4 / 3)

    def test_nobody_waits_where_nothing_fails(self):
        assert wait_for_node(spare_nodes=0, failures_per_hour=0, replacement_hours=3) == (0.0, 0.0)


class TestSimulation:
    def test_same_seed_same_runs(self):
        one, two = (simulate(PLAIN, runs=50, seed=3).in_order for _ in range(2))
        assert one == two
        assert simulate(PLAIN, runs=50, seed=4).in_order != one

    def test_quantiles_are_of_the_sorted_runs(self):
        found = simulate(PLAIN, runs=100)
        assert found.quantile(0) == min(found.in_order)
        assert found.quantile(1) == max(found.in_order)
        assert found.quantile(0.05) < found.quantile(0.95)

    @pytest.mark.parametrize("runs", [0, 1])
    def test_refuses_too_few_runs(self, runs):
        with pytest.raises(ValueError, match=f"runs must be 2 or more for a mean with an error, got {runs}"):
            simulate(PLAIN, runs=runs)
