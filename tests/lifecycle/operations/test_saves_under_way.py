"""Saves that are under way, as the resume library writes them, and what dead writers leave."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time

import boto3
import pytest
from moto import mock_aws
from recorded_job import Job

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.bounded_looks import within
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.saves_under_way import QUIET_SECONDS, saves_at, wait_for
from hyperpod_lifecycle.operations.stakes import at_stake
from hyperpod_lifecycle.training import Checkpoints, LocalKey
from hyperpod_lifecycle.training.checkpoint_store import Attempt
from hyperpod_lifecycle.training.directory_store import DirectoryStore
from hyperpod_lifecycle.training.s3_store import S3Store

WRITER = """
import sys, time
from hyperpod_lifecycle.training.checkpoint_store import Attempt
from hyperpod_lifecycle.training.directory_store import DirectoryStore
store = DirectoryStore(sys.argv[1])
attempt = Attempt(120, "a" * 32)
store.begin(attempt)
store.join(attempt, 0)
print("saving", flush=True)
time.sleep(60)
"""


@pytest.fixture
def offline(aws) -> Aws:
    return Aws()


@pytest.fixture
def writer(tmp_path):
    """Another process that saves step 120, until it is killed."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "saving\n"
    yield process
    process.kill()
    process.wait()


def test_a_save_of_another_process_until_its_writer_dies(offline, tmp_path, writer):
    saves = saves_at(offline, str(tmp_path))
    (save,) = saves.under_way
    assert (save.step, save.attempt, save.certain) == (120, "a" * 32, True)
    assert save.begun == pytest.approx(time.time(), abs=30)
    (line,) = saves.lines
    assert line.startswith("a save of step 120 is under way since ")
    assert "(its writer holds its lock): it comes to nothing if its nodes go now; --wait-for-save" in line
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    saves = saves_at(offline, str(tmp_path))
    assert (saves.under_way, saves.left_behind) == ((), 1)
    assert saves.lines == ["no save is under way (1 of dead writers are there, and do not count)"]


def test_a_look_does_not_disturb_the_writer(offline, tmp_path):
    checkpoints = Checkpoints(tmp_path / "c", key=LocalKey.generate(tmp_path / "key"))
    stop = threading.Event()

    def look():
        while not stop.is_set():
            saves_at(offline, str(tmp_path / "c"))

    looking = threading.Thread(target=look)
    (tmp_path / "c").mkdir()
    looking.start()
    try:
        for step in range(10):
            with checkpoints.begin(step) as one:
                (one.directory / "part").write_bytes(b"weights")
                one.commit({})
    finally:
        stop.set()
        looking.join()
    assert [one.step for one in checkpoints.complete()] == [9, 8, 7]


def test_a_complete_checkpoint_is_no_save(offline, tmp_path):
    checkpoints = Checkpoints(tmp_path / "c", key=LocalKey.generate(tmp_path / "key"))
    with checkpoints.begin(5) as one:
        (one.directory / "part").write_bytes(b"weights")
        during = saves_at(offline, str(tmp_path / "c"))
        one.commit({})
    assert [save.step for save in during.under_way] == [5]
    after = saves_at(offline, str(tmp_path / "c"))
    assert (after.under_way, after.left_behind) == ((), 0)


def test_what_a_later_start_found_is_dead_without_locks(offline, tmp_path):
    store = DirectoryStore(tmp_path, locks=False)
    attempt = Attempt(7, "b" * 32)
    store.begin(attempt)
    store.join(attempt, 0)
    (save,) = saves_at(offline, str(tmp_path)).under_way
    assert not save.certain
    assert "seems to be under way" in saves_at(offline, str(tmp_path)).lines[0]
    assert "it has no lock, but it was written to lately" in save.told_by
    start = {"kind": "start", "process_started": time.time() + 5}
    assert saves_at(offline, str(tmp_path), records=[start]).left_behind == 1
    assert saves_at(offline, str(tmp_path), now=time.time() + QUIET_SECONDS + 60).left_behind == 1


def test_a_file_system_without_locks(offline, tmp_path, monkeypatch):
    store = DirectoryStore(tmp_path)
    store.begin(Attempt(7, "b" * 32))

    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    (save,) = saves_at(offline, str(tmp_path)).under_way
    assert "its lock cannot be asked" in save.told_by


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("gs://bucket/run", "it can be told of a folder or s3://, got 'gs://bucket/run'"),
        ("s3://bucket", "checkpoints have a bucket and a prefix of their own"),
        ("/nowhere/at/all", "there is no such folder on this machine"),
    ],
)
def test_what_cannot_be_told(offline, place, words):
    saves = saves_at(offline, place)
    assert saves.under_way == ()
    assert saves.lines[0].startswith("whether a save is under way is not known: ")
    assert words in saves.lines[0]


