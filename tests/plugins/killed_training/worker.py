"""Training in which everything must go on as it was: dropout, two generators, schedule, order of samples.

Each process writes what it does into a file of its own, each line in one system call, so that a killed
process has said all that it did.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import multiprocessing
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.parallel import DistributedDataParallel

from hyperpod_lifecycle.training import (
    Checkpoints,
    CrashLoopGuard,
    DistributedCheckpoints,
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

SAMPLES, WIDTH = 1009, 16


class Trace:
    def __init__(self, folder: Path, rank: int) -> None:
        name = f"{time.time_ns()}-{rank}-{os.getpid()}.jsonl"
        self._handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.write(what="start", rank=rank, pid=os.getpid())

    def write(self, **said: Any) -> None:
        os.write(self._handle, json.dumps(said).encode() + b"\n")


def digest(model: nn.Module, optimizer: torch.optim.Optimizer) -> str:
    """Of weights and of the optimizer's state, bit for bit."""
    found = hashlib.sha256()
    for parameter in model.parameters():
        found.update(parameter.detach().numpy().tobytes())
        for name, value in sorted(optimizer.state[parameter].items()):
            found.update(name.encode() + value.numpy().tobytes())
    return found.hexdigest()


def newest_name(folder: Path) -> int | None:
    """The newest checkpoint by its name alone, without the library: names are complete or not there."""
    if not folder.is_dir():
        return None
    return max(
        (int(path.name[5:]) for path in folder.iterdir() if path.name.startswith("step-")), default=None
    )


def samples(numbers: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    inputs = torch.stack(
        [torch.randn(WIDTH, generator=torch.Generator().manual_seed(number)) for number in numbers]
    )
    return inputs, inputs.sum(dim=1, keepdim=True).tanh()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--trace", type=Path, help="folder; default trace in the folder")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--save-every", type=int, required=True)
    parser.add_argument("--asynchronous", action="store_true")
    parser.add_argument("--pause-seconds", type=float, default=0.002)
    options = parser.parse_args()
    # For whoever asks why a rank does not end: kill -USR1 writes down where its threads are.
    faulthandler.register(signal.SIGUSR1)
    rank = int(os.environ["RANK"])
    trace = Trace(options.folder / "trace" if options.trace is None else options.trace, rank)
    guard = CrashLoopGuard(
        options.folder / "recovery", job="killed", most_attempts=50, first_pause_seconds=0.0
    )
    if rank == 0:
        guard.start()
    dist.init_process_group("gloo")
    torch.manual_seed(1000 + rank)
    random.seed(2000 + rank)
    numpy.random.seed(3000 + rank)
    saving = TorchCoordinator()
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Dropout(0.25), nn.Tanh(), nn.Linear(WIDTH, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=options.steps)
    batches = ResumableBatches(
        SampleOrder(SAMPLES, seed=5), samples_a_rank=3, rank=rank, ranks=dist.get_world_size()
    )
    loop = LoopState(parts={"batches": batches, "schedule": schedule})
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
            records=RunRecords(options.folder / "recovery", job="killed"),
            heartbeat_seconds=0.0,
            on_step_saved=lambda step: trace.write(what="saved", step=step),
        ) as run,
    ):
        saver = DistributedCheckpoints(
            Checkpoints(
                options.folder / "checkpoints",
                key=LocalKey.from_file(options.folder / "key"),
                coordinator=saving,
            ),
            asynchronous=options.asynchronous,
            on_saved=run.on_saved,
        )

        def state() -> dict[str, Any]:
            trace.write(what="saves", step=loop.next_step - 1)
            weights, moments = get_state_dict(model, optimizer)
            return {"model": weights, "optimizer": moments}

        weights, moments = get_state_dict(model, optimizer)
        found = {"model": weights, "optimizer": moments}
        newest = newest_name(options.folder / "checkpoints")
        loaded = run.resume(saver, found)
        if loaded is not None:
            set_state_dict(
                model, optimizer, model_state_dict=found["model"], optim_state_dict=found["optimizer"]
            )
        trace.write(
            what="resumed",
            step=None if loaded is None else loaded.step,
            newest=newest,
            digest=None if loaded is None else digest(model, optimizer),
            not_restored=[] if loaded is None else loaded.not_restored,
        )
        # By default the wrapper lays gradients out anew after the first step of each start, and gloo adds up
        # in another order then: right, and other bits.
        parallel = DistributedDataParallel(model, find_unused_parameters=True)
        given = iter(batches)
        run.data_ready()
        for step in run.steps_left(saver, state):
            numbers = next(given)
            inputs, wanted = samples(numbers)
            noise = random.random() + float(numpy.random.random())
            loss = nn.functional.mse_loss(parallel(inputs + noise / 100), wanted)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            trace.write(what="done", step=step, samples=numbers, digest=digest(model, optimizer))
            time.sleep(options.pause_seconds)
        saver.close()
    trace.write(what="end")
    dist.destroy_process_group()
    return run.exit_code


if __name__ == "__main__":
    forked = multiprocessing.parent_process() is not None
    if forked:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            # What the torchrun that forked it does about a signal: a rank that is a program has none of it.
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = main()
    if not forked:
        leave(code)
    # A torchrun waits for what a forked rank returns; multiprocessing leaves the process like leave() then.
    sys.exit(code)
