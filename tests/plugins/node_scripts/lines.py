"""Follows a script line by line, and kills it before a given one.

Every bash that a run starts reads ``BASH_ENV``, which sets a DEBUG trap that functions, subshells and
command substitutions inherit: it runs before each command. The stand-ins are scripts of another shell, so
that only the bundle's own lines count.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_FOLLOW = r"""
set -T
trap 'printf "%s\t%s\t%s\n" "$0" "${BASH_SOURCE[0]}" "$LINENO" >&"$FOLLOW_OUT"
read -r -N 1 -u "$FOLLOW_IN" __follow' DEBUG
"""

# Each command takes one byte from the pipe; the one that finds it empty takes the whole process group along.
_KILL = r"""
set -T
trap 'read -r -N 1 -u "$KILL_IN" __kill || kill -KILL 0' DEBUG
"""

# Beyond what scripts and shells number themselves.
_FIRST_DESCRIPTOR = 100

_SECONDS = 120


class Line(NamedTuple):
    """A line that is about to run.

    Attributes:
        script: Script that the shell was started with.
        file: File that the line is in.
        number: Its number there.
    """

    script: str
    file: str
    number: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number} of {Path(self.script).name}"


class NotKilledError(AssertionError):
    """A run ended before the line that it was to be killed at."""


def follow(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    before_line: Callable[[Line], None],
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, and call back before each line while everything stands still.

    Args:
        command: Such as ``["bash", "script.sh"]``.
        environment: Its whole environment.
        folder: Where the trap is written to.
        before_line: Called with each line of a shell, in the order in which they run.
    """
    trap = folder / "follow.sh"
    trap.write_text(_FOLLOW)
    with (
        _pipe() as (lines_out, lines_in),
        _pipe() as (go_out, go_in),
        (folder / "output").open("w+") as output,
    ):
        process = subprocess.Popen(
            command,
            env={
                **environment,
                "BASH_ENV": str(trap),
                "FOLLOW_OUT": str(lines_in),
                "FOLLOW_IN": str(go_out),
            },
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(lines_in, go_out),
        )
        os.close(lines_in)
        os.close(go_out)
        try:
            with os.fdopen(os.dup(lines_out), encoding="utf-8") as lines:
                for text in lines:
                    script, file, number = text.rstrip("\n").split("\t")
                    before_line(Line(script, file, int(number)))
                    os.write(go_in, b".")
            process.wait(timeout=_SECONDS)
        finally:
            _end(process)
        output.seek(0)
        return subprocess.CompletedProcess(list(command), process.returncode, output.read(), "")


def kill_before(line: int, command: Sequence[str], *, environment: Mapping[str, str], folder: Path) -> None:
    """Run a command and kill it, with all that it started, before one of its lines.

    Args:
        line: How many lines run before.
        command: Such as ``["bash", "script.sh"]``.
        environment: Its whole environment.
        folder: Where the trap is written to.

    Raises:
        NotKilledError: If it ended before.
    """
    trap = folder / "kill.sh"
    trap.write_text(_KILL)
    with _pipe() as (tokens_out, tokens_in):
        # A pipe holds 65,536 bytes, more than any script has lines.
        os.write(tokens_in, b"." * line)
        process = subprocess.Popen(
            command,
            env={**environment, "BASH_ENV": str(trap), "KILL_IN": str(tokens_out)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(tokens_out,),
        )
        os.close(tokens_in)
        try:
            process.wait(timeout=_SECONDS)
        finally:
            _end(process)
    if process.returncode != -signal.SIGKILL:
        raise NotKilledError(f"ended with status {process.returncode} before line {line} could be killed")


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR) for end in ends]
    for end in ends:
        os.close(end)
    try:
        yield high[0], high[1]
    finally:
        for end in high:
            with contextlib.suppress(OSError):
                os.close(end)


def _end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
