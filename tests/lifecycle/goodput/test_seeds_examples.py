"""Calculations that were published, done again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hyperpod_lifecycle.goodput.breakdown import lost_accelerator_hours
from hyperpod_lifecycle.goodput.by_hand import by_hand
from hyperpod_lifecycle.goodput.estimate import estimate
from hyperpod_lifecycle.goodput.scenario import Scenario
from hyperpod_model.catalog.failures import reported_run

FIFTEEN_IN_A_MONTH = Scenario(
    nodes=128,
    days=30,
    failures_per_device_hour=15 / (720 * 1024),
    process_share=0.0,
    detection_minutes=180,
    replacement_minutes=60,
    restart_minutes=10,
    initialization_minutes=10,
    retrieval_minutes=5,
    data_loading_minutes=3,
    first_step_minutes=2,
    checkpoint_interval_minutes=60,
)
"""Five hours a failure: three until a human sees it, one for a node, a half to start, a half of work lost."""

WITHOUT_A_HUMAN = replace(
    FIFTEEN_IN_A_MONTH,
    detection_minutes=5,
    replacement_minutes=15,
    restart_minutes=2,
    initialization_minutes=3,
    retrieval_minutes=3,
    data_loading_minutes=1,
    first_step_minutes=1,
)
"""One hour a failure, half of it lost work."""


def test_fifteen_failures_at_five_hours_are_ten_percent_of_the_month():
    found = by_hand(FIFTEEN_IN_A_MONTH)
    assert found.all_failures == pytest.approx(15)
    assert found.all_lost_hours == pytest.approx(75)
    assert 1 - found.goodput == pytest.approx(0.10, abs=0.005)
    assert 1 - estimate(FIFTEEN_IN_A_MONTH).goodput == pytest.approx(0.10, abs=0.005)


def test_at_one_hour_they_are_two_percent():
    found = by_hand(WITHOUT_A_HUMAN)
    assert found.all_lost_hours == pytest.approx(15)
    assert 1 - found.goodput == pytest.approx(0.02, abs=0.002)
    assert 1 - estimate(WITHOUT_A_HUMAN).goodput == pytest.approx(0.02, abs=0.002)


def test_half_the_interval_saves_a_quarter_of_an_hour_a_failure():
    twice_as_often = replace(WITHOUT_A_HUMAN, checkpoint_interval_minutes=30)
    saved = by_hand(WITHOUT_A_HUMAN).all_lost_hours - by_hand(twice_as_often).all_lost_hours
    assert saved / 15 == pytest.approx(0.25)


def test_accelerator_hours_of_three_weeks():
    paid = 256 * 504
    assert paid == pytest.approx(129_000, rel=0.001)
    at_70 = lost_accelerator_hours(accelerators=256, hours=504, goodput=0.70)
    at_95 = lost_accelerator_hours(accelerators=256, hours=504, goodput=0.95)
    assert at_70 == pytest.approx(38_700, rel=0.001)
    assert at_95 == pytest.approx(6_450, rel=0.001)
    assert at_70 - at_95 == pytest.approx(32_000, rel=0.01)


def test_interruptions_of_the_llama_3_report_scaled_down():
    run = reported_run("llama-3-405b")
    assert (run.interruptions, run.days, run.accelerators) == (419, 54, 16384)
    scaled = Scenario(nodes=128, days=30)
    assert scaled.accelerators == 1024
    assert 1 / scaled.failures_per_hour == pytest.approx(48, abs=2)
    assert round(scaled.expected_failures) == 15
    again = Scenario(nodes=2048, days=54)
    assert again.expected_failures == pytest.approx(419)
