from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hyperpod_lifecycle.goodput.by_hand import by_hand
from hyperpod_lifecycle.goodput.estimate import estimate
from hyperpod_lifecycle.goodput.from_specs import Derived
from hyperpod_lifecycle.goodput.ladder import Rung, falls
from hyperpod_lifecycle.goodput.report import report_of
from hyperpod_lifecycle.goodput.scenario import Scenario
from hyperpod_lifecycle.goodput.simulation import simulate
from hyperpod_lifecycle.goodput.spares import (
    mean_shortage_hours,
    shortages_per_hour,
    standstill,
    wait_for_node,
)

PLAIN = Scenario(nodes=128, save_stall_seconds=60, save_minutes=2)
TIERED = Scenario(
    nodes=512,
    cluster_share=0.05,
    memory_interval_minutes=5,
    memory_stall_seconds=1,
    save_stall_seconds=30,
    save_minutes=5,
)
OFTEN = replace(PLAIN, failures_per_device_hour=0.5 / 1024, days=60)
"""A failure every two hours: most of them strike while another is recovered, or nodes are waited for."""

SCENARIOS = {
    "plain": PLAIN,
    "by hand": replace(PLAIN, detection_minutes=180, replacement_minutes=120),
    "spare": replace(PLAIN, spare_nodes=1, replacement_minutes=180),
    "spares of a large fleet": replace(PLAIN, nodes=1024, spare_nodes=3, replacement_minutes=180),
    "often, without spares": OFTEN,
    "often, replaced slowly": replace(OFTEN, replacement_minutes=180),
    "often, with a spare": replace(OFTEN, replacement_minutes=180, spare_nodes=1),
    "often, with spares, mostly nodes": replace(
        OFTEN, replacement_minutes=180, spare_nodes=3, process_share=0.1, checkpoint_interval_minutes=20
    ),
    "often, and all nodes at once": replace(OFTEN, replacement_minutes=90, spare_nodes=1, cluster_share=0.1),
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


def report(scenario, runs=1000):
    return report_of(Derived(scenario=scenario, origins={}), runs=runs, seed=7)


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

    def test_as_many_are_away_as_failed_within_a_replacement_time(self):
        found = wait_for_node(spare_nodes=2, failures_per_hour=0.5, replacement_hours=4)
        two_or_more = 1 - math.exp(-2) * (1 + 2)
        three_or_more = two_or_more - math.exp(-2) * 2**2 / 2
        assert found.probability == pytest.approx(two_or_more)
        assert found.hours == pytest.approx(4 - 2 / 0.5 * three_or_more / two_or_more)

    def test_nobody_waits_with_more_spares_than_can_be_away(self):
        found = wait_for_node(spare_nodes=1000, failures_per_hour=0.01, replacement_hours=3)
        assert found == (0.0, 0.0)
        assert (
            0 < wait_for_node(spare_nodes=20, failures_per_hour=0.01, replacement_hours=3).probability < 1e-40
        )

    def test_nobody_waits_where_nothing_fails(self):
        assert wait_for_node(spare_nodes=0, failures_per_hour=0, replacement_hours=3) == (0.0, 0.0)


class TestStandstill:
    RATES = {"process_failures": 0.2, "node_failures": 0.5, "cluster_failures": 0.05}

    @pytest.mark.parametrize("spares", [0, 1, 3])
    @pytest.mark.parametrize("hours", [0.5, 3, 12])
    def test_it_is_poisson_s_probability_of_too_many_away(self, spares, hours):
        found = standstill(spare_nodes=spares, replacement_hours=hours, **self.RATES)
        away = 0.5 * hours
        enough = math.exp(-away) * sum(away**count / math.factorial(count) for count in range(spares + 1))
        assert sum(found) == pytest.approx(1 - enough * math.exp(-0.05 * hours), rel=1e-4)
        assert min(found) > 0

    @pytest.mark.parametrize(
        "change", [{"replacement_hours": 0.0}, {"replacement_hours": 3.0, **dict.fromkeys(RATES, 0.0)}]
    )
    def test_nothing_stands_still_without_failures_or_waits(self, change):
        assert standstill(**{"spare_nodes": 0, **self.RATES, **change}) == (0, 0, 0)

    def test_shortages_and_their_length_make_the_standstill(self):
        spares = {"spare_nodes": 2, "failures_per_hour": 0.5, "replacement_hours": 4}
        begun, lasts = shortages_per_hour(**spares), mean_shortage_hours(**spares)
        found = standstill(
            spare_nodes=2, replacement_hours=4, process_failures=0, node_failures=0.5, cluster_failures=0
        )
        assert found.node == pytest.approx(begun * lasts / (1 + begun * lasts), rel=1e-4)


class TestCaveats:
    def test_none_for_a_usual_run(self):
        assert report(PLAIN).caveats == ()
        assert report(PLAIN, runs=0).caveats == ()

    def test_a_run_of_a_few_intervals(self):
        brief = replace(OFTEN, days=0.25, checkpoint_interval_minutes=120)
        (line,) = report(brief).caveats
        assert "points of goodput below what the simulation finds, which is no chance" in line
        assert "this one is only 3.0 checkpoint intervals long; take the simulated goodput, " in line
        (line,) = report(brief, runs=0).caveats
        assert line.endswith("only 3.0 checkpoint intervals long: take a simulation, --runs 1000")

    def test_a_run_of_a_few_replacements(self):
        brief = replace(OFTEN, days=1, replacement_minutes=240)
        (line,) = report(brief, runs=0).caveats
        assert "only 6.0 replacement times of a node long" in line


class TestSimulation:
    def test_a_failed_process_does_not_bring_nodes_back(self):
        down = replace(OFTEN, process_share=0.98, cluster_share=0.02, replacement_minutes=600)
        found = simulate(down, runs=100)
        assert found.mean.goodput < estimate(replace(down, replacement_minutes=0)).goodput - 0.05

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
