"""The command as a process: what it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest
from collective_logs import JobLog
from job_manifests import kubeflow_job

from hyperpod_charts.command import main

PROBE = """
import sys
from hyperpod_charts.command import main
code = main({arguments!r})
sys.stderr.write(" ".join(sys.modules))
sys.exit(code)
"""
NODE = {"cdk8s", "jsii", "constructs", "aws_cdk"}


def _loaded(folder, *arguments):
    ran = subprocess.run(
        [sys.executable, "-c", PROBE.format(arguments=arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, set(ran.stderr.split())


@pytest.fixture
def files(save, job):
    save("job.yaml", job)
    save("manifest.json", kubeflow_job())
    save("pod.log", JobLog().text())


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "job.yaml", "manifest.json"),
        ("explain", "job.yaml"),
        ("explain", "checkpoint.path"),
        ("check-logs", "pod.log"),
        ("check-logs", "pod.log", "--job", "job.yaml"),
        ("render", "no-such-job.yaml"),
    ],
    ids=" ".join,
)
def test_only_rendering_starts_node(files, folder, arguments):
    code, modules = _loaded(folder, *arguments)
    assert code == (2 if arguments[0] == "render" else 0)
    assert not modules & NODE


def test_a_log_is_read_without_what_jobs_need(files, folder):
    _, modules = _loaded(folder, "check-logs", "pod.log")
    assert not modules & {"pydantic", "yaml", "rich"}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("validate", "--help")], ids=" ".join)
def test_help_and_version_load_neither_rules_nor_specifications(folder, arguments):
    code, modules = _loaded(folder, *arguments)
    assert code == 0
    assert not modules & {"hyperpod_policy.registry", "hyperpod_model.job_spec", "pydantic"}


def test_the_command_runs_as_a_module(folder):
    ran = subprocess.run(
        [sys.executable, "-m", "hyperpod_charts.command", "--version"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout.partition(" ")[0]) == (0, "hyperpod-jobs")


def test_an_unknown_command_is_refused(capsys):
    assert main(["rendr"]) == 2
    assert "invalid choice: 'rendr'" in capsys.readouterr().err


def test_a_fault_of_the_command_itself_is_no_finding(save, run, job, monkeypatch):
    monkeypatch.setattr("hyperpod_charts.command.validate.read_files", lambda *_: 1 / 0)
    ran = run("validate", save("job.yaml", job))
    assert ran.code == 2
    assert "this is a fault of hyperpod-jobs itself" in ran.err
