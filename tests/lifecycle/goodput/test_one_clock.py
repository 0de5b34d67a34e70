"""Records whose nodes have clocks that disagree: what is warned of, and how far the hours can be off."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperpod_lifecycle.goodput.command import main
from hyperpod_lifecycle.goodput.measure_records import measure_records
from hyperpod_lifecycle.goodput.one_clock import on_one_clock
from hyperpod_lifecycle.training.documents import Documents
from hyperpod_lifecycle.training.recovery_records import RecoveryClock, RunRecords

BEGIN = 1_800_000_000.0
STEPS = 30
LOST = 5
STEP = 20.0
SLACK = 5.0
"""Seconds: what counts as no skew, at both ends."""


class _Kept(Documents):
    """Documents in memory."""

    location = "memory"

    def __init__(self):
        self.found = {}

    def read(self, name):
        return self.found.get(name)

    def write(self, name, content):
        self.found[name] = content

    def append(self, name, line):
        self.found[name] = self.found.get(name, b"") + line + b"\n"


class _Clock:
    """The clock of a node: true time, and by how much it is off."""

    def __init__(self):
        self.true = BEGIN
        self.off = 0.0

    def __call__(self):
        return self.true + self.off


def measured_of(offsets, gaps, *, steps_back=None):
    """Starts one after the other, each on a node whose clock is off.

    Returns:
        The true seconds, the attempts in their order, and the records in the order of their files.
    """
    kept, clock = _Kept(), _Clock()
    attempts = []
    furthest = 0
    for number, offset in enumerate(offsets):
        clock.true += gaps[number - 1] if number else 0
        clock.off = offset
        records = RunRecords(kept, job="pretrain", clock=clock)
        attempts.append(records.attempt)
        told = RecoveryClock(
            records, ranks=8, heartbeat_seconds=0, progress_seconds=0, process_started=clock()
        )
        clock.true += 30
        told.initialized()
        told.loaded(max(furthest - LOST, 0), "disk" if number else "none")
        told.data_ready()
        for step in range(max(furthest - LOST, 0), furthest + STEPS):
            clock.true += STEP
            if step == steps_back:
                clock.off -= 600
            told.step_done(step)
        if steps_back is not None:
            told.end("done")
        furthest += STEPS
    lines = [
        line
        for name in sorted(kept.found)
        if name.endswith(".jsonl")
        for line in kept.found[name].split(b"\n")
    ]
    return clock.true - BEGIN, attempts, [json.loads(line) for line in lines if line]


def starts_of(records):
    found = {}
    for record in records:
        found.setdefault(record["attempt"], []).append(record)
    return list(found.values())


GAPS = st.lists(st.floats(1, 3000), min_size=4, max_size=4)
PROPERTY = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@PROPERTY
@given(offsets=st.lists(st.floats(-20_000, 20_000), min_size=2, max_size=5), gaps=GAPS)
def test_hours_are_off_by_no_more_than_clocks_are_apart(offsets, gaps):
    true, attempts, records = measured_of(offsets, gaps)
    line = on_one_clock(starts_of(records))
    assert [start.records[0]["attempt"] for start in line.starts] == attempts
    assert all(before.ends <= after.begins + 1e-3 for before, after in pairwise(line.starts))
    found = measure_records(records)
    apart = max(offsets) - min(offsets)
    own = sum(start.seconds for start in line.starts)
    assert own - 1e-3 <= found.paid_hours * 3600
    assert abs(found.paid_hours * 3600 - true) <= apart + SLACK
    assert 0 < found.goodput <= 1
    assert all(hours >= 0 for hours in found.lost_hours.values())


@PROPERTY
@given(
    offset=st.floats(13_000, 50_000).flatmap(lambda size: st.sampled_from([size, -size])),
    gaps=GAPS,
    odd=st.integers(1, 3),
)
def test_one_clock_of_five_is_found_and_costs_nothing(offset, gaps, odd):
    offsets = [0.0] * 5
    offsets[odd] = offset
    true, attempts, records = measured_of(offsets, gaps)
    found = measure_records(records)
    assert found.paid_hours * 3600 == pytest.approx(true, abs=SLACK)
    (warning,) = found.warnings
    assert f"the start {attempts[odd]} is {'ahead of' if offset > 0 else 'behind'} the starts" in warning


@PROPERTY
@given(offsets=st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=3), gaps=GAPS)
def test_clocks_that_are_kept_are_not_warned_of(offsets, gaps):
    true, _, records = measured_of(offsets, gaps)
    found = measure_records(records)
    assert found.warnings == ()
    assert found.paid_hours * 3600 == pytest.approx(true, abs=2)


def test_two_starts_of_which_the_second_begins_too_early():
    true, attempts, records = measured_of([0, -7200], [300])
    found = measure_records(records)
    (warning,) = found.warnings
    assert any(attempt in warning for attempt in attempts)
    assert "by 6,900 s or more, by the clock of its node" in warning
    assert "or both ran at once" in warning
    assert found.paid_hours * 3600 == pytest.approx(true - 300, abs=1)
    assert "job restart" not in found.lost_hours


def test_a_wait_that_a_clock_hides_is_found_again():
    true, _, records = measured_of([0, 0, -5000, 0, 0], [100, 100, 1200, 100])
    found = measure_records(records)
    assert found.paid_hours * 3600 == pytest.approx(true, abs=1)
    assert found.lost_hours["job restart"] * 3600 == pytest.approx(1500, abs=60)


def test_a_clock_that_goes_back_within_a_start():
    true, (attempt,), records = measured_of([0], [], steps_back=10)
    found = measure_records(records)
    assert any(
        warning.startswith(f"the clock of the start {attempt} went back by 580 s before record")
        and warning.endswith("what passed meanwhile is not counted")
        for warning in found.warnings
    )
    assert found.step_seconds == pytest.approx(STEP)
    assert 0 < found.paid_hours * 3600 < true


def test_a_stage_of_less_than_nothing():
    _, attempts, records = measured_of([0, 0], [100])
    changed = [
        {**one, "seconds": {**one["seconds"], "data_loading": -40.0}} if one["kind"] == "recovery" else one
        for one in records
    ]
    found = measure_records(changed)
    assert found.warnings == (f"the start {attempts[1]} tells of -40 s of data loading: it counts as none",)
    assert found.lost_hours.get("data loading", 0) == 0


def test_more_progress_than_hours_is_said():
    _, _, records = measured_of([0], [])
    changed = [
        {**one, "new_steps": 10 * one["new_steps"]} if one["kind"] == "progress" else one for one in records
    ]
    (warning,) = measure_records(changed).warnings
    assert "300 steps at 20 s are 1.67 hours, more than the 0.17 that passed" in warning


def test_the_command_warns(tmp_path, capsys):
    kept = measured_of([0, -7200], [300])[2]
    (tmp_path / "run.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in kept))
    assert main(["measure", str(tmp_path)]) == 0
    assert "\nwarning: the start " in capsys.readouterr().out
    assert main(["measure", str(tmp_path), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["warnings"]) == 1
