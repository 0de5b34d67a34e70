"""A training loop that goes on where it was: run by torchrun, with a folder that all nodes share."""

import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.parallel import DistributedDataParallel

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


def main(folder: Path) -> int:
    """Train, and return the exit code."""
    guard = CrashLoopGuard(folder / "recovery")
    if os.environ["RANK"] == "0":
        guard.start()  # before GPUs are held: it may pause, or end the process
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()

    samples = torch.randn(1000, 8, generator=torch.Generator().manual_seed(0))
    model = nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
    batches = ResumableBatches(SampleOrder(len(samples)), samples_a_rank=4, rank=rank, ranks=ranks)
    loop = LoopState(parts={"batches": batches, "scheduler": scheduler})

    def state() -> dict[str, Any]:
        weights, moments = get_state_dict(model, optimizer)
        return {"model": weights, "optimizer": moments}

    with (
        StopSignal() as stop,
        TrainingRun(
            steps=25,
            schedule=SaveSchedule(every_steps=10),
            coordinator=TorchCoordinator(),
            stop=stop,
            loop=loop,
            batches=batches,
            guard=guard,
            records=RunRecords(folder / "recovery") if rank == 0 else None,
        ) as run,
    ):
        checkpoints = Checkpoints(
            folder / "checkpoints",
            key=LocalKey.from_file(folder / "signing-key"),
            coordinator=TorchCoordinator(),  # of its own: saves talk while training does
            on_event=run.on_event,
        )
        saver = DistributedCheckpoints(checkpoints, on_saved=run.on_saved)
        found = state()
        if run.resume(saver, found) is not None:
            set_state_dict(
                model, optimizer, model_state_dict=found["model"], optim_state_dict=found["optimizer"]
            )
        parallel = DistributedDataParallel(model)
        data = iter(batches)  # or a DataLoader(..., batch_sampler=batches)
        finite = FiniteChecks(on_finding=run.on_not_finite)
        for step in run.steps_left(saver, state):
            loss = parallel(samples[next(data)]).square().mean()
            finite.check_loss(step, loss.item())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            scheduler.step()
        saver.close()
    dist.destroy_process_group()
    return run.exit_code


if __name__ == "__main__":
    leave(main(Path(sys.argv[1])))
