"""The loop that puts the parts together, without PyTorch; with it: `test_with_torch.py`."""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperpod_lifecycle.training import (
    CheckpointEvent,
    CrashLoopGuard,
    Loaded,
    LoopState,
    ResumableBatches,
    RunRecords,
    SampleOrder,
    SaveError,
    SaveReport,
    SaveSchedule,
    SingleProcess,
    StepTimeFinding,
    StopSignal,
    TrainingRun,
    read_records,
)


class Memory:
    """Keeps checkpoints of the loop in a list."""

    def __init__(self) -> None:
        self.saved: list[tuple[int, dict[str, Any], bool]] = []
        self.waits = 0
        self.run: TrainingRun | None = None
        self.error: Exception | None = None

    def save(self, step: int, state: dict[str, Any], loop: LoopState, *, durable: bool = False) -> None:
        if self.error is not None:
            raise self.error
        self.saved.append((step, loop.shared(), durable))
        if self.run is not None:
            self.run.on_saved(report(step))

    def wait(self) -> None:
        self.waits += 1

    def close(self) -> None:
        raise AssertionError("whoever made it closes it")

    def load(self, state: dict[str, Any], loop: LoopState, *, start_over: bool = False) -> Loaded | None:
        self.starts_over = start_over
        if not self.saved:
            return None
        step, shared, _ = self.saved[-1]
        return Loaded(step=step, tier="disk", not_restored=loop.load(shared, None))


def report(step: int, *, seconds: float = 1.0, training_seconds: float | None = None) -> SaveReport:
    return SaveReport(
        step=step,
        stall_seconds=0.5,
        seconds=seconds,
        training_seconds=training_seconds,
        asynchronous=True,
        tiers=("disk",),
    )


class Job:
    def __init__(self, folder: Path, saver: Memory | None, **options: Any) -> None:
        self.batches = ResumableBatches(SampleOrder(10), samples_a_rank=1, rank=0, ranks=1)
        self.loop = LoopState(parts={"batches": self.batches}, keep_random=False)
        self.stop = StopSignal(grace_seconds=100)
        self.run = TrainingRun(
            **{
                "steps": 10,
                "schedule": SaveSchedule(every_steps=4),
                "coordinator": SingleProcess(),
                "stop": self.stop,
                "loop": self.loop,
                "batches": self.batches,
                "records": RunRecords(folder, job="llama"),
            }
            | options
        )
        self.saver = saver
        if saver is not None:
            saver.run = self.run

    def train(self, *, tell_at: int | None = None) -> list[int]:
        done = []
        with self.stop, self.run:
            self.run.resume(self.saver, {})
            for step in self.run.steps_left(self.saver, dict):
                done.append(step)
                if step == tell_at:
                    os.kill(os.getpid(), signal.SIGTERM)
        return done


