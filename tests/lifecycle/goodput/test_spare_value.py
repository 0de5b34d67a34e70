from __future__ import annotations

import math

import pytest

from hyperpod_lifecycle.goodput.scenario import Scenario
from hyperpod_lifecycle.goodput.spare_value import spare_values

SLOW = Scenario(nodes=128, replacement_minutes=180)


def test_the_first_spare_pays_and_the_third_does_not():
    values = spare_values(SLOW, most=3)
    assert [value.spare_nodes for value in values] == [0, 1, 2, 3]
    assert [value.pays for value in values] == [False, True, False, False]
    assert values[1].cost_accelerator_hours == 8 * 720


def test_each_spare_saves_less():
    saved = [value.saved_accelerator_hours for value in spare_values(SLOW, most=4)[1:]]
    assert saved == sorted(saved, reverse=True)
    assert all(hours > 0 for hours in saved)


def test_share_of_failed_nodes_that_wait():
    values = spare_values(SLOW, most=2)
    assert values[0].waits == 1
    away = SLOW.rate("node") * 3
    assert values[1].waits == pytest.approx(-math.expm1(-away))


def test_no_node_fails():
    values = spare_values(Scenario(nodes=4, process_share=1.0), most=1)
    assert [value.waits for value in values] == [0, 0]
    assert values[1].saved_accelerator_hours == 0
