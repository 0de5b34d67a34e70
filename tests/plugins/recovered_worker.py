"""A program that a launcher starts: its rank 0 recovers from an earlier start, with the resume library.

Takes the folder of the records. Each rank prints of its own, in parts, as training code does.
"""

from __future__ import annotations

import os
import sys

from hyperpod_lifecycle.training import RecoveryClock, RunRecords, container_output

STAND_IN = "STAND_IN_FOR_THE_FIRST_PROCESS"
"""Names the process that counts as the container's first, where there is no namespace."""


def _start(folder: str, resumed: int, until: int) -> None:
    clock = RecoveryClock(RunRecords(folder, job="llama"), ranks=2, heartbeat_seconds=0.0)
    clock.initialized()
    clock.loaded(resumed, "disk")
    clock.data_ready()
    for step in range(resumed, until):
        clock.step_done(step)
    clock.end("done")


def main(folder: str) -> None:
    """Do 8 steps, then begin again at step 5."""
    if STAND_IN in os.environ:
        container_output._CONTAINER_OUTPUT = f"/proc/{os.environ[STAND_IN]}/fd/1"  # type: ignore[misc]
    rank = os.environ.get("RANK", "0")
    print(f"rank {rank} begins")
    sys.stdout.write(f"rank {rank} is in the midst of ")
    sys.stdout.flush()
    if rank == "0":
        _start(folder, 0, 8)
        _start(folder, 5, 10)
    print("a line")


if __name__ == "__main__":
    main(sys.argv[1])
