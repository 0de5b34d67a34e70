"""The environment with PyTorch that the tests of training run in, apart from our own packages.

``make training`` makes it. It is apart from the environment of the other tests because PyTorch from PyPI is
several gigabytes on most machines.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(os.environ.get("HYPERPOD_TRAINING", Path(__file__).parents[2] / ".venv-training")) / "bin"
TINY_TRAINING = Path(__file__).parent / "operator_double" / "tiny_training.py"
STAND_IN = Path(__file__).parent / "operator_double" / "hyperpodrun_stand_in.py"

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of pods in /proc")
needs_torchrun = pytest.mark.skipif(
    not (PROGRAMS / "torchrun").exists(), reason=f"no torchrun in {PROGRAMS}; run make training"
)
needs_hyperpodrun = pytest.mark.skipif(
    not (PROGRAMS / "hyperpodrun").exists(), reason=f"no hyperpodrun in {PROGRAMS}; run make training"
)
needs_tiered_package = pytest.mark.skipif(
    not any(PROGRAMS.parent.glob("lib/python*/site-packages/amzn_sagemaker_checkpointing")),
    reason=f"no amzn_sagemaker_checkpointing beside {PROGRAMS}; run make training",
)


def with_hyperpodrun(folder: Path) -> list[Path]:
    """Return folders of programs in which ``hyperpodrun`` is the stand-in.

    Args:
        folder: Where it is put.
    """
    program = folder / "hyperpodrun"
    program.write_text(f'#!/bin/sh\nexec {PROGRAMS / "python"} {STAND_IN} "$@"\n')
    program.chmod(0o755)
    return [folder, PROGRAMS]
