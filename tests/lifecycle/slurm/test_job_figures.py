"""Figures of jobs as a real Slurm without accounting tells of them; aws is a stand-in for the AWS CLI."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from local_slurm import LocalSlurm, needs_slurm
from node_scripts.machine import JOB_FIGURES

from hyperpod_lifecycle.scripts_folder import scripts_folder

pytestmark = [needs_slurm]

SCRIPT = scripts_folder() / "lib" / "job_figures.py"
FIGURES = ("RunningJobs", "PendingJobs", "LongestWait", "LongestRun")


class Figures:
    """What the script puts, at any time of a test."""

    def __init__(self, slurm: LocalSlurm, folder: Path) -> None:
        self._slurm, self._folder = slurm, folder
        self._data = folder / "data"
        aws = folder / "aws"
        aws.write_text(f'#!/bin/sh\nfor last; do :; done; echo "$last" >"{self._data}"\n')
        aws.chmod(0o755)
        said = {**JOB_FIGURES, "cluster": "llm-train", "region": "us-west-2"}
        (folder / "said.json").write_text(json.dumps(said))

    def measure(self) -> dict[str | None, dict[str, Any]]:
        """By partition; None is the cluster."""
        path = f"{self._folder}:{self._slurm.environment['PATH']}"
        self._slurm.run(
            *(sys.executable, "-I", "-S", str(SCRIPT), str(self._folder / "said.json")),
            environment={"PATH": path, "TZ": "Asia/Kathmandu", "SLURM_TIME_FORMAT": "relative"},
        )
        found: dict[str | None, dict[str, Any]] = {}
        for datum in json.loads(self._data.read_text()):
            queue = {one["Name"]: one["Value"] for one in datum["Dimensions"]}.get("Queue")
            found.setdefault(queue, {})[datum["MetricName"]] = datum["Value"]
        return found

    def counts(self) -> tuple[int, int]:
        """Running and pending jobs."""
        whole = self.measure()[None]
        return whole["RunningJobs"], whole["PendingJobs"]


@pytest.fixture
def figures(plain: LocalSlurm, tmp_path: Path) -> Figures:
    return Figures(plain, tmp_path)


@pytest.fixture
def sleeper(tmp_path: Path) -> str:
    file = tmp_path / "sleep.sbatch"
    file.write_text("#!/bin/sh\nexec sleep 600\n")
    return str(file)


def test_an_idle_partition_has_zeros(figures: Figures) -> None:
    zeros = dict.fromkeys(FIGURES, 0)
    assert figures.measure() == {None: zeros, "dev": zeros}


def test_jobs_that_run_and_jobs_that_wait(plain: LocalSlurm, figures: Figures, sleeper: str) -> None:
    for _ in plain.nodes:
        plain.wait_for_state(plain.submit("--nodes=1", "--exclusive", sleeper), "RUNNING")
    waits = plain.submit("--nodes=1", "--exclusive", sleeper)
    # Each task of an array waits.
    plain.submit("--nodes=1", "--exclusive", "--array=1-3", sleeper)
    plain.wait_until("five that run and four that wait", lambda: figures.counts() == (5, 4))
    measured = plain.wait_until(
        "a wait of seconds",
        lambda: found if (found := figures.measure())[None]["LongestWait"] >= 2 else None,
    )
    assert measured["dev"] == measured[None]
    # In another zone of time than the script's: a wait of hours would be the difference of zones.
    assert measured[None]["LongestWait"] <= measured[None]["LongestRun"] < 600
    plain.run("scontrol", "hold", waits)
    plain.wait_until("three that wait", lambda: figures.counts() == (5, 3))
    plain.run("scontrol", "release", waits)
    plain.wait_until("four that wait again", lambda: figures.counts() == (5, 4))


def test_jobs_that_wait_for_what_their_owner_named(plain: LocalSlurm, figures: Figures, sleeper: str) -> None:
    first = plain.submit("--nodes=1", "--exclusive", sleeper)
    plain.wait_for_state(first, "RUNNING")
    plain.submit(f"--dependency=afterok:{first}", sleeper)
    plain.submit(f"--dependency=afternotok:{first}", sleeper)
    plain.submit("--begin=now+1hour", sleeper)
    plain.submit("--hold", sleeper)
    plain.submit("--nodes=1", "--exclusive", "--array=1-4%1", sleeper)
    plain.wait_until("two that run", lambda: figures.counts() == (2, 0))


def test_a_run_begins_anew_where_a_job_is_requeued(plain: LocalSlurm, figures: Figures, sleeper: str) -> None:
    job = plain.submit("--nodes=1", "--requeue", sleeper)
    plain.wait_for_state(job, "RUNNING")
    old = plain.wait_until(
        "a run of seconds", lambda: found if (found := figures.measure()[None]["LongestRun"]) >= 5 else None
    )
    plain.run("scontrol", "requeue", job)
    plain.wait_until("restart", lambda: plain.show("job", job)["Restarts"] == "1")
    plain.wait_for_state(job, "RUNNING")
    assert figures.measure()[None]["LongestRun"] < old
