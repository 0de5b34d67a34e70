"""Lines on the container's standard output, which whatever collects logs of pods reads whole."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from typing import Final

IN_PODS: Final = "KUBERNETES_SERVICE_HOST"
"""Kubernetes sets it in every container."""

PRINT_VARIABLE: Final = "TRAINING_PRINT_RECOVERIES"
_CONTAINER_OUTPUT: Final = "/proc/1/fd/1"


def prints_recoveries(environment: Mapping[str, str] | None = None) -> bool:
    """Tell whether recoveries are printed: what ``TRAINING_PRINT_RECOVERIES`` says, else in pods only.

    Args:
        environment: Default that of this process.

    Raises:
        ValueError: If the variable is neither 0 nor 1.
    """
    environment = os.environ if environment is None else environment
    said = environment.get(PRINT_VARIABLE)
    if said is None:
        return IN_PODS in environment
    if said not in ("0", "1"):
        raise ValueError(f"{PRINT_VARIABLE} must be 0 or 1, got {said!r}; unset it to print in pods only")
    return said == "1"


def print_line(content: bytes) -> None:
    """Print a line by one write, so that other processes' lines never stand within it.

    What others left without an end is ended before. In a pod whose launcher sends this process's output into
    a file, to keep it or to print it again behind ``[default0]:`` (``--redirects``, ``--tee``), the line goes
    to the output of the container's first process, of which the container's log is made.

    Args:
        content: The line, without its end.

    Raises:
        OSError: If there is no such output, nobody reads it, or only a part of the line could be written.
    """
    line = b"\n" + content + b"\n"
    own = _own_output()
    container = _container_output(own)
    try:
        # Beside what Python buffers, which may end anywhere.
        written = os.write(_not_reused(own) if container is None else container, line)
    finally:
        if container is not None:
            os.close(container)
    if written < len(line):
        raise OSError(f"only {written} of {len(line)} bytes could be written")


def _own_output() -> int:
    output = sys.__stdout__
    if output is None or output.closed:
        raise OSError("standard output is closed")
    return output.fileno()


def _file(descriptor: int) -> tuple[int, int] | None:
    """Tell which file a descriptor is; none if it is a pipe or a device."""
    found = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _at_first() -> tuple[int, int] | None:
    try:
        return _file(_own_output())
    except OSError:
        return None


_FILE_AT_FIRST: Final = _at_first()


def _not_reused(own: int) -> int:
    if _file(own) not in (None, _FILE_AT_FIRST):
        raise OSError("standard output was closed, and its descriptor is another file now")
    return own


def _container_output(own: int) -> int | None:
    """Open the container's output, in a pod, if this process's own is a file and the container's none."""
    if IN_PODS not in os.environ or _file(own) is None:
        return None
    try:
        # A pipe that nobody reads would otherwise be waited for.
        opened = os.open(_CONTAINER_OUTPUT, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return None
    if _file(opened) is not None:
        os.close(opened)
        return None
    os.set_blocking(opened, True)
    return opened
