from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperpod_lifecycle.training import CrashLoopGuard, CrashLoopNotice, CrashLoopStateError, sns_notice
from hyperpod_lifecycle.training.crash_loop import (
    CRASH_LOOP_EXIT_CODE,
    NOTICE_NAME,
    STATE_NAME,
)
from hyperpod_lifecycle.training.documents import FolderDocuments


class Job:
    """Starts of one job; what a start remembers is in the folder alone."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.options = options
        self.pauses: list[float] = []
        self.notices: list[CrashLoopNotice] = []

    def start(self) -> CrashLoopGuard:
        options = {
            "job": "llama",
            "on_stop": [self.notices.append],
            "sleep": self.pauses.append,
        } | self.options
        guard = CrashLoopGuard(self.folder, **options)
        guard.start()
        return guard


def test_starts_without_progress_pause_longer_and_then_stop(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    job = Job(tmp_path, most_attempts=4, first_pause_seconds=10, longest_pause_seconds=25)
    for _ in range(4):
        job.start()
    assert job.pauses == [10, 20, 25]
    caplog.clear()
    with caplog.at_level(logging.CRITICAL), pytest.raises(SystemExit) as stopped:
        job.start()
    assert stopped.value.code == CRASH_LOOP_EXIT_CODE == 79
    (notice,) = job.notices
    assert (notice.job, notice.attempts, notice.step) == ("llama", 4, None)
    line = f"HYPERPOD_CRASH_LOOP job=llama attempts=4 step=none host={notice.host}"
    assert [record.message for record in caplog.records] == [line]
    assert json.loads((tmp_path / NOTICE_NAME).read_text())["line"] == line


def test_it_tells_once_and_stays_stopped(tmp_path: Path):
    job = Job(tmp_path, most_attempts=1)
    job.start()
    for _ in range(3):
        with pytest.raises(SystemExit):
            job.start()
    assert len(job.notices) == 1
    (tmp_path / STATE_NAME).unlink()
    assert job.start().attempts == 1


def test_progress_sets_the_count_back(tmp_path: Path):
    job = Job(tmp_path, most_attempts=2)
    for step in range(10):
        guard = job.start()
        guard.progressed(step)
        assert guard.attempts == 0
    assert job.pauses == []


def test_a_checkpoint_of_an_earlier_step_is_no_progress(tmp_path: Path):
    """A batch that always fails: training resumes at 9, and saves 9 again or an older one."""
    job = Job(tmp_path, most_attempts=2)
    job.start().progressed(9)
    for _ in range(2):
        job.start().progressed(9)
    with pytest.raises(SystemExit):
        job.start()
    assert job.notices[0].step == 9


def test_a_later_checkpoint_that_is_found_is_progress_of_the_past(tmp_path: Path):
    job = Job(tmp_path, most_attempts=2)
    job.start()
    second = job.start()
    second.resumed(9)
    assert (second.attempts, second.saved_step) == (1, 9), "this start got nowhere yet"
    third = job.start()
    for step in (9, 3):
        third.resumed(step)
        assert (third.attempts, third.saved_step) == (2, 9)
    third.progressed(10)
    third.resumed(11)
    assert third.attempts == 0, "it did get somewhere"
    for _ in range(2):
        job.start().resumed(11)
    with pytest.raises(SystemExit):
        job.start()


def test_an_end_on_request_does_not_count(tmp_path: Path):
    job = Job(tmp_path, most_attempts=1)
    for _ in range(5):
        job.start().interrupted()
    assert job.notices == []


def test_an_end_on_request_after_progress_takes_nothing_back(tmp_path: Path):
    guard = Job(tmp_path).start()
    guard.progressed(3)
    guard.interrupted()
    assert guard.attempts == 0


def test_a_start_that_is_killed_during_its_pause_counts(tmp_path: Path):
    class Killed(BaseException):
        pass

    def die(seconds: float) -> None:
        raise Killed

    job = Job(tmp_path, sleep=die)
    job.start()
    for _ in range(4):
        with pytest.raises(Killed):
            job.start()
    with pytest.raises(SystemExit):
        job.start()


def test_one_way_to_tell_that_fails_does_not_keep_the_others_from_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    def fails(notice: CrashLoopNotice) -> None:
        raise ConnectionError("no route")

    told: list[CrashLoopNotice] = []
    job = Job(tmp_path, most_attempts=1, on_stop=[fails, told.append])
    job.start()
    with pytest.raises(SystemExit):
        job.start()
    assert len(told) == 1
    assert "could not tell that llama is stopped" in caplog.text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[" * 200_000,
        b"[]",
        b'{"version": 9}',
        b'{"version":1,"attempts":"x"}',
        b'{"version":1,"attempts":true,"step":1,"told":false}',
        b'{"version":1,"attempts":-1000000,"step":1,"told":false}',
        b'{"version":1,"attempts":1e999,"step":1,"told":false}',
        b'{"version":1,"attempts":1,"step":"x","told":false}',
        b'{"version":1,"attempts":1,"step":1000000000000000000,"told":false}',
    ],
)
def test_a_state_that_cannot_be_read_counts_anew(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
):
    (tmp_path / STATE_NAME).write_bytes(content)
    guard = Job(tmp_path).start()
    assert guard.attempts == 1
    assert "cannot be read, counting anew" in caplog.text
    guard.progressed(3)
    assert json.loads((tmp_path / STATE_NAME).read_text())["step"] == 3


def test_a_pipe_in_the_place_of_the_state_counts_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    os.mkfifo(tmp_path / STATE_NAME)
    assert Job(tmp_path).start().attempts == 1
    assert "cannot be read, counting anew" in caplog.text
    assert json.loads((tmp_path / STATE_NAME).read_text())["attempts"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"most_attempts": 0}, "most_attempts must be 1 or more, got 0"),
        ({"first_pause_seconds": -1}, "pauses must be 0 seconds or more, got -1"),
    ],
)
def test_numbers_out_of_range_are_refused(tmp_path: Path, options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        CrashLoopGuard(tmp_path, **options)


def test_a_process_ends_with_the_code_and_the_line(tmp_path: Path):
    program = (
        f"from hyperpod_lifecycle.training import CrashLoopGuard\nCrashLoopGuard({str(tmp_path)!r}).start()"
    )
    codes = []
    for _ in range(7):
        code = program.replace(").start()", ", first_pause_seconds=0).start()")
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        codes.append(run.returncode)
    assert codes == [0] * 5 + [79, 79]
    assert run.stderr.startswith("HYPERPOD_CRASH_LOOP job=training attempts=5 step=none host=")


def test_a_topic_is_told_in_words(tmp_path: Path):
    class Topic:
        def publish(self, **said: str) -> None:
            self.said = said

    topic = Topic()
    arn = "arn:aws:sns:us-west-2:111122223333:faults"
    job = Job(tmp_path, most_attempts=1, on_stop=[sns_notice(arn, client=topic)], job="x" * 200)
    job.start()
    with pytest.raises(SystemExit):
        job.start()
    assert topic.said["TopicArn"] == arn
    assert len(topic.said["Subject"]) == 100
    assert "HYPERPOD_CRASH_LOOP job=xxx" in topic.said["Message"]
    assert f"until {STATE_NAME} in {tmp_path} is deleted" in topic.said["Message"]


def test_progress_that_cannot_be_noted_does_not_end_training_and_a_start_does(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    folder = tmp_path / "recovery"
    guard = Job(folder).start()
    (folder / STATE_NAME).unlink()
    folder.rmdir()
    folder.write_text("a file where the folder should be")
    guard.progressed(3)
    assert "could not note that step 3 of llama is saved" in caplog.text
    with pytest.raises(CrashLoopStateError, match="cannot be read: NotADirectoryError"):
        Job(folder).start()
    folder.unlink()
    (folder / STATE_NAME).mkdir(parents=True)
    with pytest.raises(CrashLoopStateError, match="cannot be written: IsADirectoryError"):
        Job(folder).start()


def test_a_count_that_may_be_right_is_not_begun_anew(tmp_path: Path):
    """S3 that does not answer, or without s3:ListBucket: going on would undo the cap."""

    class Denied(FolderDocuments):
        def read(self, name: str) -> bytes | None:
            raise ConnectionError("S3 does not answer")

    for _ in range(3):
        Job(tmp_path).start()
    with pytest.raises(CrashLoopStateError) as raised:
        CrashLoopGuard(Denied(tmp_path), job="llama").start()
    words = str(raised.value)
    assert words.startswith(f"{tmp_path}/{STATE_NAME}, which counts the starts of llama, cannot be read: ")
    assert "ConnectionError: S3 does not answer" in words
    assert "it does not start: give it a folder" in words
    assert "list the bucket" in words
    assert Job(tmp_path).start().attempts == 4


def test_a_full_disk_keeps_nobody_from_being_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    job = Job(tmp_path, most_attempts=1)
    job.start()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for starts in (1, 2):
        with pytest.raises(SystemExit) as stopped:
            job.start()
        assert stopped.value.code == CRASH_LOOP_EXIT_CODE
        assert len(job.notices) == starts, "told again: that it was told could not be noted"
    assert f"could not write {NOTICE_NAME} in {tmp_path}" in caplog.text
    assert "the next start tells again" in caplog.text
    monkeypatch.undo()
    for _ in range(2):
        with pytest.raises(SystemExit):
            job.start()
    assert len(job.notices) == 3
    assert (tmp_path / NOTICE_NAME).exists()


def test_an_end_on_request_that_cannot_be_noted_is_none_that_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    guard = Job(tmp_path).start()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    guard.interrupted()
    assert "could not note that llama ends on request" in caplog.text
    assert json.loads((tmp_path / STATE_NAME).read_text())["attempts"] == 1
