"""Stands for the training code of images that are not ours: as little as distributed training can be.

Takes any arguments. Each step sums one number over all ranks. It resumes, and it saves where the job names a
folder: at its end, on SIGTERM, and where the HyperPod operator announces a change of the job's size.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import torch
import torch.distributed as dist

told_to_end = False


def on_signal(number: int, frame: FrameType | None) -> None:
    del number, frame
    global told_to_end
    told_to_end = True


def changes_size() -> bool:
    """Whether the operator asks all ranks to make room. Asked by all ranks in each step: it is collective."""
    if "HYPERPOD_SIGNAL_COORDINATION" not in os.environ:  # AWS's agent always sets it for its processes
        return False
    from hyperpod_elastic_agent.elastic_event_handler import elastic_event_detected

    return bool(elastic_event_detected())


def main() -> int:
    signal.signal(signal.SIGTERM, on_signal)
    folder = os.environ.get("CHECKPOINT_PATH")
    saved = None if folder is None else Path(folder) / "saved.pt"
    changes_size()  # the handler of SIGUSR1 is there before the first step
    dist.init_process_group("gloo")
    done = -1 if saved is None or not saved.exists() else int(torch.load(saved, weights_only=True))
    steps = int(os.environ["TINY_STEPS"])
    if dist.get_rank() == 0:
        print(f"begins at step {done + 1} of {steps}, {dist.get_world_size()} ranks", flush=True)
    for step in range(done + 1, steps):
        state = torch.tensor([1.0, float(told_to_end)])
        dist.all_reduce(state)
        ends, resizes = state[1].item() > 0, changes_size()
        if dist.get_rank() == 0:
            print(f"step {step} of {int(state[0])} ranks", flush=True)
            if saved is not None and (ends or resizes or step + 1 == steps):
                saved.parent.mkdir(parents=True, exist_ok=True)
                torch.save(torch.tensor(step), saved)
                print(f"saved step {step}", flush=True)
        if ends or resizes:
            return end_with(128 + signal.SIGTERM)
        time.sleep(float(os.environ.get("TINY_PAUSE_SECONDS", "0")))
    return end_with(0)


def end_with(code: int) -> int:
    """End when all ranks do, with no thread of gloo left that could abort Python on its way down."""
    dist.barrier()
    dist.destroy_process_group()
    return code


if __name__ == "__main__":
    sys.exit(main())
