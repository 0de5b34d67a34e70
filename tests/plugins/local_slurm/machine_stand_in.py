"""Stand-in for a machine: one program and all that descends from it, which a power cut ends at once.

    python -I -S machine_stand_in.py PROGRAM [ARGUMENT...]

Processes that leave their parent, as those of job steps do, stay below this one. When standard input ends, be
it that the test cuts the power or that the test itself was killed, everything below is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def below(process: int) -> list[int]:
    """Processes that descend from one."""
    found: list[int] = []
    try:
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in map(int, children.read_text().split()):
                found += [child, *below(child)]
    except OSError:
        pass  # it has ended meanwhile, and its children are ours now
    return found


def main() -> None:
    """Run the program until standard input ends, then kill all that is left."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt processes")
    subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    threading.Thread(target=_bury, daemon=True).start()
    sys.stdin.buffer.read()
    while left := below(os.getpid()):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _bury() -> None:
    wakes = threading.Event()
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            wakes.wait(0.1)


if __name__ == "__main__":
    main()