def lines(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [line for line in read_records(folder) if line["kind"] == kind]


def test_it_saves_when_that_is_due_and_at_the_end(tmp_path: Path):
    saver = Memory()
    job = Job(tmp_path, saver)
    assert job.train() == list(range(10))
    assert [(step, durable) for step, _, durable in saver.saved] == [(3, False), (7, False), (9, True)]
    assert saver.saved[1][1]["next_step"] == 8
    assert saver.saved[1][1]["parts"]["batches"]["position"] == 8
    assert saver.waits == 1
    assert job.run.exit_code == 0


def test_to_begin_anew_on_purpose_reaches_the_saver(tmp_path: Path):
    for start_over in (True, False):
        saver = Memory()
        Job(tmp_path, saver).run.resume(saver, {}, start_over=start_over)
        assert saver.starts_over is start_over


class WithRandom(Memory):
    def save(self, step: int, state: dict[str, Any], loop: LoopState, *, durable: bool = False) -> None:
        super().save(step, state, loop, durable=durable)
        self.of_rank = loop.of_rank()

    def load(self, state: dict[str, Any], loop: LoopState, *, start_over: bool = False) -> Loaded | None:
        self.starts_over = start_over
        if not self.saved:
            return None
        step, shared, _ = self.saved[-1]
        return Loaded(step=step, tier="disk", not_restored=loop.load(shared, self.of_rank))


def test_what_prepares_the_data_draws_no_number_of_the_steps(tmp_path: Path):
    """The iterator of a DataLoader draws one when it is made, which is after the checkpoint was loaded."""

    def train(saver: WithRandom, *, tell_at: int | None = None) -> list[float]:
        job = Job(tmp_path, saver)
        job.loop = job.run._loop = LoopState(parts={"batches": job.batches})
        drawn = []
        with job.stop, job.run:
            job.run.resume(saver, {})
            random.random()
            for step in job.run.steps_left(saver, dict):
                drawn.append(random.random())
                if step == tell_at:
                    os.kill(os.getpid(), signal.SIGTERM)
        return drawn

    random.seed(4)
    whole = train(WithRandom())
    random.seed(4)
    saver = WithRandom()
    first = train(saver, tell_at=5)
    random.seed(99)
    assert first + train(saver) == whole


def test_an_end_on_request_is_saved_durably_and_goes_on(tmp_path: Path):
    saver, told = Memory(), []
    first = Job(tmp_path, saver, on_step_saved=told.append)
    assert first.train(tell_at=5) == [0, 1, 2, 3, 4, 5]
    assert [(step, durable) for step, _, durable in saver.saved] == [(3, False), (5, True)]
    assert (first.run.exit_code, told) == (143, [3, 5])
    second = Job(tmp_path, saver)
    assert second.train() == [6, 7, 8, 9]
    assert second.run.exit_code == 0
    assert [line["reason"] for line in lines(tmp_path, "end")] == ["interrupted", "done"]


def test_told_to_end_at_the_last_step_it_is_done(tmp_path: Path):
    job = Job(tmp_path, Memory())
    job.train(tell_at=9)
    assert job.run.exit_code == 0


def test_without_a_saver_it_trains(tmp_path: Path):
    job = Job(tmp_path, None)
    assert job.train() == list(range(10))
    assert lines(tmp_path, "save") == []


def test_a_save_that_fails_ends_training(tmp_path: Path):
    saver = Memory()
    saver.error = SaveError("disk is full")
    with pytest.raises(SaveError, match="disk is full"):
        Job(tmp_path, saver).train()
    assert [line["reason"] for line in lines(tmp_path, "end")] == ["failed"]


def test_the_guard_hears_of_progress_and_of_an_end_on_request(tmp_path: Path):
    def start() -> CrashLoopGuard:
        guard = CrashLoopGuard(tmp_path / "guard", job="llama", most_attempts=1, sleep=lambda seconds: None)
        guard.start()
        return guard

    saver = Memory()
    first = start()
    Job(tmp_path, saver, guard=first).train(tell_at=1)
    assert first.attempts == 0
    again = start()
    job = Job(tmp_path, saver, guard=again)
    job.train()
    assert again.attempts == 0


def test_a_save_that_its_start_could_not_tell_of_is_progress(tmp_path: Path):
    """Saved in the background, and killed before the next save waits for it: start after start."""
    saver = Memory()

    def start(*, saves: bool) -> CrashLoopGuard:
        guard = CrashLoopGuard(tmp_path / "guard", most_attempts=3, sleep=lambda seconds: None)
        guard.start()
        job = Job(tmp_path, saver, guard=guard, steps=1000)
        saver.run = None
        job.run.resume(saver, {})
        before = len(saver.saved)
        for _ in job.run.steps_left(saver, dict):
            # Killed in the step after its one save, or in its first.
            if not saves or len(saver.saved) > before:
                break
        return guard

    for _ in range(8):
        assert start(saves=True).attempts == 1
    assert len(saver.saved) == 8
    assert [step for step, _, _ in saver.saved] == list(range(3, 33, 4))
    # From here on it gets nowhere.
    assert [start(saves=False).attempts for _ in range(3)] == [1, 2, 3]
    with pytest.raises(SystemExit):
        start(saves=False)


def test_what_is_not_restored_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    saver = Memory()
    Job(tmp_path, saver).train(tell_at=5)
    job = Job(tmp_path, saver)
    job.loop._keep_random = True
    job.train()
    assert "could not restore random" in caplog.text
    (warning,) = lines(tmp_path, "warning")
    assert (warning["what"], warning["details"]) == ("not_restored", {"parts": ["random"]})


@pytest.mark.parametrize(
    ("left", "message"),
    [
        (1, "step 7 was saved before, and step 3 is loaded; newer checkpoints were refused or removed"),
        (0, "step 7 was saved before, and there is no checkpoint: training begins anew; newer"),
    ],
)
def test_newer_checkpoints_that_are_gone_are_missed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, left: int, message: str
):
    def start(saver: Memory) -> Job:
        guard = CrashLoopGuard(tmp_path, sleep=lambda seconds: None)
        guard.start()
        return Job(tmp_path, saver, guard=guard, steps=8)

    saver = Memory()
    start(saver).train(tell_at=5)
    del saver.saved[1:]
    start(saver).train()
    assert "was saved before" in caplog.text
    caplog.clear()
    assert start(saver).train() == []
    assert "was saved before" not in caplog.text
    del saver.saved[left:]
    start(saver).train()
    assert message in caplog.text
    assert "until step 7 is saved again, no start counts as one that got somewhere" in caplog.text
    assert f"goes back on purpose, delete {tmp_path}/crash-loop-state.json" in caplog.text
    warned = [line for line in lines(tmp_path, "warning") if line["what"] == "older_checkpoint"]
    assert warned[-1]["details"] == {"saved_step": 7, "loaded_step": 3 if left else None}


