"""The command of rendered PyTorchJobs, executed by a real torchrun in the double of the operator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from job_manifests import container_of, kubeflow_job, pod_spec, put
from operator_double import kubeflow_pods, terminate
from operator_double.kubeflow import kubeflow_pod
from operator_double.kubelet import free_port
from rendered_jobs import example, examples, manifest_of
from trained import image_with, machine, saved_steps, speaking
from training_environment import needs_linux, needs_torchrun

pytestmark = [needs_linux, needs_torchrun]

NEVER_ENDS = ["--steps", "100000", "--save-every", "100000", "--pause-seconds", "0.05"]
"""Saves on SIGTERM alone: that it resumes at a step says that it heard."""
SMALL: dict[str, Any] = {"processes_per_node": 1, "script_args": NEVER_ENDS}


@pytest.mark.parametrize(
    "changes",
    [{"processes_per_node": 2}, {"rendezvous": "master", "auto_resume": None}],
    ids=["elastic-policy", "master"],
)
def test_pods_meet_train_save_within_their_grace_period_and_resume(tmp_path: Path, changes: dict[str, Any]):
    spec = example("ddp-pretrain", **SMALL | changes)
    job, here = manifest_of(spec), machine(tmp_path)
    ranks = 2 * spec.resolved_processes_per_node

    with kubeflow_pods(job, here) as pods:
        assert len(pods) == spec.nodes == 2
        speaking(pods, rf"begins at step 0 of 100000, {ranks} ranks")
        speaking(pods, r"step 3 loss")
        ends = terminate(pods)
        (step,) = saved_steps(pods)
    assert step >= 3
    for ended in ends:
        assert not ended.killed
        assert ended.seconds < spec.grace_period_seconds
        assert ended.code != 0, "a container that ends well stays ended, and the job would be over"

    with kubeflow_pods(job, here) as pods:
        speaking(pods, rf"begins at step {step + 1} of 100000, {ranks} ranks")
        speaking(pods, rf"step {step + 2} loss")


def test_an_elastic_job_goes_on_with_fewer_pods_and_takes_new_ones_in(tmp_path: Path):
    elastic = {"nodes": None, "elastic": {"min_nodes": 1, "max_nodes": 2}}
    job = manifest_of(example("ddp-pretrain", **SMALL | elastic))
    # Waits of torchrun's rendezvous that are 30 and 15 seconds by default.
    waits = {"PET_RDZV_CONF": "last_call_timeout=5,keep_alive_interval=1"}
    here, port = machine(tmp_path, environment=waits), free_port()

    with kubeflow_pods(job, here, port=port) as (stays, goes):
        both = [stays, goes]
        speaking(both, r"begins at step 0 of 100000, 2 ranks")
        speaking(both, r"step 3 loss")
        (ended,) = terminate([goes])
        (first,) = saved_steps(both)
        assert not ended.killed

        speaking([stays], rf"begins at step {first + 1} of 100000, 1 ranks")
        speaking([stays], rf"step {first + 3} loss")
        with kubeflow_pod(job, here, "Worker", 1, port=port) as comes:
            now = [stays, comes]
            speaker = speaking(now, r"begins at step \d+ of 100000, 2 ranks", after=r", 1 ranks")
            second = saved_steps([stays])[-1]
            assert second >= first + 3
            speaking([speaker], rf"begins at step {second + 1} of 100000, 2 ranks", after=r", 1 ranks")
            speaking([speaker], rf"step {second + 2} loss")
            assert not any(end.killed for end in terminate(now))


@pytest.mark.parametrize(
    "name", [name for name in examples() if example(name).operator == "kubeflow" and name != "ddp-pretrain"]
)
def test_the_command_of_each_other_example_runs(tmp_path: Path, name: str):
    """With two pods of one process, and the stand-in for training code of images that are not ours."""
    spec = example(name, nodes=2, processes_per_node=1)
    here = machine(tmp_path, image=image_with(tmp_path, spec.script), environment={"TINY_STEPS": "3"})
    with kubeflow_pods(manifest_of(spec), here) as pods:
        assert [pod.wait() for pod in pods] == [0, 0], "\n".join(pod.log for pod in pods)
        log = "".join(pod.log for pod in pods)
    assert "begins at step 0 of 3, 2 ranks" in log
    assert "step 2 of 2 ranks" in log


class TestUsualSample:
    """A job as samples usually have it: workers alone that ask for the address of a master."""

    COMMAND = ("torchrun", "--nnodes=2", "--nproc_per_node=1", "--rdzv_backend=c10d")

    def job(self, endpoint: str) -> dict[str, Any]:
        job = put(kubeflow_job(), "replicas:replicas", 2)
        container = container_of(job)
        container["command"] = [*self.COMMAND, f"--rdzv_endpoint={endpoint}", "/workspace/train.py"]
        container["args"] = ["--steps", "3"]
        container["volumeMounts"], pod_spec(job)["volumes"] = [], []
        job["spec"]["elasticPolicy"] = {"rdzvBackend": "c10d", "minReplicas": 2, "maxReplicas": 2}
        return job

    def test_it_crashes_at_start(self, tmp_path: Path):
        with kubeflow_pods(self.job("$(MASTER_ADDR):$(MASTER_PORT)"), machine(tmp_path)) as pods:
            assert all(pod.wait() != 0 for pod in pods)
            for pod in pods:
                assert "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)" in pod.command
                assert "'$(MASTER_ADDR):$(MASTER_PORT)' must be an integer" in pod.log
                assert "begins at" not in pod.log

    def test_its_address_is_all_that_is_wrong(self, tmp_path: Path):
        with kubeflow_pods(self.job("$(PET_RDZV_ENDPOINT)"), machine(tmp_path)) as pods:
            assert [pod.wait() for pod in pods] == [0, 0], "\n".join(pod.log for pod in pods)

    def test_ours_of_the_same_size_does_not(self, tmp_path: Path):
        spec = example("ddp-pretrain", processes_per_node=1, script_args=["--steps", "3"])
        with kubeflow_pods(manifest_of(spec), machine(tmp_path)) as pods:
            assert [pod.wait() for pod in pods] == [0, 0], "\n".join(pod.log for pod in pods)


def test_a_job_that_loses_a_node_loses_the_steps_since_its_last_checkpoint(tmp_path: Path):
    often = [*NEVER_ENDS[:2], "--save-every", "5", *NEVER_ENDS[4:]]
    job, here = manifest_of(example("ddp-pretrain", **SMALL | {"script_args": often})), machine(tmp_path)
    with kubeflow_pods(job, here) as (stays, dies):
        speaking([stays, dies], r"saved step 9")
        dies.kill()
        # The container fails too, and by its restart policy starts again, with a new pod beside it.
        assert stays.wait() != 0
        step = max(saved_steps([stays, dies]))
    assert step % 5 == 4
    with kubeflow_pods(job, here) as pods:
        speaking(pods, rf"begins at step {step + 1} of 100000, 2 ranks")


def test_below_a_shell_training_never_hears_of_its_end(tmp_path: Path):
    """Why commands are in exec form."""
    job = manifest_of(example("ddp-pretrain", **SMALL))
    container = container_of(job)
    script = " ".join([*container["command"], *container.pop("args")])
    container["command"] = ["/bin/sh", "-c", f"{script}; exit $?"]
    pod_spec(job)["terminationGracePeriodSeconds"] = 15
    with kubeflow_pods(job, machine(tmp_path)) as pods:
        speaking(pods, r"step 3 loss")
        terminate(pods)
        assert saved_steps(pods) == []
