"""When saves are due, that one is in flight, what they cost, and what the environment says about them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_lifecycle.training import (
    CheckpointVariables,
    NothingVerifiesError,
    SaveError,
    SaveReport,
    SaveSchedule,
)
from hyperpod_lifecycle.training import checkpoint_variables as names
from hyperpod_lifecycle.training.saves_in_flight import SavesInFlight
from hyperpod_model.job_spec import environment


class TestSchedule:
    def test_saves_are_due_after_so_many_steps(self):
        schedule = SaveSchedule(every_steps=10, durable_every_steps=50)
        assert [step for step in range(100) if schedule.is_due(step)] == [
            9,
            19,
            29,
            39,
            49,
            59,
            69,
            79,
            89,
            99,
        ]
        assert [step for step in range(100) if schedule.is_durable(step)] == [49, 99]

    def test_without_tiers_each_save_lasts(self):
        assert SaveSchedule(every_steps=7).is_durable(6)
        assert not SaveSchedule(every_steps=7).is_durable(7)

    @pytest.mark.parametrize(
        ("every", "durable", "hint"), [(10, 25, "20 or 30"), (10, 5, "10"), (3, 100, "99 or 102")]
    )
    def test_an_interval_that_is_no_multiple_is_refused(self, every: int, durable: int, hint: str):
        message = rf"must be a multiple of every_steps \({every}\), got {durable}; such as {hint}"
        with pytest.raises(ValueError, match=message):
            SaveSchedule(every_steps=every, durable_every_steps=durable)

    @pytest.mark.parametrize(("every", "durable"), [(0, 10), (10, 0), (-1, None)])
    def test_no_steps_are_refused(self, every: int, durable: int | None):
        with pytest.raises(ValueError, match="steps must be 1 or more"):
            SaveSchedule(every_steps=every, durable_every_steps=durable)


class TestVariables:
    def test_they_are_those_that_jobs_are_rendered_with(self):
        for ours, rendered in (
            (names.PATH, environment.CHECKPOINT_PATH),
            (names.S3_URI, environment.CHECKPOINT_S3_URI),
            (names.S3_INTERVAL_STEPS, environment.CHECKPOINT_S3_INTERVAL_STEPS),
            (names.MEMORY_INTERVAL_STEPS, environment.CHECKPOINT_MEMORY_INTERVAL_STEPS),
            (names.JOB_NAME, environment.TRAINING_JOB_NAME),
        ):
            assert ours == rendered

    def test_they_are_read(self):
        said = {
            "CHECKPOINT_PATH": "/fsx/a",
            "CHECKPOINT_S3_URI": "s3://bucket/a",
            "CHECKPOINT_S3_INTERVAL_STEPS": "500",
            "CHECKPOINT_MEMORY_INTERVAL_STEPS": "50",
            "TRAINING_JOB_NAME": "llama",
        }
        variables = CheckpointVariables.from_environment(said)
        assert variables == CheckpointVariables(
            path="/fsx/a",
            s3_uri="s3://bucket/a",
            s3_interval_steps=500,
            memory_interval_steps=50,
            job_name="llama",
        )
        assert variables.tiered_schedule() == SaveSchedule(every_steps=50, durable_every_steps=500)

    def test_what_is_not_said_is_none(self):
        assert CheckpointVariables.from_environment({}) == CheckpointVariables()

    def test_without_both_intervals_there_are_no_tiers(self):
        with pytest.raises(ValueError, match="CHECKPOINT_MEMORY_INTERVAL_STEPS is not set"):
            CheckpointVariables(s3_interval_steps=10).tiered_schedule()
        with pytest.raises(ValueError, match="CHECKPOINT_S3_INTERVAL_STEPS is not set"):
            CheckpointVariables(memory_interval_steps=10).tiered_schedule()

    @pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "ten", "\u0661"])
    def test_what_is_no_number_of_steps_is_refused(self, text: str):
        with pytest.raises(ValueError, match="CHECKPOINT_S3_INTERVAL_STEPS must be a whole number of steps"):
            CheckpointVariables.from_environment({"CHECKPOINT_S3_INTERVAL_STEPS": text})


class Save:
    """A save whose end the test decides."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.begun = threading.Event()
        self.error: Exception | None = None

    def begin(self) -> Callable[[], None]:
        def finish() -> None:
            self.begun.set()
            assert self.over.wait(60)
            if self.error is not None:
                raise self.error

        return finish


def at_once() -> Callable[[], None]:
    return lambda: None


