"""Stand-in for the ``srun`` of HyperPod's Slurm: takes ``--auto-resume=1``, which any other refuses.

When the step failed and nodes of the job are lost, it swaps spare nodes into the job and runs the step again,
as AWS documents: with generic resources, where Slurm changes no allocation, it has the job requeued. When no
node is lost, the failure is the program's own, and stays. What AWS's does inside is not public.

The environment is left as it was, so that it names the nodes that the job began with, as on HyperPod.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time

_OPTION = "--auto-resume=1"
_SECONDS = 60
_LOST = ("DOWN", "FAIL")


def main() -> int:
    """Run the step until it succeeds or fails by itself."""
    arguments = sys.argv[1:]
    if _OPTION not in arguments:
        return subprocess.call([_real(), *arguments])
    arguments.remove(_OPTION)
    if "--version" in arguments:
        return subprocess.call([_real(), *arguments])
    job = os.environ["SLURM_JOB_ID"]
    while True:
        nodes = _nodes(job)
        code = subprocess.call([_real(), "--overlap", *arguments])
        if code == 0:
            return 0
        left = _nodes(job)
        lost = [node for node in nodes if node not in left or _is_lost(node)]
        if not lost:
            return code
        print(f"stand-in for auto-resume: lost {' '.join(lost)}", file=sys.stderr, flush=True)
        if "TresPerNode=gres" in _ask("show", "job", job):
            _ask("requeue", job)
            time.sleep(_SECONDS)  # the requeue ends this process
            return code
        _swap(job, lost, nodes)


def _swap(job: str, lost: list[str], nodes: list[str]) -> None:
    for node in lost:
        if node in _nodes(job):
            _ask("update", f"nodename={node}", "state=down", "reason=lost")
    # Variables of the job that it is in would be options.
    own = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    granted = subprocess.run(
        ["salloc", "--no-shell", f"--nodes={len(lost)}", "--exclusive", f"--dependency=expand:{job}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        env={**own, "SLURM_CONF": os.environ["SLURM_CONF"]},
    )
    found = re.search(r"Granted job allocation (\d+)", granted.stderr)
    if found is None:
        raise SystemExit(f"stand-in for auto-resume: no spare nodes: {granted.stderr}")
    # It leaves scripts in the working directory.
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["scontrol", "update", f"jobid={found[1]}", "NumNodes=0"],
            cwd=folder,
            timeout=_SECONDS,
            check=True,
        )
    print(f"stand-in for auto-resume: {nodes} are now {_nodes(job)}", file=sys.stderr, flush=True)


def _is_lost(node: str) -> bool:
    found = re.search(r" State=(\S+)", _ask("show", "node", node))
    return found is not None and any(state in found[1] for state in _LOST)


def _nodes(job: str) -> list[str]:
    found = re.search(r" NodeList=(\S+)", _ask("show", "job", job))
    return [] if found is None else _ask("show", "hostnames", found[1]).split()


def _ask(*words: str) -> str:
    done = subprocess.run(
        ["scontrol", "--oneliner", *words], capture_output=True, text=True, timeout=_SECONDS, check=True
    )
    return done.stdout


def _real() -> str:
    for folder in os.environ["PATH"].split(os.pathsep):
        program = os.path.join(folder, "srun")
        if os.access(program, os.X_OK) and not _is_stand_in(program):
            return program
    raise SystemExit("stand-in for auto-resume: no srun")


def _is_stand_in(program: str) -> bool:
    with open(program, "rb") as file:
        return file.read(2) == b"#!"


if __name__ == "__main__":
    sys.exit(main())
