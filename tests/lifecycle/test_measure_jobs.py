"""The controller's count of running Slurm jobs: the step that sets it up, and the script that a timer runs.

squeue and aws are stand-ins: programs that answer what a test says, or write down what they are called with.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from node_scripts.node import NEEDED, Node
from node_scripts.scenarios import SCENARIOS

from hyperpod_lifecycle.node_parameters import NodeParameters
from hyperpod_lifecycle.scripts_folder import scripts_folder

SCRIPT = scripts_folder() / "lib" / "job_figures.py"
SAID = {
    "cluster": "llm-train",
    "dimension": "ClusterName",
    "metric": "RunningJobs",
    "namespace": "/aws/sagemaker/Clusters",
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

    def test_the_controller_counts(self, tmp_path: Path) -> None:
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


class Machine:
    """A PATH with the stand-ins alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = folder / "said.json"
        self.said.write_text(json.dumps(SAID))
        self.log = folder / "called"

    def program(self, name: str, text: str) -> None:
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def run(self) -> subprocess.CompletedProcess[str]:
        # The script adds places where programs are on a node; none of them has squeue or aws here.
        environment = {"PATH": f"{self.folder}", "LOG": str(self.log)}
        return subprocess.run(
            [sys.executable, "-I", "-S", str(SCRIPT), str(self.said)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    @property
    def called(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.program("aws", 'echo "$@" >>"$LOG"')
    return made


class TestScript:
    def test_puts_the_number_of_jobs(self, machine: Machine) -> None:
        # One line for each job, also where an array has several tasks of one id.
        machine.program("squeue", 'echo "squeue $@" >>"$LOG"; printf "7\\n8\\n9_1\\n9_2\\n"')
        result = machine.run()
        assert (result.returncode, result.stdout, result.stderr) == (0, "running jobs: 4\n", "")
        asked, put = machine.called.splitlines()
        assert asked == "squeue --noheader --states=RUNNING,COMPLETING --format=%i"
        assert put == (
            "cloudwatch put-metric-data --region us-west-2 --namespace /aws/sagemaker/Clusters --metric-name "
            "RunningJobs --dimensions ClusterName=llm-train --value 4 --unit Count"
        )

    def test_an_idle_fleet_has_none(self, machine: Machine) -> None:
        machine.program("squeue", "exit 0")
        assert machine.run().returncode == 0
        assert "--value 0 " in machine.called

    def test_puts_nothing_where_slurm_does_not_answer(self, machine: Machine) -> None:
        machine.program(
            "squeue", "echo slurm_load_jobs error: Unable to contact slurm controller >&2; exit 1"
        )
        result = machine.run()
        assert (result.returncode, machine.called) == (1, "")
        assert result.stderr == (
            "squeue does not answer, so that nothing is put: slurm_load_jobs error: Unable to contact slurm "
            "controller\n"
        )

    def test_puts_nothing_where_there_is_no_slurm(self, machine: Machine, monkeypatch, capsys) -> None:
        """In this process, without the places where this machine may have a squeue of its own."""
        script = runpy.run_path(str(SCRIPT))
        monkeypatch.setenv("PATH", str(machine.folder))
        monkeypatch.setenv("LOG", str(machine.log))
        monkeypatch.setitem(script["main"].__globals__, "PLACES", "")
        assert script["main"](str(machine.said)) == 1
        assert machine.called == ""
        assert "there is no squeue on this node" in capsys.readouterr().err

    def test_says_what_cloudwatch_refuses(self, machine: Machine) -> None:
        machine.program("squeue", "exit 0")
        machine.program("aws", "echo An error occurred >&2; echo AccessDenied: not authorized >&2; exit 254")
        result = machine.run()
        assert result.returncode == 1
        assert result.stderr == (
            "CloudWatch takes no number of jobs: AccessDenied: not authorized; see the role of the nodes, "
            "and the way to CloudWatch\n"
        )

    def test_says_that_the_node_has_no_way_to_put(self, machine: Machine) -> None:
        machine.program("squeue", "exit 0")
        (machine.folder / "aws").unlink()
        result = machine.run()
        assert result.returncode == 1
        assert result.stderr.startswith("this node has neither the AWS CLI nor boto3, so that nobody is told")


def test_the_parameters_that_nodes_get() -> None:
    made = json.loads(NodeParameters(orchestrator="slurm", job_figures_group="head").render())
    assert made["job_figures"] == {
        "group": "head",
        "minutes": 10,
        "namespace": "/aws/sagemaker/Clusters",
        "metric": "RunningJobs",
        "dimension": "ClusterName",
    }
    assert "job_figures" not in json.loads(NodeParameters(orchestrator="slurm").render())
