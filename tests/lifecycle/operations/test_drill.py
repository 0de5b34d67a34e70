"""A rehearsal: a node is marked while a job writes records, and its recovery is timed."""

from __future__ import annotations

import json
import threading
import time

import pytest
from aws_answers import CLUSTER_ARN, error, instance_id
from recorded_job import Job
from terminals import Terminal

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.drills import DrillReport, starts_in, watched
from hyperpod_lifecycle.operations.errors import OperationError

FIRST = instance_id("workers", 1)


@pytest.fixture
def job(tmp_path):
    """A job that runs now, and has lost 20 steps when it fails."""
    made = Job(tmp_path / "recovery", begins=time.time() - 600)
    made.train(0, 100, saves={79: ["s3"]})
    return made


@pytest.fixture
def place(job, tmp_path):
    return str(tmp_path / "recovery")


def resumed(place, *, begins, until=120):
    """Another start of the job, that goes on from its checkpoint."""
    again = Job(place, begins=begins)
    again.train(80, until, tier="s3")


def watching(place, *, marked_at, sleeps, timeout=3600.0):
    """Watch with a clock that stands still but for sleeping, in which the job goes on as ``sleeps`` say."""
    now = [marked_at]
    news = []

    def sleep(seconds):
        now[0] += seconds
        if sleeps:
            sleeps.pop(0)()

    class AnyNode:
        id = FIRST

    report = watched(
        Aws(), records=place, node=AnyNode(), marked_at=marked_at, known_starts=starts_in(Aws(), place),
        timeout_seconds=timeout, poll_seconds=60, on_change=news.append, sleep=sleep, clock=lambda: now[0],
    )  # fmt: skip
    return report, news


def test_recovery_is_timed(aws, job, place):
    marked_at = job.now + 10
    report, news = watching(
        place,
        marked_at=marked_at,
        sleeps=[lambda: None, lambda: resumed(place, begins=marked_at + 300)],
    )
    assert report.recovered
    assert (report.resumed_step, report.steps_lost, report.tier) == (80, 20, "s3")
    assert report.first_step_minutes == pytest.approx((300 + 6) / 60)
    assert report.caught_up_minutes == pytest.approx((300 + 20 * 6) / 60)
    assert report.stage_seconds["job_restart"] == pytest.approx(310, abs=1)
    assert report.stage_seconds["lost_steps"] == pytest.approx(19 * 6, abs=7)
    assert news == [report]


def test_first_step_and_catching_up_are_two_pieces_of_news(aws, job, place):
    marked_at = job.now + 10
    again = []

    def begin():
        again.append(Job(place, begins=marked_at + 300))
        again[0].train(80, 81, tier="s3")

    def catch_up():
        for step in range(81, 110):
            again[0].now += 6
            again[0].clock.step_done(step)

    report, news = watching(place, marked_at=marked_at, sleeps=[begin, catch_up])
    assert [one.recovered for one in news] == [False, True]
    assert news[0].caught_up_minutes is None
    assert news[0].steps_lost == report.steps_lost == 20


def test_time_is_up(aws, job, place):
    report, news = watching(place, marked_at=job.now, sleeps=[], timeout=180)
    assert report == DrillReport(node=FIRST, marked_at=job.now)
    assert not report.recovered
    assert news == []


def test_recoveries_of_before_do_not_count(aws, job, place):
    resumed(place, begins=job.now - 30)
    report, _ = watching(place, marked_at=job.now, sleeps=[], timeout=60)
    assert report.first_step_minutes is None


def drill(said, place, *more, code=0, by=()):
    quick = ("--poll-seconds", "0.05", "--timeout-minutes", "0.2")
    return said("drill", "llm-train", "workers-1", "--recovery-records", place, *quick, *more, *by, code=code)


@pytest.fixture
def resumes(aws, place):
    """Replacing the node makes the job resume."""

    def replaced(request):
        threading.Timer(0.2, lambda: resumed(place, begins=time.time())).start()
        return {"Successful": request["NodeIds"]}

    aws.answers["BatchReplaceClusterNodes"] = replaced
    return aws


def test_the_whole(resumes, said, place):
    told = drill(said, place, "--yes", "--yes")
    assert resumes.requests("BatchReplaceClusterNodes") == [{"ClusterName": CLUSTER_ARN, "NodeIds": [FIRST]}]
    assert "where it had been after" in told.out
    assert "20 steps were lost" in told.out
    assert "from step 80 (s3)" in told.out
    assert "job restart" in told.out


def test_json(resumes, said, place):
    found = json.loads(drill(said, place, "--yes", "--yes", "--format", "json").out)
    assert found["report"]["recovered"]
    assert found["report"]["steps_lost"] == 20
    assert found["at_stake"]["steps"] == 20


