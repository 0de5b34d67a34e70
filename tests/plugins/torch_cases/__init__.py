"""Cases that run where PyTorch is, in ranks of a real torchrun, and are told to the tests as they went."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from killed_training.nodes import LIBRARY
from training_environment import PROGRAMS

HERE = Path(__file__).parent


def run_cases(
    script: str, folder: Path, *, ranks: int, environment: dict[str, str] | None = None
) -> dict[str, str]:
    """Run all cases of a script, and return for each what went wrong on any rank; empty if nothing did.

    Args:
        script: Name of a file in this folder, without its suffix.
        folder: Where cases may write.
        ranks: How many.
        environment: Variables beside the usual. Default none.
    """
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TORCH"))}
    run = subprocess.run(
        [
            str(PROGRAMS / "torchrun"),
            "--standalone",
            f"--nproc_per_node={ranks}",
            str(HERE / f"{script}.py"),
            str(folder),
        ],
        env={
            **usual,
            "PYTHONPATH": os.pathsep.join([LIBRARY, str(HERE)]),
            "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": "lo",
            **({} if environment is None else environment),
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    told: dict[str, str] = {}
    files = sorted(folder.glob(f"{script}-*.json"))
    for path in files:
        for name, wrong in json.loads(path.read_text()).items():
            told[name] = told.get(name, "") + (f"{path.stem}: {wrong}\n" if wrong else "")
    # A rank that waits for one that failed may die before it can tell.
    assert len(files) == ranks, (
        f"exit code {run.returncode}:\n{''.join(told.values())}\n{run.stdout[-3000:]}\n{run.stderr[-6000:]}"
    )
    return told
