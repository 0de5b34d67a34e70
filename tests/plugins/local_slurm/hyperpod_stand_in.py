"""Stand-ins for what HyperPod adds to Slurm, and AWS alone has: auto-resume, and repairs by a reason."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hyperpod_model.catalog.nodes import REBOOT_REASON, REPLACE_REASON
from local_slurm.cluster import LocalSlurm

KEEPS_NODES = "--no-kill"
"""Option of ``sbatch``: the job outlives a node of it. HyperPod sees to that in a way that is not public."""

_SRUN = Path(__file__).with_name("srun_stand_in.py")


def with_auto_resume(slurm: LocalSlurm) -> dict[str, str]:
    """Return variables for ``sbatch`` with which the job's ``srun`` is the stand-in for HyperPod's.

    It can swap a node only in a job that was submitted with :data:`KEEPS_NODES`.

    Args:
        slurm: The cluster.
    """
    programs = slurm.folder / "hyperpod"
    programs.mkdir(exist_ok=True)
    program = programs / "srun"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {_SRUN} "$@"\n')
    program.chmod(0o755)
    path = slurm.environment.get("PATH", os.defpath)
    return {"PATH": f"{programs}:{path}"}


def repair(slurm: LocalSlurm) -> dict[str, str]:
    """Do what HyperPod's agents do to nodes that somebody set to ``fail``, where the reason is an exact one.

    A replaced node is a new machine of the same name here; on AWS it may have another name.

    Args:
        slurm: The cluster.

    Returns:
        What was done, by node: ``reboot`` or ``replace``.
    """
    actions = {REBOOT_REASON: "reboot", REPLACE_REASON: "replace"}
    done: dict[str, str] = {}
    for node in slurm.nodes:
        action = actions.get(slurm.show("node", node).get("Reason", ""))
        if action is None or "FAIL" not in slurm.states_of(node):
            continue
        slurm.kill_node(node)
        slurm.run("scontrol", "update", f"nodename={node}", "state=down", f"reason={action}")
        slurm.start_node(node)
        slurm.run("scontrol", "update", f"nodename={node}", "state=resume")
        done[node] = action
    if done:
        slurm.wait_for_idle(*done)
    return done
