"""Runs the cases of a script on each rank, one after the other, and writes down how they went."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import torch.distributed as dist

Case = Callable[[Path], None]


def run(cases: dict[str, Case]) -> None:
    """Run cases, each in a folder of its own that all ranks share."""
    base, rank = Path(sys.argv[1]), int(os.environ["RANK"])
    script = Path(sys.argv[0]).stem
    dist.init_process_group("gloo")
    told = {}
    for name, case in cases.items():
        folder = base / f"{script}-{name}"
        folder.mkdir(exist_ok=True)
        dist.barrier()
        try:
            case(folder)
            told[name] = ""
        except BaseException:
            told[name] = traceback.format_exc()
            # The other ranks may be anywhere: what comes after would tell nothing.
            break
    for name in cases:
        told.setdefault(name, "did not run")
    (base / f"{script}-{rank}.json").write_text(json.dumps(told))
    # A rank that failed must not leave the others waiting.
    os._exit(0)
