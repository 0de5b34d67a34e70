"""Programs as the first process of a container, as far as processes go."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from typing import Final

from recovered_worker import STAND_IN

_REAL: Final = ("unshare", "--map-root-user", "--fork", "--pid", "--mount-proc")


@cache
def has_namespaces() -> bool:
    """Tell whether this machine lets whoever runs the tests make namespaces of processes."""
    if shutil.which(_REAL[0]) is None:
        return False
    return subprocess.run([*_REAL, "true"], capture_output=True, check=False).returncode == 0


FIRST_PROCESSES: Final[Mapping[str, tuple[str, ...]]] = {
    "stand-in for a namespace": ("bash", "-c", f'export {STAND_IN}=$BASHPID; exec "$@"', "stand-in"),
    **({"real": _REAL} if has_namespaces() else {}),
}
"""What starts such a program: in a namespace of its own, and without one, where the worker is told of it."""


def as_first_process() -> list[str]:
    """What starts a program as the first process: really, where this machine can."""
    return list(FIRST_PROCESSES.get("real", FIRST_PROCESSES["stand-in for a namespace"]))