@pytest.fixture
def bucket(monkeypatch):
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="runs")
        yield s3


def test_saves_in_a_bucket(bucket, tmp_path):
    aws = Aws(region="us-east-1")
    key = LocalKey.generate(tmp_path / "key")
    checkpoints = Checkpoints(S3Store("runs", "llama", client=bucket, staging=tmp_path), key=key)
    with checkpoints.begin(5) as one:
        (one.directory / "part").write_bytes(b"weights")
        one.commit({})
    assert saves_at(aws, "s3://runs/llama").under_way == ()
    bucket.put_object(Bucket="runs", Key=f"llama/files/step-{9:012d}-{'c' * 32}/part", Body=b"half")
    (save,) = saves_at(aws, "s3://runs/llama/").under_way
    assert (save.step, save.attempt, save.certain) == (9, "c" * 32, False)
    assert "S3 has no locks" in save.told_by
    later = saves_at(aws, "s3://runs/llama", now=time.time() + QUIET_SECONDS + 60)
    assert (later.under_way, later.left_behind) == ((), 1)
    start = {"kind": "start", "process_started": time.time() + 60}
    assert saves_at(aws, "s3://runs/llama", records=[start]).under_way == ()


def test_an_upload_in_parts_has_no_object_yet(bucket):
    name = f"llama/files/step-{9:012d}-{'c' * 32}/part"
    bucket.create_multipart_upload(Bucket="runs", Key=name)
    (upload,) = bucket.list_multipart_uploads(Bucket="runs")["Uploads"]
    begun = upload["Initiated"].timestamp()  # moto says the same for all
    (save,) = saves_at(Aws(region="us-east-1"), "s3://runs/llama", now=begun + 60).under_way
    assert (save.step, save.begun) == (9, begun)


def test_uploads_that_may_not_be_listed(bucket, monkeypatch):
    asked = Aws.pages

    def denied(self, service, operation, key, **request):
        if operation == "ListMultipartUploads":
            raise OperationError("denied", "no")
        return asked(self, service, operation, key, **request)

    monkeypatch.setattr(Aws, "pages", denied)
    (line,) = saves_at(Aws(region="us-east-1"), "s3://runs/llama").lines
    assert line.endswith("seen only with s3:ListBucketMultipartUploads")


def test_it_is_part_of_what_is_at_stake(offline, tmp_path, writer):
    job = Job(tmp_path / "recovery", begins=time.time() - 600)
    job.train(0, 100, saves={49: ["disk"]})
    stake = at_stake(offline, checkpoints=str(tmp_path))
    assert stake.saves is not None
    assert [save.step for save in stake.saves.under_way] == [120]
    assert "saves took 1 s lately" in stake.saves.lines[0]
    without = at_stake(offline, records=str(tmp_path / "recovery"))
    assert without.saves is None


class Clock:
    def __init__(self):
        self.now = 0.0
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize("ends_after", [0, 1, 3])
def test_a_wait_ends_with_the_save(offline, tmp_path, ends_after):
    store = DirectoryStore(tmp_path)
    attempt = Attempt(7, "b" * 32)
    store.begin(attempt)
    saves = saves_at(offline, str(tmp_path))
    clock, looks = Clock(), []

    def look():
        looks.append(1)
        if len(looks) > ends_after:
            store.discard(attempt, 0)
        store.begin(Attempt(8, f"{len(looks):032x}"))  # the next save is not waited for
        return saves_at(offline, str(tmp_path))

    seen = wait_for(saves, look=look, seconds=3600, sleep=clock.sleep, clock=clock)
    assert len(looks) == ends_after + 1
    assert attempt.id not in {save.attempt for save in seen.under_way}


def test_a_wait_is_bounded(offline, tmp_path):
    DirectoryStore(tmp_path).begin(Attempt(7, "b" * 32))
    held = DirectoryStore(tmp_path)
    held.begin(Attempt(8, "c" * 32))
    saves = saves_at(offline, str(tmp_path))
    clock = Clock()
    seen = wait_for(
        saves, look=lambda: saves_at(offline, str(tmp_path)), seconds=12, sleep=clock.sleep, clock=clock
    )
    assert (clock.slept, len(seen.under_way)) == ([5.0, 5.0, 2.0], len(saves.under_way))


def test_a_file_system_that_hangs():
    hanging = threading.Event()
    with pytest.raises(OperationError, match=r"/fsx does not answer within 0\.05 s; is its file system"):
        within(0.05, hanging.wait, what="/fsx")
    hanging.set()
    assert within(5, lambda: 7, what="/fsx") == 7
    with pytest.raises(FileNotFoundError):
        within(5, lambda: os.listdir("/nowhere/at/all"), what="/fsx")
