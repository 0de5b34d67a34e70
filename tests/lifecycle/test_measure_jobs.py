"""The controller's figures of Slurm's jobs: the step that sets them up, and the script that a timer runs.

Slurm's programs and aws are stand-ins: they answer what a test says, or write down what they are called with.
What a real Slurm answers is in ``tests/lifecycle/slurm``; accounting answers here as slurmdbd 22.05.8 did
when it was tried by hand: a job that was requeued by a preemption is a duplicate in state PREEMPTED.
"""

from __future__ import annotations

import calendar
import json
import runpy
import subprocess
import sys
import time
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from node_scripts.machine import JOB_FIGURES
from node_scripts.node import NEEDED, Node
from node_scripts.scenarios import SCENARIOS

from hyperpod_lifecycle.node_parameters import NodeParameters
from hyperpod_lifecycle.scripts_folder import scripts_folder

SCRIPT = scripts_folder() / "lib" / "job_figures.py"
SAID = {
    **{name: value for name, value in JOB_FIGURES.items() if name != "group"},
    "cluster": "llm-train",
    "region": "us-west-2",
}
UNITS = "etc/systemd/system/hyperpod-job-figures"


def scenario(name: str):
    (found,) = (one for one in SCENARIOS if one.name == name)
    return found


@pytest.mark.needs_system(*NEEDED)
class TestStep:
    def provisioned(self, tmp_path: Path, name: str) -> Path:
        node = Node(tmp_path, scenario(name))
        result = node.run(scenario(name).entry_point)
        assert result.returncode == 0, result.stdout + result.stderr
        return node.root

    def test_the_controller_measures(self, tmp_path: Path) -> None:
        root = self.provisioned(tmp_path, "controller, HyperPod configures Slurm")
        assert json.loads((root / "opt/hyperpod/job_figures.json").read_text()) == SAID
        assert (root / "opt/hyperpod/job_figures.py").read_bytes() == SCRIPT.read_bytes()
        assert "OnCalendar=*:0/10\n" in (root / f"{UNITS}.timer").read_text()
        command = "/usr/bin/python3 -I /opt/hyperpod/job_figures.py /opt/hyperpod/job_figures.json"
        assert f"ExecStart={command}\n" in (root / f"{UNITS}.service").read_text()
        states = {path.name for path in (root / "var/lib/stand-ins/systemd").iterdir()}
        assert {"hyperpod-job-figures.timer.enabled", "hyperpod-job-figures.timer.running"} <= states

    @pytest.mark.parametrize("name", ["worker, HyperPod configures Slurm", "EKS worker", "nothing rendered"])
    def test_other_nodes_do_not(self, tmp_path: Path, name: str) -> None:
        root = self.provisioned(tmp_path, name)
        assert not (root / f"{UNITS}.timer").exists()
        assert not (root / "opt/hyperpod/job_figures.json").exists()

    def test_parameters_of_another_version_are_refused(self, tmp_path: Path) -> None:
        found = scenario("controller, HyperPod configures Slurm")
        older = {name: value for name, value in JOB_FIGURES.items() if name != "figures"}
        node = Node(tmp_path, replace(found, parameters={**found.parameters, "job_figures": older}))
        assert node.run("steps/identify_node.sh").returncode == 0
        result = node.run("steps/measure_jobs.sh")
        assert result.returncode == 70
        said = result.stdout + result.stderr
        assert (
            "cannot tell where to put figures of jobs: KeyError: 'figures'; remedy: render the param" in said
        )
        assert not (node.root / f"{UNITS}.timer").exists()


