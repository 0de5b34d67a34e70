"""Pre-training with DDP that goes on where it was: a small model on made-up data, and the parts that matter.

It resumes from the newest checkpoint that is complete, saves so that a checkpoint is complete or not there at
all, and on SIGTERM saves within the grace period. Every rank reads the checkpoint: all nodes share the
folder.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

COMPLETE = re.compile(r"step-(\d{9})\.pt")
INTERRUPTED = 128 + signal.SIGTERM
"""Exit code after SIGTERM. Not 0: a pod that nobody ended would count as done, and its job as finished."""

stopping = False


def on_sigterm(number: int, frame: FrameType | None) -> None:
    """Remember that the pod is to end. Saving here could interrupt a collective half-way."""
    del number, frame
    global stopping
    stopping = True


def checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Return steps and files of complete checkpoints, the newest first."""
    if not folder.is_dir():
        return []
    found = ((COMPLETE.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted(((int(match[1]), path) for match, path in found if match), reverse=True)


def save(folder: Path, step: int, state: dict[str, Any], *, keep: int) -> None:
    """Write a checkpoint under another name, and give it its own only when all of it is on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    final = folder / f"step-{step:09d}.pt"
    partial = folder / f".{final.name}.{os.getpid()}.partial"
    with partial.open("wb") as stream:
        torch.save(state, stream)
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(final)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    print(f"saved step {step}", flush=True)
    for _, old in checkpoints(folder)[keep:]:
        old.unlink(missing_ok=True)
    for left in folder.glob(".step-*.partial"):
        left.unlink(missing_ok=True)


def newest(folder: Path, device: torch.device) -> tuple[int, dict[str, Any]] | None:
    """Load the newest checkpoint that can be read; one that cannot is passed over, and said."""
    for step, path in checkpoints(folder):
        try:
            # Without weights_only, a checkpoint is a program that whoever wrote it runs here.
            state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
        except Exception as error:
            print(f"passed over {path}: {error}", file=sys.stderr, flush=True)
            continue
        return step, state
    return None


def agreed(value: int, device: torch.device, operation: dist.ReduceOp.RedOpType) -> int:
    """Have all ranks take the same number: the least or the largest of theirs."""
    tensor = torch.tensor(value, device=device)
    dist.all_reduce(tensor, operation)
    return int(tensor)


def batch_of(
    step: int, rank: int, options: argparse.Namespace, device: torch.device
) -> tuple[torch.Tensor, ...]:
    """Make the data of a step and rank, always the same: a resumed run sees what it would have seen."""
    generator = torch.Generator().manual_seed(options.seed * 1_000_003 + step * 4_099 + rank)
    inputs = torch.randn(options.batch, options.width, generator=generator)
    return inputs.to(device), inputs.sum(dim=1, keepdim=True).tanh().to(device)


def resumed(
    folder: Path | None, model: nn.Module, optimizer: torch.optim.Optimizer, device: torch.device
) -> int:
    """Load the newest checkpoint that every rank can read, and return the step after it; 0 without any."""
    found = None if folder is None else newest(folder, device)
    own = -1 if found is None else found[0]
    step = agreed(own, device, dist.ReduceOp.MIN)
    if agreed(own, device, dist.ReduceOp.MAX) != step:
        raise SystemExit(
            f"ranks must read the same checkpoint, and this one reads step {own}; share the folder"
        )
    if found is None:
        return 0
    model.load_state_dict(found[1]["model"])
    optimizer.load_state_dict(found[1]["optimizer"])
    return step + 1


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
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
    folder = None if options.checkpoint_dir is None else Path(options.checkpoint_dir)
    begin = resumed(folder, model, optimizer, device)
    parallel = DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)
    if rank == 0:
        print(f"begins at step {begin} of {options.steps}, {dist.get_world_size()} ranks", flush=True)

    for step in range(begin, options.steps):
        inputs, wanted = batch_of(step, rank, options, device)
        loss = nn.functional.mse_loss(parallel(inputs), wanted)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if options.pause_seconds:
            time.sleep(options.pause_seconds)
        # One pod may be told to end before another: all stop after the same step.
        ends = agreed(int(stopping), device, dist.ReduceOp.MAX) == 1
        if rank == 0:
            print(f"step {step} loss {loss.item():.6f}", flush=True)
            last = step + 1 == options.steps
            if folder is not None and (ends or last or (step + 1) % options.save_every == 0):
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                save(folder, step, state, keep=options.keep)
        if ends:
            dist.barrier()  # no process ends, and takes its pod with it, while rank 0 still saves
            return INTERRUPTED
    dist.barrier()
    return 0


def main() -> int:
    """Read the options, and train."""
    parser = argparse.ArgumentParser(description="Pre-train a small model with DDP, and resume it.")
    parser.add_argument(
        "--checkpoint-dir",
        default=os.environ.get("CHECKPOINT_PATH"),
        help="default: CHECKPOINT_PATH; none: no checkpoints",
    )
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--save-every", type=int, default=100, help="steps between checkpoints")
    parser.add_argument("--keep", type=int, default=3, help="checkpoints to keep")
    parser.add_argument("--batch", type=int, default=32, help="samples a rank")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pause-seconds", type=float, default=0.0, help="after each step, to watch it")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, on_sigterm)
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
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
