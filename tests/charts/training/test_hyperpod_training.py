"""The command of rendered HyperPodPyTorchJobs, executed by AWS's agent in the double of its operator."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from operator_double import HyperPodOperator, Machine, terminate
from rendered_jobs import example, manifest_of
from trained import image_with, machine, saved_steps, speaking
from training_environment import needs_hyperpodrun, needs_linux, with_hyperpodrun

pytestmark = [needs_linux, needs_hyperpodrun]

NEVER_ENDS = ["--steps", "100000", "--save-every", "100000", "--pause-seconds", "0.05"]
DDP: dict[str, Any] = {"operator": "hyperpod", "namespace": "training", "processes_per_node": 1}


@pytest.fixture
def here(tmp_path: Path) -> Machine:
    programs = tmp_path / "programs"
    programs.mkdir()
    return machine(tmp_path, programs=with_hyperpodrun(programs))


def test_pods_train_save_within_their_grace_period_and_resume(here: Machine):
    spec = example("ddp-pretrain", **DDP, script_args=NEVER_ENDS)
    job = manifest_of(spec)
    with HyperPodOperator(job, here) as operator:
        operator.start()
        speaking(operator.pods, r"begins at step 0 of 100000, 2 ranks")
        speaking(operator.pods, r"step 3 loss")
        ends = terminate(operator.pods)
        (step,) = saved_steps(operator.pods)
    assert step >= 3
    for ended in ends:
        assert not ended.killed
        assert ended.seconds < spec.grace_period_seconds

    with HyperPodOperator(job, here) as operator:
        operator.start()
        speaking(operator.pods, rf"begins at step {step + 1} of 100000, 2 ranks")
        speaking(operator.pods, rf"step {step + 2} loss")


def test_a_process_that_dies_costs_the_steps_since_the_last_checkpoint_and_no_pod(here: Machine):
    args = ["--steps", "100000", "--save-every", "5", "--pause-seconds", "0.05"]
    with HyperPodOperator(manifest_of(example("ddp-pretrain", **DDP, script_args=args)), here) as operator:
        operator.start()
        speaking(operator.pods, r"saved step 9")
        (process,) = operator.pods[1].processes("train.py")
        os.kill(process, signal.SIGKILL)
        operator.wait_until(1, "faulted")
        operator.stop(graceful=False, timeout_seconds=10)
        step = max(saved_steps(operator.pods))
        operator.start()
        speaking(operator.pods, rf"begins at step {step + 1} of 100000, 2 ranks")
        assert [pod.code for pod in operator.pods] == [None, None]


def test_an_elastic_job_saves_before_it_grows_and_before_it_shrinks(tmp_path: Path, here: Machine):
    sizes = {"min_nodes": 1, "max_nodes": 2, "step_nodes": 1, "graceful_shutdown_timeout_seconds": 90}
    spec = example("elastic", elastic=sizes, processes_per_node=1)
    tiny = Machine(
        programs=here.programs,
        image={"/workspace": image_with(tmp_path, spec.script)},
        claims=here.claims,
        work=here.work,
        environment={"TINY_STEPS": "100000", "TINY_PAUSE_SECONDS": "0.05"},
    )
    job = manifest_of(spec)
    grace = job["spec"]["elasticPolicy"]["gracefulShutdownTimeoutInSeconds"]
    with HyperPodOperator(job, tiny, replicas=1) as operator:
        (first,) = operator.pods
        operator.start()
        first.wait_for(r"begins at step 0 of 100000, 1 ranks")
        first.wait_for(r"step 3 of 1 ranks")
        operator.stop(graceful=True, timeout_seconds=grace)
        (grown_at,) = saved_steps(operator.pods)

        operator.add_pod()
        operator.start()
        speaking(operator.pods, rf"begins at step {grown_at + 1} of 100000, 2 ranks")
        speaking(operator.pods, rf"step {grown_at + 4} of 2 ranks")
        operator.stop(graceful=True, timeout_seconds=grace)
        shrunk_at = saved_steps(operator.pods)[-1]
        assert shrunk_at >= grown_at + 4

        operator.start(count=1)
        first.wait_for(rf"begins at step {shrunk_at + 1} of 100000, 1 ranks")
        first.wait_for(rf"step {shrunk_at + 2} of 1 ranks")


def test_without_signal_coordination_the_same_job_loses_its_steps(tmp_path: Path, here: Machine):
    """Why elastic jobs have the variable: training code hears of no change without it."""
    spec = example("elastic", processes_per_node=1)
    tiny = Machine(
        programs=here.programs,
        image={"/workspace": image_with(tmp_path, spec.script)},
        claims=here.claims,
        work=here.work,
        environment={"TINY_STEPS": "100000", "TINY_PAUSE_SECONDS": "0.05"},
    )
    job = manifest_of(spec)
    (container,) = job["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"]
    container["env"] = [said for said in container["env"] if said["name"] != "HYPERPOD_SIGNAL_COORDINATION"]
    with HyperPodOperator(job, tiny, replicas=1) as operator:
        operator.start()
        operator.pods[0].wait_for(r"step 3 of 1 ranks")
        operator.stop(graceful=True, timeout_seconds=3)
        assert saved_steps(operator.pods) == []


def test_the_agent_of_a_checkpointless_job_starts(tmp_path: Path, here: Machine):
    """No further: its processes wait for AWS's checkpointless package, which needs GPUs."""
    spec = example("checkpointless", processes_per_node=1)
    tiny = Machine(
        programs=here.programs,
        image={"/workspace": image_with(tmp_path, spec.script)},
        claims=here.claims,
        work=here.work,
        environment={"TINY_STEPS": "3"},
    )
    with HyperPodOperator(manifest_of(spec), tiny, replicas=1) as operator:
        operator.wait_until(0, "init")
        assert "--inprocess-restart" in operator.pods[0].command
        (ended,) = terminate(operator.pods)
    assert not ended.killed
