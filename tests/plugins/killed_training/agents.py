"""torchruns: each an agent that starts and watches the ranks of its node.

A plain one is the program ``torchrun``, and its ranks are programs too. Most of what such a start costs is
that PyTorch is imported in each of these processes. :class:`ReadyAgents` starts the same agent, and it its
ranks, by fork from a process that has PyTorch imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self

from training_environment import PROGRAMS

ROOT = Path(__file__).parents[3]
LIBRARY = os.pathsep.join(str(ROOT / name) for name in ("lifecycle", "model"))
"""For ``PYTHONPATH``: the library as it is, without anything that it could depend on."""

WORKER = Path(__file__).with_name("worker.py")
_PROGRAM = Path(__file__).with_name("ready_torchrun.py")
_MOST_SECONDS = 300.0


class Agent(Protocol):
    """A torchrun that runs, the leader of a session."""

    pid: int

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""

    def wait(self, timeout: float) -> int:
        """Wait for the exit code.

        Args:
            timeout: In seconds.
        """


class Agents(Protocol):
    """How torchruns are started."""

    def start(self, arguments: Sequence[str], words: Sequence[str], *, log: Path, folder: Path) -> Agent:
        """Start one that runs the worker.

        Args:
            arguments: Of torchrun.
            words: Of the worker.
            log: File to which it and its ranks append what they write.
            folder: It runs there.
        """

    def started(self, process: int) -> bool:
        """Whether a process is a torchrun or a rank that was started this way, and is alive."""


class PlainAgents:
    """Starts the program ``torchrun``.

    Args:
        mark: A word of each worker's command that no other process has.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark

    def start(self, arguments: Sequence[str], words: Sequence[str], *, log: Path, folder: Path) -> Agent:
        with log.open("ab") as stream:
            return subprocess.Popen(
                [PROGRAMS / "torchrun", *arguments, WORKER, *words],
                env=_environment(),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )

    def started(self, process: int) -> bool:
        return self._mark in _command(process)


class ReadyAgents:
    """Starts torchruns by fork from a process that has PyTorch imported. A context: leaving it ends that one.

    Args:
        folder: For what that process writes; its name marks the processes.
    """

    def __init__(self, folder: Path) -> None:
        self._mark = str(folder)
        self._log = folder / "ready-torchrun.log"
        self._changed = threading.Condition()
        self._said: dict[int, dict[str, int]] = {}
        self._over = False
        self._started = 0

    def __enter__(self) -> Self:
        with self._log.open("ab") as stream:
            self._process = subprocess.Popen(
                [PROGRAMS / "python", _PROGRAM, WORKER, self._mark],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stream(self._process.stdin).close()
        self._process.wait(_MOST_SECONDS)
        self._reader.join(_MOST_SECONDS)
        self._stream(self._process.stdout).close()

    def start(self, arguments: Sequence[str], words: Sequence[str], *, log: Path, folder: Path) -> Agent:
        number, self._started = self._started, self._started + 1
        wanted = {
            "number": number,
            "arguments": [*arguments, "--run-path", "--start-method=fork", str(WORKER), *words],
            "log": str(log),
            "folder": str(folder),
        }
        stream = self._stream(self._process.stdin)
        stream.write(json.dumps(wanted).encode() + b"\n")
        stream.flush()
        return _ReadyAgent(self, number, self.wait_for(number, "pid", _MOST_SECONDS))

    def started(self, process: int) -> bool:
        return self._mark in _command(process)

    def of(self, number: int, what: str) -> int | None:
        """What was said of an agent."""
        with self._changed:
            return self._said.get(number, {}).get(what)

    def wait_for(self, number: int, what: str, timeout: float) -> int:
        """Wait until something was said of an agent.

        Args:
            number: Of the agent.
            what: ``pid`` or ``code``.
            timeout: In seconds.
        """
        with self._changed:
            came = self._changed.wait_for(
                lambda: self._over or what in self._said.get(number, {}), timeout=timeout
            )
            assert came, f"no {what} of agent {number} within {timeout} seconds"
            found = self._said.get(number, {})
        assert what in found, f"ended before the {what} of agent {number}:\n{self._log.read_text()[-3000:]}"
        return found[what]

    def _read(self) -> None:
        for line in self._stream(self._process.stdout):
            said = json.loads(line)
            with self._changed:
                self._said.setdefault(said.pop("number"), {}).update(said)
                self._changed.notify_all()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    @staticmethod
    def _stream(stream: Any) -> Any:
        assert stream is not None
        return stream


class _ReadyAgent:
    def __init__(self, agents: ReadyAgents, number: int, pid: int) -> None:
        self.pid = pid
        self._agents = agents
        self._number = number

    def poll(self) -> int | None:
        return self._agents.of(self._number, "code")

    def wait(self, timeout: float) -> int:
        return self._agents.wait_for(self._number, "code", timeout)


def parent(process: int) -> int | None:
    """The process that started a process; None if it is over."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[1])


def _environment() -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TORCH"))},
        "PYTHONPATH": LIBRARY,
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
    }


def _command(process: int) -> list[str]:
    try:
        # A zombie has no words.
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []
