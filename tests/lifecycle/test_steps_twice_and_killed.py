"""Steps twice, and killed and run again: the same node, byte for byte.

Those of Slurm and containers: ``test_slurm_steps_twice_and_killed.py``. How lines are
chosen: ``node_scripts.repeated``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from node_scripts.node import NEEDED
from node_scripts.repeated import STEPS, STEPS_OF_SLURM, check_step

pytestmark = pytest.mark.needs_system(*NEEDED)


@pytest.mark.parametrize("step", [step for step in STEPS if step not in STEPS_OF_SLURM])
def test_step_twice_and_killed(step: str, tmp_path: Path) -> None:
    check_step(step, tmp_path)
