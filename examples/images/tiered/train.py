"""Pre-training with checkpoints in the memory of the nodes and in Amazon S3, by managed tiered checkpointing.

The memory tier outlives processes and single nodes; what goes to Amazon S3 outlives them all. The intervals
come from the job specification, by its environment variables. Both tiers are verified before anything of them
is unpickled.
"""

from __future__ import annotations

import argparse
import logging
import os
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.parallel import DistributedDataParallel

from hyperpod_lifecycle.training import (
    CrashLoopGuard,
    FiniteChecks,
    KmsKey,
    LocalKey,
    LoopState,
    ResumableBatches,
    RunRecords,
    SampleOrder,
    SaveReport,
    SaveSchedule,
    SigningKey,
    StopSignal,
    TieredCheckpoints,
    TorchCoordinator,
    TrainingRun,
    leave,
)


def made_up(numbers: list[int], width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make samples that follow from their numbers."""
    inputs = torch.stack(
        [torch.randn(width, generator=torch.Generator().manual_seed(number)) for number in numbers]
    )
    return inputs, inputs.sum(dim=1, keepdim=True).tanh()


def train(options: argparse.Namespace, key: SigningKey, guard: CrashLoopGuard, recovery: str) -> int:
    """Train, and return the exit code."""
    rank, ranks, device = dist.get_rank(), dist.get_world_size(), torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    torch.manual_seed(options.seed)
    model = nn.Sequential(nn.Linear(options.width, options.width), nn.Tanh(), nn.Linear(options.width, 1)).to(
        device
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
    batches = ResumableBatches(
        SampleOrder(options.samples, seed=options.seed), samples_a_rank=options.batch, rank=rank, ranks=ranks
    )
    loop = LoopState(parts={"batches": batches})
    schedule = SaveSchedule(every_steps=options.memory_interval, durable_every_steps=options.s3_interval)

    def state() -> dict[str, Any]:
        weights, moments = get_state_dict(model, optimizer)
        return {"model": weights, "optimizer": moments}

    def on_saved(report: SaveReport) -> None:
        run.on_saved(report)
        if rank == 0:
            print(f"saved step {report.step} to {' and '.join(report.tiers)}", flush=True)

    with (
        StopSignal() as stop,
        TrainingRun(
            steps=options.steps,
            schedule=schedule,
            coordinator=TorchCoordinator(),
            stop=stop,
            loop=loop,
            batches=batches,
            guard=guard,
            records=RunRecords(recovery) if rank == 0 else None,
        ) as run,
    ):
        saver = TieredCheckpoints(
            namespace=options.namespace,
            s3_uri=options.s3_uri,
            key=key,
            schedule=schedule,
            coordinator=TorchCoordinator(),
            on_saved=on_saved,
            on_event=run.on_event,
            memory_url=options.memory_url,
        )
        found = state()
        if run.resume(saver, found) is not None:
            set_state_dict(
                model, optimizer, model_state_dict=found["model"], optim_state_dict=found["optimizer"]
            )
        parallel = DistributedDataParallel(
            model, device_ids=[device.index] if device.type == "cuda" else None
        )
        finite = FiniteChecks(on_finding=run.on_not_finite)
        if rank == 0:
            print(f"begins at step {loop.next_step} of {options.steps}, {ranks} ranks", flush=True)
        for step, numbers in zip(run.steps_left(saver, state), batches, strict=False):
            inputs, wanted = (part.to(device) for part in made_up(numbers, options.width))
            loss = nn.functional.mse_loss(parallel(inputs), wanted)
            finite.check_loss(step, loss.item())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if rank == 0:
                print(f"step {step} loss {loss.item():.6f}", flush=True)
        saver.close()
    return run.exit_code


def main() -> int:
    """Read the options, and train."""
    said = os.environ
    parser = argparse.ArgumentParser(
        description="Pre-train a small model with tiered checkpoints, and resume it."
    )
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=1_000_000, help="samples in the data set")
    parser.add_argument("--batch", type=int, default=32, help="samples a rank")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory-interval", type=int, default=int(said["CHECKPOINT_MEMORY_INTERVAL_STEPS"]))
    parser.add_argument("--s3-interval", type=int, default=int(said["CHECKPOINT_S3_INTERVAL_STEPS"]))
    parser.add_argument("--s3-uri", default=said["CHECKPOINT_S3_URI"])
    parser.add_argument("--namespace", default=said["TRAINING_JOB_NAME"])
    parser.add_argument("--memory-url", help="of the memory tier; default AWS's name within the cluster")
    key = parser.add_mutually_exclusive_group(required=True)
    key.add_argument("--kms-key", help="id, alias or ARN of the KMS key that signs checkpoints")
    key.add_argument("--signing-key", help="file with the key that signs checkpoints")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    signing = LocalKey.from_file(options.signing_key) if options.kms_key is None else KmsKey(options.kms_key)
    recovery = f"{options.s3_uri.rstrip('/')}/{options.namespace}-recovery"
    guard = CrashLoopGuard(recovery)
    # The other ranks wait for this one below, before they hold a GPU.
    if int(said["RANK"]) == 0:
        guard.start()
    # Saving in the background talks over gloo, beside the collectives of the training.
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        return train(options, signing, guard, recovery)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    leave(main())