class Machine:
    """A PATH with the stand-ins alone: Slurm with two partitions, and accounting that knows no job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = folder / "said.json"
        self.said.write_text(json.dumps(SAID))
        self.log = folder / "called"
        self.data = folder / "data"
        self.program("aws", 'echo "$@" >>"$LOG"; for last; do :; done; echo "$last" >>"$DATA"')
        self.tells("squeue")
        self.tells("sinfo", "dev", "high")
        self.tells("scontrol", "AccountingStorageType   = accounting_storage/slurmdbd")
        self.tells("sacct")

    def program(self, name: str, text: str) -> None:
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def tells(self, name: str, *lines: str) -> None:
        written = "".join(f"echo '{line}'\n" for line in lines)
        self.program(name, f'echo "{name} $TZ $SLURM_TIME_FORMAT $@" >>"$LOG"\n{written}')

    def fails(self, name: str, line: str) -> None:
        self.program(name, f"echo '{name}: error: first' >&2; echo '{line}' >&2; exit 1")

    @property
    def environment(self) -> dict[str, str]:
        # The script adds places where programs are on a node; none of them has aws here.
        return {"PATH": f"{self.folder}", "LOG": str(self.log), "DATA": str(self.data)}

    def run(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-S", str(SCRIPT), str(self.said)],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def run_at(self, moment: str, monkeypatch: pytest.MonkeyPatch) -> int:
        """Run the script in this process at a moment of a clock, without this machine's own Slurm."""
        script = runpy.run_path(str(SCRIPT))
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setitem(script["main"].__globals__, "PLACES", "")
        at = calendar.timegm(time.strptime(f"2026-11-30T{moment}", "%Y-%m-%dT%H:%M:%S"))
        monkeypatch.setattr("time.time", lambda: float(at))
        code: int = script["main"](str(self.said))
        return code

    @property
    def called(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def figures(self) -> dict[str | None, dict[str, Any]]:
        """What was put, by partition; None is the cluster."""
        found: dict[str | None, dict[str, Any]] = {}
        for line in self.data.read_text().splitlines():
            for datum in json.loads(line):
                dimensions = {one["Name"]: one["Value"] for one in datum["Dimensions"]}
                assert dimensions.pop("ClusterName") == "llm-train"
                found.setdefault(dimensions.pop("Queue", None), {})[datum["MetricName"]] = datum["Value"]
                assert dimensions == {}
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def listed(
    state: str, begin: str, *, partition: str = "dev", priority: str = "4294901757", reason: str = "None"
) -> str:
    """A line of squeue: a job that runs since a time of the day, or that may run since then."""
    known = begin if begin == "N/A" else f"2026-11-30T{begin}"
    eligible, start = (known, "N/A") if state == "PENDING" else ("2026-11-30T01:00:00", known)
    return f"{partition}|{state}|{priority}|{eligible}|{start}|{reason}|"


class TestScript:
    def test_puts_figures_of_all_and_of_each_partition(self, machine: Machine, monkeypatch, capsys) -> None:
        machine.tells(
            "squeue",
            listed("RUNNING", "12:00:00"),
            listed("COMPLETING", "11:00:00"),
            listed("PENDING", "12:09:00", reason="Priority"),
            listed("PENDING", "12:00:00", partition="dev,high", reason="Resources"),
        )
        machine.tells("sinfo", "dev", "high", "idle")
        machine.tells("sacct", "high|2026-11-30T12:05:00")
        assert machine.run_at("12:10:00", monkeypatch) == 0
        zeros = dict.fromkeys(("RunningJobs", "PendingJobs", "PreemptedJobs", "LongestWait", "LongestRun"), 0)
        assert machine.figures() == {
            None: {
                "RunningJobs": 2,
                "PendingJobs": 2,
                "PreemptedJobs": 1,
                "LongestWait": 600,
                "LongestRun": 4200,
            },
            "dev": {
                "RunningJobs": 2,
                "PendingJobs": 2,
                "PreemptedJobs": 0,
                "LongestWait": 600,
                "LongestRun": 4200,
            },
            "high": {**zeros, "PendingJobs": 1, "PreemptedJobs": 1, "LongestWait": 600},
            "idle": zeros,
        }
        assert capsys.readouterr().out == (
            "RunningJobs: 2, LongestRun: 4200, PendingJobs: 2, LongestWait: 600, PreemptedJobs: 1\n"
        )

    def test_what_it_asks_and_puts(self, machine: Machine, monkeypatch) -> None:
        assert machine.run_at("12:10:00", monkeypatch) == 0
        squeue, sinfo, scontrol, sacct, aws = machine.called
        assert squeue == (
            "squeue UTC standard --noheader --all --array --states=PENDING,RUNNING,COMPLETING "
            "--Format=Partition:|,State:|,PriorityLong:|,EligibleTime:|,StartTime:|,Reason:|"
        )
        assert sinfo == "sinfo UTC standard --noheader --all --format=%R"
        assert scontrol == "scontrol UTC standard show config"
        assert sacct == (
            "sacct UTC standard --noheader --parsable2 --allusers --allocations --duplicates "
            "--state=PREEMPTED --format=Partition,End --starttime=2026-11-30T11:59:00 "
            "--endtime=2026-11-30T12:09:00"
        )
        assert aws.startswith(
            "cloudwatch put-metric-data --region us-west-2 --namespace /aws/sagemaker/Clusters --metric-data "
            '[{"MetricName": "RunningJobs", "Dimensions": [{"Name": "ClusterName", "Value": "llm-train"}], '
            '"Value": 0, "Unit": "Count"}, {"MetricName": "LongestRun", '
        )

    @pytest.mark.parametrize(
        ("line", "seconds"),
        [
            (listed("PENDING", "12:00:00", reason="Resources"), 600),
            (listed("PENDING", "12:00:00", reason="QOSMaxGRESPerUser"), 600),
            (listed("PENDING", "12:00:00", reason="Nodes_required_for_job_are_DOWN,_DRAINED"), 600),
            # Held, in whatever words.
            (listed("PENDING", "12:00:00", priority="0", reason="JobHeldUser"), None),
            (listed("PENDING", "12:00:00", priority="0", reason="launch_failed_requeued_held"), None),
            (listed("PENDING", "N/A", reason="Dependency"), None),
            (listed("PENDING", "12:00:00", reason="DependencyNeverSatisfied"), None),
            (listed("PENDING", "12:30:00", reason="BeginTime"), None),
            (listed("PENDING", "12:30:00", reason="None"), None),
            (listed("PENDING", "12:00:00", reason="JobArrayTaskLimit"), None),
            # Nobody has looked yet since when it may run.
            (listed("PENDING", "N/A", reason="None"), None),
            (listed("RUNNING", "12:00:00"), None),
        ],
    )
    def test_what_waits(self, machine: Machine, monkeypatch, line: str, seconds: int | None) -> None:
        machine.tells("squeue", line)
        assert machine.run_at("12:10:00", monkeypatch) == 0
        whole = machine.figures()[None]
        assert (whole["PendingJobs"], whole["LongestWait"]) == (int(seconds is not None), seconds or 0)

    @pytest.mark.parametrize(
        ("now", "times"),
        [("12:10:00", 0), ("12:10:01", 0), ("12:20:00", 3), ("12:29:59", 3), ("12:30:00", 1)],
    )
    def test_each_preemption_is_of_one_check(
        self, machine: Machine, monkeypatch, now: str, times: int
    ) -> None:
        """Accounting answers with more than was asked for, as its bounds are inclusive."""
        ends = ("12:09:00", "12:10:00", "12:18:59", "12:19:00")
        machine.tells("sacct", *(f"dev|2026-11-30T{end}" for end in ends), "dev|Unknown")
        assert machine.run_at(now, monkeypatch) == 0
        assert machine.figures()[None]["PreemptedJobs"] == times

    @pytest.mark.parametrize("storage", ["accounting_storage/none", "(null)"])
    def test_without_accounting_nobody_knows_of_preemptions(
        self, machine: Machine, monkeypatch, storage: str
    ) -> None:
        machine.tells("scontrol", f"AccountingStorageType   = {storage}")
        assert machine.run_at("12:10:00", monkeypatch) == 0
        assert all("PreemptedJobs" not in one for one in machine.figures().values())
        assert not any(line.startswith("sacct") for line in machine.called)

    def test_puts_the_rest_where_accounting_does_not_answer(self, machine: Machine) -> None:
        machine.fails("sacct", "sacct: error: Problem talking to the database: Connection refused")
        result = machine.run()
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == (
            "accounting does not answer, so that preempted jobs are not put: sacct: error: Problem talking "
            "to the database: Connection refused\n"
        )
        assert set(machine.figures()[None]) == {"RunningJobs", "PendingJobs", "LongestWait", "LongestRun"}

    def test_puts_the_rest_where_nobody_names_partitions(self, machine: Machine, monkeypatch, capsys) -> None:
        machine.tells("squeue", listed("RUNNING", "12:00:00"))
        machine.fails("sinfo", "slurm_load_partitions: Unable to contact slurm controller")
        assert machine.run_at("12:10:00", monkeypatch) == 1
        assert "sinfo does not answer, so that idle partitions are not put" in capsys.readouterr().err
        assert set(machine.figures()) == {None, "dev"}

    def test_an_idle_fleet_has_none(self, machine: Machine) -> None:
        assert machine.run().returncode == 0
        assert machine.figures()[None]["RunningJobs"] == 0

    def test_many_partitions_go_in_several_calls(self, machine: Machine) -> None:
        machine.tells("sinfo", *(f"team-{number}-{'x' * 100}" for number in range(300)))
        assert machine.run().returncode == 0
        batches = [json.loads(line) for line in machine.data.read_text().splitlines()]
        assert sum(map(len, batches)) == 5 * 301
        assert max(len(json.dumps(batch)) for batch in batches) < 128 * 1024

    def test_puts_nothing_where_slurm_does_not_answer(self, machine: Machine) -> None:
        machine.fails("squeue", "slurm_load_jobs error: Unable to contact slurm controller")
        result = machine.run()
        assert (result.returncode, machine.called) == (1, [])
        assert result.stderr == (
            "squeue does not answer, so that nothing is put: slurm_load_jobs error: Unable to contact slurm "
            "controller\n"
        )

    def test_puts_nothing_where_squeue_says_what_nobody_understands(self, machine: Machine) -> None:
        machine.tells("squeue", "dev|RUNNING|1|2026-11-30T12:00:00|yesterday|None|")
        result = machine.run()
        assert result.returncode == 1
        assert "squeue does not answer, so that nothing is put: time data 'yesterday' does not match" in (
            result.stderr
        )
        assert not machine.data.exists()

    def test_puts_nothing_where_there_is_no_slurm(self, machine: Machine, monkeypatch, capsys) -> None:
        (machine.folder / "squeue").unlink()
        assert machine.run_at("12:10:00", monkeypatch) == 1
        assert machine.called == []
        assert "there is no squeue on this node" in capsys.readouterr().err

    def test_says_what_cloudwatch_refuses(self, machine: Machine) -> None:
        machine.fails("aws", "AccessDenied: not authorized")
        result = machine.run()
        assert result.returncode == 1
        assert result.stderr == (
            "CloudWatch takes no figures of jobs: AccessDenied: not authorized; see the role of the nodes, "
            "and the way to CloudWatch\n"
        )

    def test_says_that_the_node_has_no_way_to_put(self, machine: Machine) -> None:
        (machine.folder / "aws").unlink()
        result = machine.run()
        assert result.returncode == 1
        assert result.stderr.startswith("this node has neither the AWS CLI nor boto3, so that nobody is told")

    def test_puts_with_boto3_where_there_is_no_cli(self, machine: Machine, monkeypatch) -> None:
        (machine.folder / "aws").unlink()
        calls: list[dict[str, Any]] = []
        client = types.SimpleNamespace(put_metric_data=lambda **data: calls.append(data))
        there = types.SimpleNamespace(client=lambda name, region_name: client)
        monkeypatch.setitem(sys.modules, "boto3", there)
        assert machine.run_at("12:10:00", monkeypatch) == 0
        (call,) = calls
        assert call["Namespace"] == "/aws/sagemaker/Clusters"
        # The cluster and two partitions.
        assert len(call["MetricData"]) == 15


def test_the_parameters_that_nodes_get() -> None:
    made = json.loads(NodeParameters(orchestrator="slurm", job_figures_group="controller").render())
    assert made["job_figures"] == JOB_FIGURES
    assert "job_figures" not in json.loads(NodeParameters(orchestrator="slurm").render())
