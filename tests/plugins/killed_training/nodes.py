"""Nodes as processes: one torchrun each, and what their ranks say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from operator_double.kubelet import free_port
from training_environment import PROGRAMS

ROOT = Path(__file__).parents[3]
LIBRARY = os.pathsep.join(str(ROOT / name) for name in ("lifecycle", "model"))
"""For ``PYTHONPATH``: the library as it is, without anything that it could depend on."""

WORKER = Path(__file__).with_name("worker.py")
_MOST_SECONDS = 300.0


class Trace(NamedTuple):
    """What one process said.

    Attributes:
        started: Nanoseconds since 1970.
        rank: Its rank.
        process: Its id.
        lines: What it said, in order.
    """

    started: int
    rank: int
    process: int
    lines: tuple[dict[str, Any], ...]

    def of(self, what: str) -> list[dict[str, Any]]:
        """Lines of a kind."""
        return [line for line in self.lines if line["what"] == what]


class Nodes:
    """Nodes that train. Leaving it as a context ends all their processes.

    Where a process of a node ends with a fault, all nodes end and start again: as a step of ``srun`` does
    with auto-resume, or a job whose containers restart.

    Args:
        folder: Of this training alone.
        nodes: How many torchruns.
        options: Of the worker, beside its folder.
        alternate: Whether every other start saves in the background.
    """

    def __init__(self, folder: Path, *, nodes: int, options: Sequence[str], alternate: bool = False) -> None:
        (folder / "trace").mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.ranks = 4
        self._options = tuple(options)
        self._alternate = alternate
        self._starts = 0
        self._logs = [folder / f"node-{number}.log" for number in range(nodes)]
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def asynchronous(self) -> bool:
        """Whether the start that runs now saves in the background."""
        return self._alternate and self._starts % 2 == 0

    def start(self) -> None:
        """Start all nodes, which meet at a new port."""
        self._starts += 1
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TORCH"))},
            "PYTHONPATH": LIBRARY,
            "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": "lo",
        }
        nodes, port = len(self._logs), free_port()
        for number, log in enumerate(self._logs):
            command = [
                str(PROGRAMS / "torchrun"),
                f"--nnodes={nodes}",
                f"--nproc_per_node={self.ranks // nodes}",
                "--rdzv_backend=c10d",
                f"--rdzv_endpoint=127.0.0.1:{port}",
                "--rdzv_id=killed",
                f"--rdzv_conf=is_host={int(number == 0)}",
                "--local_addr=127.0.0.1",
                str(WORKER),
                f"--folder={self.folder}",
                *self._options,
                *(["--asynchronous"] if self.asynchronous else []),
            ]
            with log.open("ab") as stream:
                process = subprocess.Popen(
                    command,
                    env=environment,
                    cwd=self.folder,
                    stdout=stream,
                    stderr=stream,
                    start_new_session=True,
                )
            self._processes.append(process)

    def end(self) -> None:
        """Kill what is left of all nodes."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._processes.clear()
        # Workers have sessions of their own.
        while left := [trace.process for trace in self.traces() if _is_worker(trace.process, self.folder)]:
            for process in left:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)

    def start_again(self) -> None:
        """Wait until a node ends by itself, which it must do with a fault, end the others, and start all."""
        end = time.monotonic() + _MOST_SECONDS
        while not any(codes := [process.poll() for process in self._processes]):
            assert codes != [0] * len(codes), f"ended well after a kill:\n{self.logs()}"
            assert time.monotonic() < end, f"no node notices the kill:\n{self.logs()}"
            time.sleep(0.01)
        self.end()
        self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def traces(self) -> list[Trace]:
        """What all processes said until now, the first started first."""
        return sorted(map(_trace, (self.folder / "trace").glob("*.jsonl")))

    def latest(self) -> list[Trace]:
        """Of each rank the process that started last, by rank."""
        newest: dict[int, tuple[int, Path]] = {}
        for path in (self.folder / "trace").glob("*.jsonl"):
            started, rank, _ = map(int, path.stem.split("-"))
            if rank not in newest or newest[rank][0] < started:
                newest[rank] = (started, path)
        return [_trace(newest[rank][1]) for rank in sorted(newest)]

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something holds; all nodes must run until then."""
        end = time.monotonic() + _MOST_SECONDS
        while not condition():
            codes = [process.poll() for process in self._processes]
            if any(code is not None for code in codes) and not condition():
                raise AssertionError(f"nodes ended with {codes} before {what}:\n{self.logs()}")
            assert time.monotonic() < end, f"not within {_MOST_SECONDS} seconds: {what}\n{self.logs()}"
            time.sleep(0.01)

    def wait(self) -> list[int]:
        """Wait for the end, and return the exit codes."""
        return [process.wait(_MOST_SECONDS) for process in self._processes]

    def logs(self) -> str:
        """The end of what the nodes wrote."""
        return "\n".join(f"== {log.name}\n{log.read_text(errors='replace')[-6000:]}" for log in self._logs)


def train_to_the_end(folder: Path, options: Sequence[str]) -> list[Trace]:
    """Train without any interruption, on one node with as many ranks.

    Args:
        folder: Of this training alone.
        options: Of the worker.
    """
    with Nodes(folder, nodes=1, options=options) as nodes:
        assert nodes.wait() == [0], nodes.logs()
        return nodes.traces()


def _trace(path: Path) -> Trace:
    started, rank, process = map(int, path.stem.split("-"))
    lines = tuple(json.loads(line) for line in path.read_bytes().split(b"\n")[:-1])
    return Trace(started, rank, process, lines)


def _is_worker(process: int, folder: Path) -> bool:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        # A zombie has no words.
        return f"--folder={folder}".encode() in words
    except OSError:
        return False
