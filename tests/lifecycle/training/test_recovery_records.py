from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hyperpod_lifecycle.training import RecoveryClock, RunRecords, read_records
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

STAGES = [stage.name for stage in RECOVERY_STAGES]


class Time:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += seconds


class Starts:
    """Starts of one job in a folder, each with a clock that the test moves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.time = Time()

    def begin(self, **options: Any) -> RecoveryClock:
        records = RunRecords(self.folder, job="llama", clock=self.time)
        return RecoveryClock(
            records, ranks=4, process_started=self.time.now, **{"heartbeat_seconds": 0.0} | options
        )

    def lines(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in read_records(self.folder) if line["kind"] == kind]


@pytest.fixture
def starts(tmp_path: Path) -> Starts:
    return Starts(tmp_path / "recovery")


def ready(clock: RecoveryClock, resumed: int, tier: Any = "disk") -> RecoveryClock:
    clock.initialized()
    clock.loaded(resumed, tier)
    clock.data_ready()
    return clock


def test_a_recovery_is_told_stage_by_stage(starts: Starts):
    first = ready(starts.begin(), 0, "none")
    for step in range(8):
        starts.time.passes(1)
        first.step_done(step)
    # Here it is killed; its last step was done 7 seconds before the next process starts.
    starts.time.passes(7)
    failed_at = starts.time.now - 7
    second = starts.begin()
    starts.time.passes(20)
    second.initialized()
    starts.time.passes(5)
    second.loaded(5, "memory")
    starts.time.passes(3)
    second.data_ready()
    for step, seconds in ((5, 2), (6, 1), (7, 1), (8, 1)):
        starts.time.passes(seconds)
        second.step_done(step)

    begun, told = starts.lines("recovery")
    assert (begun["complete"], begun["seconds"]["lost_steps"]) == (False, None)
    assert told["complete"]
    assert list(told["seconds"]) == STAGES
    assert told["seconds"] == {
        "job_restart": 7,
        "initialization": 20,
        "checkpoint_retrieval": 5,
        "data_loading": 3,
        "first_step": 2,
        "lost_steps": 2,
    }
    assert told["failed_at"] == failed_at
    assert (told["last_step"], told["resumed_step"], told["steps_lost"], told["tier"]) == (7, 5, 3, "memory")
    assert [line["recovers"] for line in starts.lines("start")] == [False, True]


def test_a_first_start_is_no_recovery(starts: Starts):
    clock = ready(starts.begin(), 0, "none")
    clock.step_done(0)
    clock.end("done")
    assert starts.lines("recovery") == []
    assert [line["reason"] for line in starts.lines("end")] == ["done"]


def test_after_an_end_on_request_nothing_is_lost(starts: Starts):
    first = ready(starts.begin(), 0, "none")
    for step in range(3):
        first.step_done(step)
    first.end("interrupted")
    starts.time.passes(60)
    second = ready(starts.begin(), 3)
    starts.time.passes(1)
    second.step_done(3)
    told = starts.lines("recovery")[-1]
    assert (told["steps_lost"], told["complete"]) == (0, True)
    assert (told["seconds"]["lost_steps"], told["seconds"]["first_step"]) == (0, 1)


def test_a_start_that_dies_before_it_caught_up_does_not_hide_what_was_lost(starts: Starts):
    first = ready(starts.begin(), 0, "none")
    for step in range(10):
        first.step_done(step)
    starts.time.passes(100)
    second = ready(starts.begin(), 5)
    starts.time.passes(10)
    second.step_done(5)  # killed here, four steps before step 9
    starts.time.passes(3)
    third = ready(starts.begin(), 5)
    for step in range(5, 10):
        third.step_done(step)
    told = starts.lines("recovery")
    assert [line["steps_lost"] for line in told] == [5, 5, 5]
    assert [line["complete"] for line in told] == [False, False, True]
    assert [line["seconds"]["job_restart"] for line in told] == [100, 3, 3]


def test_progress_counts_new_steps_only(starts: Starts):
    first = ready(starts.begin(progress_seconds=10.0), 0, "none")
    for step in range(5):
        starts.time.passes(6)
        first.step_done(step)
    ready_again = ready(starts.begin(), 3)
    for step in range(3, 7):
        starts.time.passes(1)
        ready_again.step_done(step)
    ready_again.end("done")
    told = starts.lines("progress")
    assert [line["new_steps"] for line in told[:3]] == [1, 3, 5]
    assert (told[-1]["next_step"], told[-1]["new_steps"], told[-1]["seconds"]) == (7, 2, 4)


def test_heartbeats_are_as_seldom_as_was_said(starts: Starts):
    clock = ready(starts.begin(heartbeat_seconds=5.0), 0, "none")
    for step in range(12):
        clock.step_done(step)
        starts.time.passes(1)
    again = ready(starts.begin(), 0, "none")
    again.step_done(0)
    assert starts.lines("recovery")[-1]["last_step"] == 10


def test_a_clock_that_is_put_back_keeps_no_heartbeat_away(starts: Starts):
    clock = ready(starts.begin(heartbeat_seconds=5.0, progress_seconds=5.0), 0, "none")
    clock.step_done(0)
    starts.time.passes(-3600)
    for step in range(1, 8):
        clock.step_done(step)
        starts.time.passes(1)
    # Here it is killed.
    starts.time.passes(1)
    ready(starts.begin(), 5).step_done(5)
    (told,) = starts.lines("recovery")
    assert told["last_step"] == 6
    assert told["steps_lost"] == 2
    assert {line["next_step"] for line in starts.lines("progress")} == {1, 2, 7, 6}


def test_marks_come_in_their_order(starts: Starts):
    clock = starts.begin()
    with pytest.raises(RuntimeError, match="come once, and in this order"):
        clock.data_ready()
    with pytest.raises(RuntimeError, match="step_done comes after initialized, loaded and data_ready"):
        clock.step_done(0)
    clock.initialized()
    with pytest.raises(RuntimeError, match="come once"):
        clock.initialized()


def test_the_start_of_the_process_is_that_of_the_system(tmp_path: Path):
    RecoveryClock(RunRecords(tmp_path), ranks=1)
    (line,) = read_records(tmp_path)
    assert 0 < line["time"] - line["process_started"] < 24 * 3600


def test_every_line_says_what_it_belongs_to(starts: Starts):
    ready(starts.begin(), 0, "none").end("failed")
    starts.time.passes(1)
    records = RunRecords(starts.folder, job="llama", clock=starts.time)
    records.warn("slow_rank", "rank 3 is slow", rank=3)
    lines = list(read_records(starts.folder))
    assert {(line["version"], line["job"]) for line in lines} == {(1, "llama")}
    assert len({line["attempt"] for line in lines}) == 2
    assert lines[-1]["details"] == {"rank": 3}


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"version":1,"kind":"end"}\n{"version":1,"ki')
    assert [line["kind"] for line in read_records(tmp_path)] == ["end"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"version":1,"ki\n{"version":1,"kind":"end"}\n', "a.jsonl:1 is no record"),
        ('{"version":2,"kind":"end"}\n', "a.jsonl:1 must be a record of version 1"),
        ("[]\n", "a.jsonl:1 must be a record of version 1"),
        ("[" * 200_000 + "\n", "a.jsonl:1 is no record"),
    ],
)
def test_what_is_no_record_is_an_error(tmp_path: Path, content: str, message: str):
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(ValueError, match=message):
        list(read_records(tmp_path))


def test_pipes_and_folders_are_no_records(tmp_path: Path):
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").mkdir()
    (tmp_path / "c.jsonl").write_text('{"version":1,"kind":"end"}\n')
    assert [line["kind"] for line in read_records(tmp_path)] == ["end"]


def test_a_record_that_cannot_be_written_does_not_end_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    place = tmp_path / "recovery"
    place.write_text("a file where the folder should be")
    clock = RecoveryClock(RunRecords(place / "below"), ranks=1)
    ready(clock, 0, "none").step_done(0)
    clock.end("done")
    assert caplog.text.count("could not write down a record in") >= 4


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "[" * 200_000,
        "{}",
        '{"step": "x", "time": 1}',
        '{"step": -7, "time": 1}',
        '{"step": 1e300, "time": 1}',
        '{"step": 3, "time": NaN}',
        '{"step": 3, "time": 1e999}',
    ],
)
def test_a_heartbeat_that_cannot_be_read_is_none(
    starts: Starts, content: str, caplog: pytest.LogCaptureFixture
):
    ready(starts.begin(), 0, "none").step_done(0)
    (starts.folder / "last-step.json").write_text(content)
    assert not starts.begin().recovers
    assert "last-step.json" in caplog.text
