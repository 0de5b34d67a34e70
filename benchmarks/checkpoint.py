"""What a checkpoint costs: how long training stands still for it, and how long a resume takes.

    .venv-training/bin/python benchmarks/checkpoint.py [--megabytes 256] [--ranks 2] [--saves 5]

Ranks under a real torchrun on this machine save a state of the given size a rank, and load it, in these ways,
one after the other within each repetition, so that a slow second of the machine hits all alike:

* ``torch.save``: each rank its own file, fsync, rename; ``torch.load`` with ``weights_only``. Nothing tells
whether it
  is complete over all ranks, or who wrote it. The baseline.
* ``dcp``: plain ``torch.distributed.checkpoint.save`` and ``load``.
* ``ours``: ``DistributedCheckpoints(asynchronous=False)``: the same, hashed, signed, complete or not there;
verified
  before it is read.
* ``ours, background``: ``DistributedCheckpoints()``, with steps that compute meanwhile. The stall is what
training waits;
  ``complete`` is when the checkpoint counts.

The figures to trust are the ratios to ``torch.save`` of the same run: the median over repetitions, on the
slowest rank. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BASE = "torch.save"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="Measure what checkpoints cost.")
    made.add_argument("--megabytes", type=int, default=256, help="of state, a rank")
    made.add_argument("--ranks", type=int, default=2)
    made.add_argument("--saves", type=int, default=5, help="repetitions")
    made.add_argument("--folder", type=Path, help="where to save, such as on FSx; default a temporary folder")
    made.add_argument("--format", choices=("text", "json"), default="text")
    return made


def run(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Start the ranks, and return the seconds of each way."""
    base = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        subprocess.run(
            [
                Path(sys.executable).with_name("torchrun"),
                "--standalone",
                f"--nproc_per_node={options.ranks}",
                __file__,
                f"--megabytes={options.megabytes}",
                f"--saves={options.saves}",
                f"--folder={base}",
            ],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT / "lifecycle"), str(ROOT / "model")]),
                "OMP_NUM_THREADS": "1",
            },
            check=True,
            stdout=sys.stderr,
        )
        told: dict[str, dict[str, float]] = json.loads((base / "told.json").read_text())
    finally:
        shutil.rmtree(base)
    return told


def measure(options: argparse.Namespace) -> None:
    """Save and load on one rank."""
    import torch
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    from hyperpod_lifecycle.training import (
        Checkpoints,
        DistributedCheckpoints,
        LocalKey,
        LoopState,
        SaveReport,
        TorchCoordinator,
    )

    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (ranks,))
    layers, width = 32, 1024
    rows = options.megabytes * 2**20 // (layers * width * 4)
    # Sharded as with FSDP: each rank has `rows` of each layer.
    whole = {
        f"layer-{layer}": distribute_tensor(torch.rand(rows * ranks, width), mesh, [Shard(0)])
        for layer in range(layers)
    }
    key, reports = LocalKey(b"k" * 32), []

    def ours(name: str, *, asynchronous: bool) -> DistributedCheckpoints:
        def keep(report: SaveReport) -> None:
            reports.append(report)

        checkpoints = Checkpoints(
            options.folder / name,
            key=key,
            keep=1,
            coordinator=TorchCoordinator(),
            on_event=lambda event: None,
            scratch=options.folder,
        )
        return DistributedCheckpoints(checkpoints, asynchronous=asynchronous, on_saved=keep)

    def same() -> dict[str, Any]:
        return {name: torch.zeros_like(tensor) for name, tensor in whole.items()}

    def timed(work: Callable[[], Any]) -> float:
        dist.barrier()
        begun = time.perf_counter()
        work()
        return slowest(time.perf_counter() - begun)

    def slowest(seconds: float) -> float:
        told = torch.tensor(seconds, dtype=torch.float64)
        dist.all_reduce(told, dist.ReduceOp.MAX)
        return float(told)

    def save_plain(step: int) -> None:
        final = options.folder / f"plain-{rank}.pt"
        partial = final.with_suffix(".partial")
        with partial.open("wb") as stream:
            torch.save({name: tensor.to_local() for name, tensor in whole.items()}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(final)

    def load_plain() -> None:
        saved = torch.load(options.folder / f"plain-{rank}.pt", weights_only=True)
        for name, tensor in same().items():
            tensor.to_local().copy_(saved[name])

    in_place, behind = ours("in-place", asynchronous=False), ours("behind", asynchronous=True)
    matrix = torch.rand(256, 256)

    def train(seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            torch.mm(matrix, matrix)

    stalls: dict[str, list[float]] = {}
    complete: dict[str, list[float]] = {}
    resumes: dict[str, list[float]] = {}

    def note(where: dict[str, list[float]], way: str, seconds: float) -> None:
        where.setdefault(way, []).append(seconds)

    for step in range(options.saves + 1):
        loop = LoopState()
        loop.next_step = step + 1
        took = {
            BASE: timed(lambda step=step: save_plain(step)),  # type: ignore[misc]
            "dcp": timed(lambda step=step: dcp.save(whole, checkpoint_id=options.folder / f"dcp-{step}")),  # type: ignore[misc]
            "ours": timed(lambda step=step, loop=loop: in_place.save(step, whole, loop)),  # type: ignore[misc]
        }
        stall = timed(lambda step=step, loop=loop: behind.save(step, whole, loop))  # type: ignore[misc]
        train(max(0.5, 2 * took["ours"]))
        waits = timed(behind.wait)
        loads = {
            BASE: timed(load_plain),
            "dcp": timed(lambda step=step: dcp.load(same(), checkpoint_id=options.folder / f"dcp-{step}")),  # type: ignore[misc]
            "ours": timed(lambda: in_place.load(same(), LoopState())),
            "ours, background": timed(lambda: behind.load(same(), LoopState(), check_files=False)),
        }
        if rank == 0:
            shutil.rmtree(options.folder / f"dcp-{step}")
        if step == 0:
            continue  # what only the first save and load have to do
        for way, seconds in took.items():
            note(stalls, way, seconds)
            note(complete, way, seconds)
        note(stalls, "ours, background", stall + waits)
        note(complete, "ours, background", slowest(reports[-1].seconds))
        for way, seconds in loads.items():
            note(resumes, way, seconds)
    behind.close()
    in_place.close()
    if rank == 0:
        told = {
            way: {
                "stall": statistics.median(stalls[way]),
                "complete": statistics.median(complete[way]),
                "resume": statistics.median(resumes[way]),
            }
            for way in stalls
        }
        (options.folder / "told.json").write_text(json.dumps(told))
    dist.barrier()
    dist.destroy_process_group()


def table(told: dict[str, dict[str, float]], options: argparse.Namespace) -> str:
    lines = [
        f"{options.ranks} ranks, {options.megabytes} MiB a rank, median of {options.saves} saves; seconds, "
        f"and times "
        f"those of {BASE}",
        f"{'':<18}{'stall':>16}{'complete':>16}{'resume':>16}",
    ]
    for way, seconds in told.items():
        cells = "".join(
            f"{seconds[what]:>9.3f} {seconds[what] / told[BASE][what]:>5.2f}x"
            for what in ("stall", "complete", "resume")
        )
        lines.append(f"{way:<18}{cells}")
    lines.append("resume of 'ours, background': without verifying what no rank reads (check_files=False)")
    return "\n".join(lines)


def main() -> int:
    options = parser().parse_args()
    if "LOCAL_RANK" in os.environ:
        measure(options)
        return 0
    told = run(options)
    print(json.dumps(told) if options.format == "json" else table(told, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
