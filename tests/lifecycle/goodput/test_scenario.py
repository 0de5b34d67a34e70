from __future__ import annotations

import math
import re

import pytest

from hyperpod_lifecycle.goodput.estimate import estimate
from hyperpod_lifecycle.goodput.scenario import KINDS, MEANINGS, Scenario
from hyperpod_model.faults import InvalidInputError


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("nodes", 0, "nodes: must be 1 or more, got 0"),
        ("accelerators_per_node", 0, "accelerators_per_node: must be 1 or more, got 0"),
        ("days", 0, "days: must be more than 0, got 0"),
        ("days", math.nan, "days: must be a finite number, got nan"),
        ("detection_minutes", -1, "detection_minutes: must be 0 or more, got -1"),
        ("spare_nodes", -1, "spare_nodes: must be 0 or more, got -1"),
        ("process_share", 1.5, "process_share: is a share, from 0 to 1, got 1.5"),
        ("checkpoint_interval_minutes", 0, "checkpoint_interval_minutes: must be more than 0, got 0"),
        ("save_minutes", 61, "two saves in flight can deadlock"),
        ("memory_interval_minutes", 7, "must divide checkpoint_interval_minutes, 60, got 7; such as 6.66667"),
        ("nodes", 10**11, "nodes: must be 1e+06 or less, got 1e+11"),
        ("spare_nodes", 1001, "spare_nodes: must be 1,000 or less, got 1001"),
        ("days", 1e300, "days: must be 3,660 or less, got 1e+300"),
        ("detection_minutes", 1e300, "detection_minutes: must be 5.2704e+06 or less, got 1e+300"),
        ("memory_interval_minutes", math.nan, "memory_interval_minutes: must be a finite number, got nan"),
        ("memory_interval_minutes", 1e-6, "must be at least a 100,000th of checkpoint_interval_minutes, 60"),
        ("failures_per_device_hour", 2, "in which 64 failures are expected: such a run makes no progress"),
        ("memory_interval_minutes", 61, "must divide checkpoint_interval_minutes, 60, got 61; such as 60"),
    ],
)
def test_refuses(field, value, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        Scenario(**{"nodes": 4, field: value})


def test_shares_are_one_at_most_together():
    with pytest.raises(InvalidInputError, match=re.escape("must be 1 or less together, got 0.7 and 0.4")):
        Scenario(nodes=4, process_share=0.7, cluster_share=0.4)
    assert Scenario(nodes=4, process_share=0.7, cluster_share=0.3).rate("node") == pytest.approx(0)


def test_all_faults_are_reported_together():
    with pytest.raises(InvalidInputError) as caught:
        Scenario(nodes=0, days=-1, spare_minutes=math.inf)
    assert [fault.path for fault in caught.value.faults] == [("nodes",), ("days",), ("spare_minutes",)]


@pytest.mark.parametrize(
    "values",
    [
        {"save_minutes": 60},
        {"memory_interval_minutes": 60},
        {"memory_interval_minutes": 20 / 3},
        {"failures_per_device_hour": 0},
        {"detection_minutes": 0, "restart_minutes": 0, "replacement_minutes": 0},
    ],
)
def test_takes_what_can_be(values):
    Scenario(nodes=1, **values)


def test_as_many_failures_as_the_model_can_bear():
    scenario = Scenario(nodes=12_500, checkpoint_interval_minutes=800, replacement_minutes=800)
    assert 0 < estimate(scenario).goodput < 1e-9
    longest = scenario.longest_interval_minutes
    Scenario(nodes=12_500, checkpoint_interval_minutes=0.999 * longest)
    with pytest.raises(InvalidInputError, match="make an interval and its saves"):
        Scenario(nodes=12_500, checkpoint_interval_minutes=1.001 * longest)
    with pytest.raises(InvalidInputError, match="make a recovery"):
        Scenario(nodes=12_500, replacement_minutes=1000)


def test_rates_of_the_kinds_are_all_failures():
    scenario = Scenario(nodes=16, process_share=0.2, cluster_share=0.1)
    assert sum(scenario.rate(kind) for kind in KINDS) == pytest.approx(scenario.failures_per_hour)
    assert scenario.rate("cluster") == pytest.approx(0.1 * scenario.failures_per_hour)
    assert set(MEANINGS) == set(KINDS)


def test_spares_are_paid_for_and_do_not_train():
    scenario = Scenario(nodes=16, spare_nodes=2)
    assert (scenario.accelerators, scenario.paid_accelerators) == (128, 144)
