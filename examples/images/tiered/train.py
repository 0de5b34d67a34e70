"""Pre-training with checkpoints in the memory of the nodes and in Amazon S3, by managed tiered checkpointing.

The memory tier outlives processes and single nodes; what goes to Amazon S3 outlives them all. The intervals
come from the job specification, by its environment variables.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from concurrent.futures import Future
from types import FrameType
from typing import Any, NoReturn

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from amzn_sagemaker_checkpointing.checkpointing.filesystem.filesystem import (
    SageMakerTieredStorageReader,
    SageMakerTieredStorageWriter,
)
from amzn_sagemaker_checkpointing.config.sagemaker_checkpoint_config import SageMakerCheckpointConfig
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.parallel import DistributedDataParallel

INTERRUPTED = 128 + signal.SIGTERM
"""Exit code after SIGTERM. Not 0: a pod that nobody ended would count as done, and its job as finished."""

stopping = False


def on_sigterm(number: int, frame: FrameType | None) -> None:
    """Remember that the pod is to end. Saving here could interrupt a collective half-way."""
    del number, frame
    global stopping
    stopping = True


class Checkpoints:
    """Checkpoints of a run, one save at a time: two at once wait for each other for ever."""

    def __init__(self, *, memory_interval: int, s3_interval: int, s3_uri: str, namespace: str) -> None:
        self._memory_interval = memory_interval
        self._s3_interval = s3_interval
        self._s3_uri = s3_uri
        self._namespace = namespace
        # Saves go on beside the training, and in one group their collectives would mix with those of it.
        self._group = dist.new_group(backend="gloo")
        self._pending: Future[Any] | None = None

    def is_due(self, step: int) -> bool:
        """Tell whether a step ends with a save."""
        return (step + 1) % self._memory_interval == 0 or (step + 1) % self._s3_interval == 0

    def save(
        self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer, *, durable: bool = False
    ) -> None:
        """Begin to save; the step after it goes on meanwhile."""
        self.wait()
        parts = get_state_dict(model, optimizer)
        state = {"model": parts[0], "optimizer": parts[1], "step": torch.tensor(step)}
        lasts = durable or (step + 1) % self._s3_interval == 0
        writer = SageMakerTieredStorageWriter(
            checkpoint_config=self._configuration(save_to_s3=lasts), step=step
        )
        self._pending = dcp.async_save(state_dict=state, storage_writer=writer, process_group=self._group)
        if dist.get_rank() == 0:
            print(f"saves step {step} to memory{' and Amazon S3' if lasts else ''}", flush=True)

    def wait(self) -> None:
        """Wait for the save before, and let its failure end the run."""
        if self._pending is not None:
            self._pending.result()
            self._pending = None

    def load(self, model: nn.Module, optimizer: torch.optim.Optimizer, device: torch.device) -> int:
        """Load the newest checkpoint, wherever it is, and return the step after it; 0 without any."""
        seen = SageMakerTieredStorageReader(checkpoint_config=self._configuration()).read_metadata()
        # A rank alone may fail to see one: all go by what all see.
        sees = torch.tensor(int(bool(seen.state_dict_metadata)), device=device)
        dist.all_reduce(sees, dist.ReduceOp.MIN)
        if not sees:
            print("no checkpoint is seen, neither in memory nor in Amazon S3", file=sys.stderr, flush=True)
            return 0
        parts = get_state_dict(model, optimizer)
        state: dict[str, Any] = {"model": parts[0], "optimizer": parts[1], "step": torch.tensor(0)}
        dcp.load(state, storage_reader=SageMakerTieredStorageReader(checkpoint_config=self._configuration()))
        set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        return int(state["step"]) + 1

    def _configuration(self, *, save_to_s3: bool = False) -> SageMakerCheckpointConfig:
        return SageMakerCheckpointConfig(
            namespace=self._namespace,
            world_size=dist.get_world_size(),
            s3_tier_base_path=self._s3_uri,
            save_to_s3=save_to_s3,
        )


def train(options: argparse.Namespace) -> int:
    """Train, and return the exit code."""
    rank, device = dist.get_rank(), torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    torch.manual_seed(options.seed)
    model = nn.Sequential(nn.Linear(options.width, options.width), nn.Tanh(), nn.Linear(options.width, 1)).to(
        device
    )
    parallel = DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)
    optimizer = torch.optim.AdamW(parallel.parameters(), lr=options.learning_rate)
    checkpoints = Checkpoints(
        memory_interval=options.memory_interval,
        s3_interval=options.s3_interval,
        s3_uri=options.s3_uri,
        namespace=options.namespace,
    )
    begin = checkpoints.load(parallel, optimizer, device)
    if rank == 0:
        print(f"begins at step {begin} of {options.steps}, {dist.get_world_size()} ranks", flush=True)

    for step in range(begin, options.steps):
        generator = torch.Generator().manual_seed(options.seed * 1_000_003 + step * 4_099 + rank)
        inputs = torch.randn(options.batch, options.width, generator=generator).to(device)
        loss = nn.functional.mse_loss(parallel(inputs), inputs.sum(dim=1, keepdim=True).tanh())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        # One pod may be told to end before another: all stop after the same step.
        told = torch.tensor(int(stopping), device=device)
        dist.all_reduce(told, dist.ReduceOp.MAX)
        if rank == 0:
            print(f"step {step} loss {loss.item():.6f}", flush=True)
        if told or step + 1 == options.steps:
            checkpoints.save(step, parallel, optimizer, durable=True)
            checkpoints.wait()
            return INTERRUPTED if told else 0
        if checkpoints.is_due(step):
            checkpoints.save(step, parallel, optimizer)
    checkpoints.wait()
    return 0


def main() -> int:
    """Read the options, and train."""
    said = os.environ
    parser = argparse.ArgumentParser(
        description="Pre-train a small model with tiered checkpoints, and resume it."
    )
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=32, help="samples a rank")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory-interval", type=int, default=int(said["CHECKPOINT_MEMORY_INTERVAL_STEPS"]))
    parser.add_argument("--s3-interval", type=int, default=int(said["CHECKPOINT_S3_INTERVAL_STEPS"]))
    parser.add_argument("--s3-uri", default=said["CHECKPOINT_S3_URI"])
    parser.add_argument("--namespace", default=said["TRAINING_JOB_NAME"])
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, on_sigterm)
    # Saving in the background needs gloo beside what the training talks over.
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        return train(options)
    finally:
        dist.destroy_process_group()


def leave(code: int) -> NoReturn:
    """End the process without taking Python down first.

    Threads of gloo that DistributedDataParallel uses outlive destroy_process_group. One that lets go of a
    tensor while Python goes down aborts the process, with all its work done (pytorch/pytorch#179291), and
    torchrun waits five minutes for it on every other node.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(main())
