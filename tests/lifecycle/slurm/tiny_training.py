"""A stand-in for training code, without PyTorch: counts steps, keeps the count in a file, goes on from it.

tiny_training.py FOLDER STEPS
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

stopping = False


def on_sigterm(number: int, frame: FrameType | None) -> None:
    del number, frame
    global stopping
    stopping = True


def meet(folder: Path, node: str) -> None:
    """Wait for the other nodes of this start, as processes of PyTorch do."""
    start = os.environ["PET_RDZV_ID"]
    (folder / f"here-{start}-{node}").touch()
    while len(list(folder.glob(f"here-{start}-*"))) < int(os.environ["PET_NNODES"]) and not stopping:
        time.sleep(0.02)


def main() -> int:
    folder, steps = Path(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGTERM, on_sigterm)
    node = os.environ["SLURMD_NODENAME"]
    checkpoint = folder / "checkpoint"
    begin = int(checkpoint.read_text()) if checkpoint.exists() else 0
    meet(folder, node)
    names = [name for name in os.environ if name.startswith(("PET_", "SLURM_JOB_N"))]
    said = " ".join(f"{name}={os.environ[name]}" for name in sorted(names))
    print(f"{node} begins at {begin}: {said}", flush=True)
    for step in range(begin + 1, steps + 1):
        time.sleep(0.1)
        if os.environ["PET_RDZV_CONF"].startswith("is_host=1"):
            partial = folder / "partial"
            partial.write_text(str(step))
            partial.replace(checkpoint)
        if stopping:
            print(f"{node} was told to end after step {step}", flush=True)
            return 128 + signal.SIGTERM
    print(f"{node} is done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
