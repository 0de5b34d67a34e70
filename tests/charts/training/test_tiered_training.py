"""The training code of examples/images/tiered in pods of its job, on stand-ins of both tiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from operator_double import kubeflow_pods, terminate
from rendered_jobs import example, manifest_of
from tiered_storage import MemoryTier, pods_environment, s3_bucket
from trained import machine, speaking
from training_environment import needs_linux, needs_tiered_package, needs_torchrun

from hyperpod_lifecycle.training import LocalKey

pytestmark = [needs_linux, needs_torchrun, needs_tiered_package]

IMAGE = Path(__file__).parents[3] / "examples" / "images" / "tiered"
URI = "s3://sagemaker-training-checkpoints/llama"


def job(steps: int, key: Path) -> dict[str, Any]:
    """Return the example with two pods of one process, and intervals that a test reaches."""
    changes = {
        "nodes": 2,
        "processes_per_node": 1,
        "script_args": ["--steps", str(steps), "--signing-key", str(key)],
        "tiered_checkpointing": {"memory_interval_steps": 4, "memory_percentage": 20},
        "checkpoint": {"s3_uri": URI, "s3_interval_steps": 40, "save_seconds": 20},
    }
    return manifest_of(example("tiered", **changes))


def test_it_goes_on_from_memory_and_from_s3_when_memory_is_gone(tmp_path: Path):
    key = tmp_path / "checkpoints.key"
    LocalKey.generate(key)
    with MemoryTier() as tier, s3_bucket(URI) as s3:
        variables = pods_environment(tmp_path / "customized", memory_tier=tier.url, s3=s3)
        here = machine(tmp_path, image=IMAGE, environment=variables)

        with kubeflow_pods(job(100_000, key), here) as pods:
            speaking(pods, r"begins at step 0 of 100000, 2 ranks")
            speaking(pods, r"saved step 3 to memory\n")
            speaking(pods, r"saved step 39 to memory and s3")
            ends = terminate(pods)
            said = "".join(pod.log for pod in pods)
        assert not any(end.killed for end in ends)
        assert all(end.code != 0 for end in ends)
        step = int(said.rpartition("saved step ")[2].split()[0])
        assert f"saved step {step} to memory and s3" in said
        assert max(tier.steps()) == step

        with kubeflow_pods(job(step + 3, key), here) as pods:
            speaking(pods, rf"begins at step {step + 1} of {step + 3}, 2 ranks")
            assert [pod.wait() for pod in pods] == [0, 0], "\n".join(pod.log for pod in pods)

        tier.lose_all()
        with kubeflow_pods(job(step + 5, key), here) as pods:
            speaking(pods, rf"begins at step {step + 3} of {step + 5}, 2 ranks")
            assert [pod.wait() for pod in pods] == [0, 0], "\n".join(pod.log for pod in pods)
        assert max(tier.steps()) == step + 4
