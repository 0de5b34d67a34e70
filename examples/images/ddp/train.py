"""Pre-training with DDP that goes on where it was: a small model on made-up data, and the parts that matter.

It resumes from the newest checkpoint that is complete and verifies, sees no sample twice and leaves none out,
saves on SIGTERM within the grace period, and stops for good when it fails again and again before it gets
anywhere. Every rank reads its part of the checkpoint: all nodes share the folder.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

from hyperpod_lifecycle.training import (
    Checkpoints,
    CrashLoopGuard,
    DistributedCheckpoints,
    FiniteChecks,
    LocalKey,
    LoopState,
    ResumableBatches,
    RunRecords,
    SampleOrder,
    SaveSchedule,
    StopSignal,
    TorchCoordinator,
    TrainingRun,
    leave,
)


class MadeUp(Dataset):  # type: ignore[misc]
    """Samples that follow from their number."""

    def __init__(self, samples: int, width: int) -> None:
        self._samples = samples
        self._width = width

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._samples

    def __getitem__(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Make a sample, always the same."""
        inputs = torch.randn(self._width, generator=torch.Generator().manual_seed(number))
        return inputs, inputs.sum().tanh().reshape(1)


def signing_key(options: argparse.Namespace) -> LocalKey:
    """Return the key that says who wrote a checkpoint: without it, whoever writes the folder runs code here.

    Rank 0 makes one that only this user can read, if there is none. A secret that is mounted into the pod is
    better, and so is KmsKey, which lets others read without letting them write.
    """
    folder = options.checkpoint_dir
    path = folder.parent / f"{folder.name}.key" if options.signing_key is None else options.signing_key
    if options.signing_key is None and int(os.environ["RANK"]) == 0 and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        return LocalKey.generate(path)
    return LocalKey.from_file(path)


def train(options: argparse.Namespace, guard: CrashLoopGuard | None, recovery: Path | None) -> int:
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
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=options.steps)
    batches = ResumableBatches(
        SampleOrder(options.samples, seed=options.seed), samples_a_rank=options.batch, rank=rank, ranks=ranks
    )
    loop = LoopState(parts={"batches": batches, "scheduler": scheduler})

    def state() -> dict[str, Any]:
        weights, moments = get_state_dict(model, optimizer)
        return {"model": weights, "optimizer": moments}

    with (
        StopSignal() as stop,
        TrainingRun(
            steps=options.steps,
            schedule=SaveSchedule(every_steps=options.save_every),
            coordinator=TorchCoordinator(),
            stop=stop,
            loop=loop,
            batches=batches,
            guard=guard,
            records=None if recovery is None or rank != 0 else RunRecords(recovery),
            on_step_saved=lambda step: print(f"saved step {step}", flush=True),
        ) as run,
    ):
        saver = None
        if options.checkpoint_dir is not None:
            checkpoints = Checkpoints(
                options.checkpoint_dir,
                key=signing_key(options),
                keep=options.keep,
                coordinator=TorchCoordinator(),
                on_event=run.on_event,
            )
            saver = DistributedCheckpoints(
                checkpoints, asynchronous=options.save_in_background, on_saved=run.on_saved
            )
        found = state()
        if run.resume(saver, found) is not None:
            set_state_dict(
                model, optimizer, model_state_dict=found["model"], optim_state_dict=found["optimizer"]
            )
        parallel = DistributedDataParallel(
            model, device_ids=[device.index] if device.type == "cuda" else None
        )
        data = iter(DataLoader(MadeUp(options.samples, options.width), batch_sampler=batches))
        finite = FiniteChecks(on_finding=run.on_not_finite)
        if rank == 0:
            print(f"begins at step {loop.next_step} of {options.steps}, {ranks} ranks", flush=True)
        for step in run.steps_left(saver, state):
            inputs, wanted = (part.to(device) for part in next(data))
            loss = nn.functional.mse_loss(parallel(inputs), wanted)
            finite.check_loss(step, loss.item())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            scheduler.step()
            if options.pause_seconds:
                time.sleep(options.pause_seconds)
            if rank == 0:
                print(f"step {step} loss {loss.item():.6f}", flush=True)
        if saver is not None:
            saver.close()
    return run.exit_code


def main() -> int:
    """Read the options, and train."""
    parser = argparse.ArgumentParser(description="Pre-train a small model with DDP, and resume it.")
    parser.add_argument(
        "--checkpoint-dir",
        type=lambda text: Path(text).absolute(),
        default=os.environ.get("CHECKPOINT_PATH"),
        help="default: CHECKPOINT_PATH; none: no checkpoints",
    )
    parser.add_argument(
        "--signing-key",
        type=Path,
        help="file with the key of the checkpoints; default: one beside the folder, made when it is missing",
    )
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--save-every", type=int, default=100, help="steps between checkpoints")
    parser.add_argument("--save-in-background", action="store_true", help="train on while one is written")
    parser.add_argument("--keep", type=int, default=3, help="checkpoints to keep")
    parser.add_argument("--samples", type=int, default=1_000_000, help="samples in the data set")
    parser.add_argument("--batch", type=int, default=32, help="samples a rank")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pause-seconds", type=float, default=0.0, help="after each step, to watch it")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    guard = recovery = None
    if options.checkpoint_dir is not None:
        recovery = options.checkpoint_dir.parent / "recovery" / options.checkpoint_dir.name
        guard = CrashLoopGuard(recovery)
        # The other ranks wait for this one below, before they hold a GPU.
        if int(os.environ["RANK"]) == 0:
            signing_key(options)
            guard.start()
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        return train(options, guard, recovery)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    leave(main())
