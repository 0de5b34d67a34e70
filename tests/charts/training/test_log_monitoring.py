"""Log monitoring of rendered HyperPodPyTorchJobs, by AWS's agent in the double of its operator."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from first_process import as_first_process
from operator_double import HyperPodOperator, Machine
from rendered_jobs import example, manifest_of
from trained import image_with, machine
from training_environment import PROGRAMS, needs_hyperpodrun, needs_linux, with_hyperpodrun

from hyperpod_model.job_spec import JobSpec
from hyperpod_model.monitored_output import command_keeps_output

pytestmark = [needs_linux, needs_hyperpodrun]

STARTS_WITHIN_SECONDS = 20
HANG = {"name": "hang", "pattern": "^step", "starts_within_seconds": STARTS_WITHIN_SECONDS}
FAULT = {"name": "third", "pattern": ".* 3 of 1 ranks", "fault_on_match": True}
RECOVERED = Path(__file__).parents[2] / "plugins" / "recovered_worker.py"
WORDS = [
    *([], ["--tee=0:1"], ["--tee=3"], ["--tee", "1"], ["-t", "1"], ["-t3"], ["-t=3"], ["--te=3"], ["--t=3"]),
    *(["--redirects=1"], ["--redirect=3"], ["-r", "3"], ["-r0:1,1:2"], ["--tee=1:0,0:3"]),
    *(["--tee=2", "--redirects=1"], ["--tee=0", "--tee=1"], ["--tee=3", "--log-dir=/tmp"]),
    *(
        ["--tee=0"],
        ["--tee=2"],
        ["-r2"],
        ["--tee=1:1"],
        ["--tee=0:2,1:3"],
        ["--tee=0:1,0:0"],
        ["--tee=1", "-t2"],
    ),
    *(["--tee=3", "--log-dir=/dev/null"], ["--tee=3", "--log_d", "/dev/null"], ["--role=3"]),
    *(["--standalone", "-t3"], ["--virtual-local-rank", "--tee=3"], ["--nnodes", "2", "a.py", "--tee=3"]),
]
REAL = """
import json, sys
from torch.distributed.run import config_from_args, get_args_parser
for words in json.loads(sys.argv[1]):
    config, _, _ = config_from_args(get_args_parser().parse_args(words + ["a.py"]))
    print(bool(config.logs_specs.reify({0: {}, 1: {}}).stdouts[0]))
"""
TALK = """
import logging, sys, time
logging.basicConfig(level=logging.INFO)
while True:
    logging.info("by logging")
    print("2026 behind a year", flush=True)
    print("on standard output", flush=True)
    time.sleep(0.2)
"""


def watched(*rules: dict[str, Any], **changes: Any) -> JobSpec:
    changes |= {"processes_per_node": 1, "checkpoint": None, "log_monitoring": list(rules)}
    return example("elastic", **changes)


def tiny(tmp_path: Path, spec: JobSpec) -> Machine:
    programs = tmp_path / "programs"
    programs.mkdir()
    return machine(
        tmp_path,
        programs=with_hyperpodrun(programs),
        image=image_with(tmp_path, spec.script),
        environment={"TINY_STEPS": "100000", "TINY_PAUSE_SECONDS": "0.05"},
    )


def without_tee(job: dict[str, Any]) -> dict[str, Any]:
    """The job as it was rendered before its log was kept for the agent."""
    (container,) = job["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"]
    container["command"].remove("--tee=0:1")
    return job


def test_a_job_that_prints_stays_healthy(tmp_path: Path):
    spec = watched(HANG)
    with HyperPodOperator(manifest_of(spec), tiny(tmp_path, spec), replicas=1) as operator:
        operator.start()
        operator.pods[0].wait_for(r"step 3 of 1 ranks")
        end = time.monotonic() + STARTS_WITHIN_SECONDS + 5
        while time.monotonic() < end:
            assert operator.status(0) == "running", operator.reason(0)
            time.sleep(0.5)


def test_without_the_option_a_job_that_prints_is_taken_for_hanging(tmp_path: Path):
    spec = watched(HANG)
    with HyperPodOperator(without_tee(manifest_of(spec)), tiny(tmp_path, spec), replicas=1) as operator:
        operator.start()
        operator.pods[0].wait_for(r"step 3 of 1 ranks")
        operator.wait_until(0, "faulted")
        assert operator.reason(0) == "LogHang_hang"


def test_a_line_that_is_a_fault_ends_the_attempt(tmp_path: Path):
    spec = watched(FAULT)
    with HyperPodOperator(manifest_of(spec), tiny(tmp_path, spec), replicas=1) as operator:
        operator.start()
        operator.wait_until(0, "faulted")
        assert operator.reason(0) == "LogFault_third"
        assert "[default0]:step 3 of 1 ranks" in operator.pods[0].log


@pytest.mark.parametrize("tee", ["0:1", "3"])
def test_only_standard_output_counts_and_from_the_start_of_a_line(tmp_path: Path, tee: str):
    rules = [
        {"name": name, "pattern": pattern, "fault_on_match": True}
        for name, pattern in (
            ("error", ".*by logging"),
            ("inside", "behind a year"),
            ("output", "on standard"),
        )
    ]
    spec = watched(*rules, environment={"PET_TEE": tee})
    here = tiny(tmp_path, spec)
    (script,) = (here.image["/workspace"]).iterdir()
    script.write_text(TALK)
    with HyperPodOperator(manifest_of(spec), here, replicas=1) as operator:
        operator.start()
        operator.wait_until(0, "faulted")
        assert operator.reason(0) == "LogFault_output"
        operator.pods[0].wait_for("by logging")
        operator.pods[0].wait_for("2026 behind a year")


@pytest.mark.parametrize(
    "environment", [{}, {"PET_TEE": "3"}, {"PET_TEE": "2", "PET_REDIRECTS": "0:1"}], ids=str
)
def test_options_are_read_as_torch_reads_them(environment: dict[str, str]):
    real = subprocess.run(
        [PROGRAMS / "python", "-c", REAL, json.dumps(WORDS)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    ours = [command_keeps_output(["hyperpodrun", *words, "a.py"], environment) for words in WORDS]
    assert dict(zip(map(str, WORDS), map(str, ours), strict=True)) == dict(
        zip(map(str, WORDS), real.stdout.split(), strict=True)
    )


def test_a_recovery_is_a_line_of_its_own_beside_the_tee(tmp_path: Path):
    """The container's output is a pipe, and the launcher its first process, as on a node."""
    recovery = tmp_path / "recovery"
    variables = {"KUBERNETES_SERVICE_HOST": "10.100.0.1"}
    spec = watched(HANG, script_args=[str(recovery)], environment=variables)
    here = tiny(tmp_path, spec)
    (script,) = here.image["/workspace"].iterdir()
    shutil.copyfile(RECOVERED, script)
    job = manifest_of(spec)
    (container,) = job["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"]
    assert "--tee=0:1" in container["command"]
    container["command"] = ["bash", "-c", '"$@" | cat', "pod", *as_first_process(), *container["command"]]
    with HyperPodOperator(job, here, replicas=1) as operator:
        operator.start()
        operator.wait_until(0, "completed")
        lines = operator.pods[0].log.splitlines()
    (told,) = [line for line in lines if '"kind":"recovery"' in line]
    assert json.loads(told)["complete"] is True