@pytest.mark.parametrize(
    ("typed", "options", "asked"),
    [
        (["n"], [], 1),
        (["y", "y"], [], 2),
        (["y", "i-0123456789abcdef0"], [], 2),
        (["no"], ["--yes"], 1),
    ],
)
def test_it_asks_twice(aws, said, place, monkeypatch, typed, options, asked):
    monkeypatch.setattr("sys.stdin", Terminal("".join(f"{line}\n" for line in typed)))
    err = drill(said, place, *options, code=1).err
    assert err.count("? ") + err.count("destroyed [type") >= asked
    assert "nothing was done" in err
    assert aws.requests("BatchReplaceClusterNodes") == []


def test_two_answers_are_consent(resumes, said, place, monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal(f"yes\n{FIRST}\n"))
    assert f"sure? {FIRST} will be destroyed [type {FIRST}]" in drill(said, place).err


def test_once_yes_is_not_enough_where_nobody_answers(aws, said, place):
    assert "nobody can be asked here" in drill(said, place, "--yes", code=2).err


def test_a_dry_run_changes_nothing(aws, said, place):
    out = drill(said, place, "--dry-run").out
    assert "20 steps would be lost" in out
    assert out.endswith("a dry run: nothing was done\n")
    assert aws.requests("BatchReplaceClusterNodes") == []


def test_without_a_job_there_is_nothing_to_rehearse(aws, said, tmp_path):
    out = drill(said, str(tmp_path / "empty"), "--yes", "--yes", code=1).out
    assert "refused: no running job writes to" in out
    old = Job(tmp_path / "old", begins=time.time() - 9000)
    old.train(0, 10)
    assert (
        "refused: no running job writes to"
        in drill(said, str(tmp_path / "old"), "--yes", "--yes", code=1).out
    )
    assert aws.requests("BatchReplaceClusterNodes") == []


def test_the_controller_is_refused(aws, said, place):
    out = said(
        "drill", "llm-train", "controller-1", "--recovery-records", place, "--yes", "--yes", code=1
    ).out
    assert "is a Slurm controller" in out


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            {"Failed": [{"NodeId": FIRST, "ErrorCode": "InstanceIdInUse", "Message": "busy"}]},
            "InstanceIdInUse: busy",
        ),
        (error("ExpiredTokenException"), "have expired"),
    ],
)
def test_a_node_that_is_not_taken_on(aws, said, place, answer, message):
    aws.answers["BatchReplaceClusterNodes"] = answer
    err = drill(said, place, "--yes", "--yes", code=2).err
    assert f"workers-1 ({FIRST}) is not replaced: " in err
    assert message in err


def test_a_job_that_does_not_come_back(aws, said, place):
    aws.answers["BatchReplaceClusterNodes"] = {"Successful": [FIRST]}
    out = drill(said, place, "--yes", "--yes", "--timeout-minutes", "0.002", code=1).out
    assert "the job wrote no recovery: it did not resume, or it never left the node" in out


class TestBySlurm:
    def scontrol(self, programs, tmp_path, script="exit 0"):
        program = programs / "scontrol"
        line = "NodeName=ip-10-7-0-1 State=ALLOCATED"
        program.write_text(
            f'#!/bin/sh\ncase "$*" in *show*) echo "{line}";; '
            f'*) echo "$@" >> {tmp_path}/asked; {script};; esac\n'
        )
        program.chmod(0o755)

    def test_the_node_is_set_to_fail_in_the_words_of_hyperpod(self, aws, said, programs, place, tmp_path):
        self.scontrol(programs, tmp_path)
        drill(said, place, "--yes", "--yes", "--by", "slurm", "--timeout-minutes", "0.002", code=1)
        assert (tmp_path / "asked").read_text() == (
            "update node=ip-10-7-0-1 state=fail reason=Action:Replace\n"
        )
        assert aws.requests("BatchReplaceClusterNodes") == []

    def test_slurm_refuses(self, aws, said, programs, place, tmp_path):
        self.scontrol(programs, tmp_path, "echo 'slurm_update error: Access denied' >&2; exit 1")
        err = drill(said, place, "--yes", "--yes", "--by", "slurm", code=2).err
        assert "Slurm refuses: slurm_update error: Access denied" in err

    def test_it_needs_scontrol(self, aws, said, place):
        err = drill(said, place, "--yes", "--yes", "--by", "slurm", code=2).err
        assert "scontrol is not on this machine; run this on the controller, or say --by api" in err


def test_records_that_are_none_end_it(aws, place, job, tmp_path):
    (tmp_path / "recovery" / "20991130T000000.000000Z-a.jsonl").write_text("{}\n")
    with pytest.raises(OperationError, match="the records cannot be read"):
        starts_in(Aws(), place)
