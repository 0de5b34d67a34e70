"""What a job would lose, from what the resume library wrote."""

from __future__ import annotations

import json

import boto3
import pytest
from moto import mock_aws
from recorded_job import STEP, Job

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.spans import span
from hyperpod_lifecycle.operations.stakes import at_stake
from hyperpod_lifecycle.training.checkpoint_store import step_name
from hyperpod_lifecycle.training.recovery_records import HEARTBEAT_NAME


@pytest.fixture
def offline(aws) -> Aws:
    return Aws()


def test_steps_since_the_newest_durable_checkpoint(offline, tmp_path):
    job = Job(tmp_path)
    job.train(0, 100, saves={49: ["s3"], 89: ["memory"]})
    stake = at_stake(offline, records=str(tmp_path), now=job.now + 30)
    assert (stake.job, stake.last_step, stake.saved_step, stake.steps) == ("llama", 99, 49, 50)
    assert stake.step_seconds == pytest.approx(STEP)
    assert stake.seconds == pytest.approx(300)
    assert stake.running
    assert stake.words == (
        "job llama did step 99 and said so 30 s ago; its newest durable checkpoint is of step 49: 50 steps "
        "would be lost, about 5 min of training"
    )


def test_without_a_checkpoint_all_is_lost(offline, tmp_path):
    job = Job(tmp_path)
    job.train(0, 10)
    stake = at_stake(offline, records=str(tmp_path), now=job.now)
    assert stake.steps == 10
    assert "it has no durable checkpoint: all 10 steps would be lost, about 60 s" in stake.words


def test_a_job_that_is_silent_does_not_run(offline, tmp_path):
    job = Job(tmp_path)
    job.train(0, 10)
    stake = at_stake(offline, records=str(tmp_path), now=job.now + 3600)
    assert not stake.running
    assert "said so 60 min ago (it does not seem to run)" in stake.words


def test_checkpoints_that_are_there_count_and_records_lie_beside_them(offline, tmp_path):
    job = Job(tmp_path / "recovery")
    job.train(0, 100, saves={49: ["disk"]})
    (tmp_path / step_name(79)).mkdir()
    stake = at_stake(offline, checkpoints=str(tmp_path), now=job.now)
    assert (stake.saved_step, stake.steps) == (79, 20)


def test_checkpoints_that_cannot_be_listed(offline, tmp_path):
    job = Job(tmp_path / "recovery")
    job.train(0, 10)
    stake = at_stake(offline, records=str(tmp_path / "recovery"), checkpoints="s3:///x", now=job.now)
    assert stake.steps is None
    assert (
        "how many steps it would lose is not known: the checkpoints at s3:///x cannot be listed"
        in stake.words
    )


def test_nobody_said_where_to_look(offline):
    assert at_stake(offline) is None


def test_no_sign_of_life(offline, tmp_path):
    stake = at_stake(offline, records=str(tmp_path / "nothing"))
    assert not stake.running
    assert (
        stake.words == f"what a job would lose is not known: no job left a sign of life in {tmp_path}/nothing"
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "20261130T000000.000000Z-a.jsonl",
            "{}\n",
            "the records cannot be read: .* must be a record of version 1",
        ),
        (HEARTBEAT_NAME, "{", "the sign of life of the job cannot be read"),
        (HEARTBEAT_NAME, "{}", "cannot be read: last-step.json: KeyError"),
        (HEARTBEAT_NAME, "[]", "cannot be read: last-step.json: TypeError"),
        (HEARTBEAT_NAME, '{"step": 1, "time": null}', "cannot be read: last-step.json: TypeError"),
    ],
)
def test_what_is_no_record(offline, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(OperationError, match=message):
        at_stake(offline, records=str(tmp_path))


def test_a_place_that_is_none(offline):
    with pytest.raises(OperationError, match="records are in a folder or at s3://, got 'gs://a/b'"):
        at_stake(offline, records="gs://a/b")


def test_records_in_a_bucket(monkeypatch, tmp_path):
    job = Job(tmp_path)
    job.train(0, 100, saves={49: ["s3"]})
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="runs")
        for path in tmp_path.iterdir():
            s3.put_object(Bucket="runs", Key=f"llama/recovery/{path.name}", Body=path.read_bytes())
        s3.put_object(Bucket="runs", Key="llama/recovery/deeper/x.jsonl", Body=b"{}\n")
        stake = at_stake(Aws(region="us-east-1"), records="s3://runs/llama/recovery/", now=job.now)
        with pytest.raises(OperationError, match="AWS refuses s3:ListObjectsV2 in us-east-1: NoSuchBucket"):
            at_stake(Aws(region="us-east-1"), records="s3://nowhere/x")
    assert (stake.last_step, stake.saved_step, stake.steps) == (99, 49, 50)


def test_the_heartbeat_is_what_the_library_writes(tmp_path):
    job = Job(tmp_path)
    job.train(0, 3)
    assert json.loads((tmp_path / HEARTBEAT_NAME).read_text())["step"] == 2


@pytest.mark.parametrize(("seconds", "words"), [(5, "5 s"), (119, "119 s"), (600, "10 min"), (9000, "2.5 h")])
def test_spans(seconds, words):
    assert span(seconds) == words
