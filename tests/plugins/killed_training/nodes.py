"""Nodes as processes: one torchrun each, and what their ranks say."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from operator_double.kubelet import free_port

from killed_training.agents import LIBRARY, WORKER, Agent, Agents, PlainAgents, parent

__all__ = ["LIBRARY", "WORKER", "Nodes", "Trace", "train_to_the_end"]

_MOST_SECONDS = 300.0
_MOST_SECONDS_OF_TRAINING = 3600.0


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
        options: Of the worker, beside its folders.
        agents: Starts torchruns. Default the program ``torchrun``.
        plain_starts: Numbers of the starts, from 1 on, that are made by the program ``torchrun`` whatever
            ``agents`` is.
        alternate: Whether every other start saves in the background.
    """

    def __init__(
        self,
        folder: Path,
        *,
        nodes: int,
        options: Sequence[str],
        agents: Agents | None = None,
        plain_starts: Collection[int] = (),
        alternate: bool = False,
    ) -> None:
        self.folder = folder
        self.ranks = 4
        self.starts = 0
        self._options = tuple(options)
        self._plain = PlainAgents(f"--folder={folder}")
        self._agents = self._plain if agents is None else agents
        self._plain_starts = plain_starts
        self._alternate = alternate
        self._logs = [folder / f"node-{number}.log" for number in range(nodes)]
        self._running: list[Agent] = []

    @property
    def asynchronous(self) -> bool:
        """Whether the start that runs now saves in the background."""
        return self._alternate and self.starts % 2 == 0

    @property
    def plain(self) -> bool:
        """Whether the start that runs now was made by the program ``torchrun``."""
        return self._by is self._plain

    @property
    def _by(self) -> Agents:
        return self._plain if self.starts in self._plain_starts else self._agents

    def _folder_of(self, start: int) -> Path:
        return self.folder / "trace" / f"{start:04}"

    def start(self) -> None:
        """Start all nodes, which meet at a new port."""
        self.starts += 1
        traces = self._folder_of(self.starts)
        traces.mkdir(parents=True)
        nodes, port = len(self._logs), free_port()
        for number, log in enumerate(self._logs):
            agent = self._by.start(
                [
                    f"--nnodes={nodes}",
                    f"--nproc_per_node={self.ranks // nodes}",
                    "--rdzv_backend=c10d",
                    f"--rdzv_endpoint=127.0.0.1:{port}",
                    "--rdzv_id=killed",
                    f"--rdzv_conf=is_host={int(number == 0)}",
                    "--local_addr=127.0.0.1",
                ],
                [
                    f"--folder={self.folder}",
                    f"--trace={traces}",
                    *self._options,
                    *(["--asynchronous"] if self.asynchronous else []),
                ],
                log=log,
                folder=self.folder,
            )
            self._running.append(agent)

    def kill_rank(self, rank: int) -> None:
        """Kill one process that trains. Its torchrun lives."""
        os.kill(self.latest()[rank].process, signal.SIGKILL)

    def kill_node(self, number: int) -> None:
        """Kill a torchrun and all that it started, as a node that is gone."""
        agent = self._running[number].pid
        # Found before: who loses its parent gets another.
        ranks = [trace.process for trace in self.latest() if parent(trace.process) == agent]
        assert len(ranks) == self.ranks // len(self._logs), f"node {number} has ranks {ranks}:\n{self.logs()}"
        for process in (agent, *ranks):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def end(self) -> None:
        """Kill what is left of all nodes."""
        for agent in self._running:
            if agent.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(agent.pid, signal.SIGKILL)
            agent.wait(_MOST_SECONDS)
        self._running.clear()
        # Workers of a plain torchrun have sessions of their own; those of a killed one have outlived it.
        while left := [trace.process for trace in self.latest() if self._by.started(trace.process)]:
            for process in left:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)

    def start_again(self, *, gone: int | None = None, most_seconds: float | None = None) -> float | None:
        """Wait until a node ends by itself, which it must do with a fault, end the others, and start all.

        Args:
            gone: Number of a node that was killed, which does not count as ended by itself. Default none.
            most_seconds: Wait so long, then end all: as what runs nodes does when one is gone. By default a
                node must end by itself.

        Returns:
            Seconds until a node ended by itself; None if none did.
        """
        began = time.monotonic()
        watched = [agent for number, agent in enumerate(self._running) if number != gone]
        noticed: float | None = None
        while True:
            codes = [agent.poll() for agent in watched]
            assert codes != [0] * len(codes), f"ended well after a kill:\n{self.logs()}"
            if any(codes):
                noticed = time.monotonic() - began
                break
            if most_seconds is not None and time.monotonic() - began > most_seconds:
                break
            assert time.monotonic() - began < _MOST_SECONDS, f"no node notices the kill:\n{self.logs()}"
            time.sleep(0.01)
        self.end()
        self.start()
        return noticed

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def traces(self) -> list[Trace]:
        """What all processes said until now, the first started first."""
        return sorted(map(_trace, (self.folder / "trace").glob("*/*.jsonl")))

    def traces_of(self, start: int) -> list[Trace]:
        """What the processes of a start said, by rank."""
        return sorted(map(_trace, self._folder_of(start).glob("*.jsonl")), key=lambda trace: trace.rank)

    def latest(self) -> list[Trace]:
        """What the processes of the start that runs now said, by rank."""
        return self.traces_of(self.starts)

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something holds; all nodes must run until then."""
        end = time.monotonic() + _MOST_SECONDS
        while not condition():
            codes = [agent.poll() for agent in self._running]
            if any(code is not None for code in codes) and not condition():
                raise AssertionError(f"nodes ended with {codes} before {what}:\n{self.logs()}")
            assert time.monotonic() < end, f"not within {_MOST_SECONDS} seconds: {what}\n{self.logs()}"
            time.sleep(0.01)

    def wait(self) -> list[int]:
        """Wait for the end, and return the exit codes."""
        return [agent.wait(_MOST_SECONDS_OF_TRAINING) for agent in self._running]

    def logs(self) -> str:
        """The end of what the nodes wrote."""
        return "\n".join(
            f"== {log.name}\n{log.read_text(errors='replace')[-6000:]}" for log in self._logs if log.exists()
        )


def train_to_the_end(folder: Path, options: Sequence[str], agents: Agents | None = None) -> list[Trace]:
    """Train without any interruption, on one node with as many ranks.

    Args:
        folder: Of this training alone.
        options: Of the worker.
        agents: Starts torchruns. Default the program ``torchrun``.
    """
    with Nodes(folder, nodes=1, options=options, agents=agents) as nodes:
        assert nodes.wait() == [0], nodes.logs()
        return nodes.traces()


def _trace(path: Path) -> Trace:
    started, rank, process = map(int, path.stem.split("-"))
    lines = tuple(json.loads(line) for line in path.read_bytes().split(b"\n")[:-1])
    return Trace(started, rank, process, lines)