def fails(error: Exception) -> Callable[[], Callable[[], None]]:
    def begin() -> Callable[[], None]:
        def finish() -> None:
            raise error

        return finish

    return begin


class TestOneInFlight:
    def test_training_goes_on_and_the_next_save_waits(self):
        reports: list[SaveReport] = []
        saves = SavesInFlight(asynchronous=True, on_saved=reports.append)
        first = Save()
        saves.run(1, first.begin, tiers=("disk",))
        assert first.begun.wait(60)
        order = []

        def second() -> Callable[[], None]:
            order.append(first.over.is_set())
            return lambda: None

        threading.Timer(0.05, first.over.set).start()
        saves.run(2, second, tiers=("disk",))
        assert order == [True], "the second began while the first was in flight"
        saves.close()
        assert [report.step for report in reports] == [1, 2]
        assert reports[0].asynchronous
        assert reports[1].stall_seconds > 0

    @pytest.mark.parametrize("asynchronous", [True, False])
    def test_a_failure_is_raised_by_the_next_wait_and_once(self, asynchronous: bool):
        saves = SavesInFlight(asynchronous=asynchronous)
        message = "could not save step 3: OSError: disk is full"

        def save_and_wait() -> None:
            saves.run(3, fails(OSError("disk is full")), tiers=("disk",))
            saves.wait()

        with pytest.raises(SaveError, match=message):
            save_and_wait()
        saves.run(4, at_once, tiers=("disk",))
        saves.close()

    def test_a_failure_of_the_save_before_keeps_the_next_from_beginning(self):
        saves = SavesInFlight(asynchronous=True)
        saves.run(3, fails(OSError("disk is full")), tiers=("disk",))

        def never() -> Callable[[], None]:
            raise AssertionError("began")

        with pytest.raises(SaveError, match="could not save step 3"):
            saves.run(4, never, tiers=("disk",))
        saves.close()

    def test_what_is_a_checkpoint_error_stays_what_it_is(self):
        saves = SavesInFlight(asynchronous=False)
        with pytest.raises(NothingVerifiesError, match="none"):
            saves.run(3, fails(NothingVerifiesError("none")), tiers=("disk",))

    def test_saves_longer_than_their_interval_are_said_once_until_it_is_twice_as_bad(
        self, caplog: pytest.LogCaptureFixture
    ):
        now = [0.0]
        reports: list[SaveReport] = []
        saves = SavesInFlight(asynchronous=False, on_saved=reports.append, clock=lambda: now[0])

        def lasting(seconds: float) -> Callable[[], Callable[[], None]]:
            def begin() -> Callable[[], None]:
                now[0] += seconds
                return lambda: None

            return begin

        with caplog.at_level(logging.WARNING):
            for step, (training, saving) in enumerate([(1, 9), (10, 3), (2, 3), (2, 4), (2, 6)]):
                now[0] += training
                saves.run(step, lasting(saving), tiers=("disk",))
        assert [report.interval_is_too_short for report in reports] == [False, False, True, True, True]
        assert [report.seconds for report in reports] == [9, 3, 3, 4, 6]
        assert caplog.messages == [
            "HYPERPOD_SAVE_INTERVAL_TOO_SHORT step=2 save_seconds=3.000 training_seconds=2.000; saves cost "
            "more "
            "time than there is between them: save less often",
            "HYPERPOD_SAVE_INTERVAL_TOO_SHORT step=4 save_seconds=6.000 training_seconds=2.000; saves cost "
            "more "
            "time than there is between them: save less often",
        ]

    def test_other_ranks_leave_the_warning_to_one(self, caplog: pytest.LogCaptureFixture):
        for warns in (False, True):
            now, reports = [0.0], []
            saves = SavesInFlight(
                asynchronous=False, on_saved=reports.append, warns=warns, clock=lambda now=now: now[0]
            )

            def begin(now: list[float] = now) -> Any:
                now[0] += 5
                return lambda: None

            for step in range(2):
                now[0] += 1
                saves.run(step, begin, tiers=("disk",))
            assert reports[1].interval_is_too_short
            assert len(caplog.messages) == (1 if warns else 0)

    def test_a_wait_without_a_save_is_nothing(self):
        saves = SavesInFlight(asynchronous=True)
        saves.wait()
        saves.close()


def test_report_tiers_are_kept():
    reports: list[Any] = []
    saves = SavesInFlight(asynchronous=False, on_saved=reports.append)
    saves.run(1, at_once, tiers=("memory", "s3"))
    assert reports[0].tiers == ("memory", "s3")