def test_warnings_become_records(tmp_path: Path):
    run = Job(tmp_path, None).run
    run.on_saved(report(3, seconds=9.0, training_seconds=2.0))
    run.on_event(CheckpointEvent(kind="refused", location="/a", step=3, reason="digest", message="no"))
    run.on_event(CheckpointEvent(kind="saved", location="/a", step=3, message="yes"))
    run.on_step_time(
        StepTimeFinding(kind="slow_rank", step=4, rank=7, host="ip-10-1-2-3", seconds=3.0, usual_seconds=2.0)
    )
    run.on_not_finite(5, "loss", "nan")
    told = {line["what"]: line["details"] for line in lines(tmp_path, "warning")}
    assert list(told) == ["interval_too_short", "checkpoint_refused", "slow_rank", "not_finite"]
    assert told["interval_too_short"]["training_seconds"] == 2.0
    assert told["checkpoint_refused"] == {"step": 3, "reason": "digest"}
    assert (told["slow_rank"]["rank"], told["slow_rank"]["ratio"]) == (7, 1.5)
    (saved,) = lines(tmp_path, "save")
    assert (saved["stall_seconds"], saved["seconds"], saved["tiers"], saved["ranks"]) == (
        0.5,
        9.0,
        ["disk"],
        1,
    )


def test_a_grace_period_that_is_too_short_for_a_save_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    job = Job(tmp_path, Memory(), stop=(stop := StopSignal(grace_seconds=0.5)))
    job.stop = stop
    job.run.on_saved(report(0, seconds=60.0))
    with caplog.at_level(logging.WARNING):
        job.train(tell_at=2)
    assert "it may be killed half-way, which loses this save and no other" in caplog.text


def test_other_ranks_write_nothing(tmp_path: Path):
    class Second(SingleProcess):
        rank = 1

        def broadcast(self, value: Any) -> Any:
            return False

    job = Job(tmp_path, Memory(), coordinator=Second())
    job.train()
    assert list(tmp_path.iterdir()) == []


def test_leaving_ends_with_the_code_and_all_that_was_said():
    program = "from hyperpod_lifecycle.training import leave; print('said', end=''); leave(143)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (143, "said")
