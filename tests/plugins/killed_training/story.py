"""Kills ranks and nodes, one after the other, and tells what became of the training."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hyperpod_lifecycle.training import read_records
from killed_training.agents import Agents
from killed_training.nodes import Nodes, Trace

_LOADING = 0.15
"""Share of kills that come before all ranks have loaded."""

# Ranks that wait to meet those of a node that is gone do so for half an hour. In training they notice, but
# for moments of a broadcast in which gloo waits for a rank that is gone.
_MOST_SECONDS_TO_NOTICE = 60.0

_MOST_SECONDS_OF_LOADING, _MOST_SECONDS_OF_STEPS, _MOST_SECONDS_OF_SAVE = 0.5, 0.05, 0.25
"""Kills come at most so long after ranks, steps or a save began: longer than loads, steps and saves take."""


@dataclass(frozen=True, kw_only=True)
class Kill:
    """A rank or a node that was killed.

    Attributes:
        what: ``rank 3`` or ``node 1``.
        loading: Whether the start was killed before all ranks had loaded.
        saving: Whether a save was under way: its folder of partial files was there.
        asynchronous: Whether saves were made in the background.
        plain: Whether the killed processes were started by the program ``torchrun``.
        last_step: Last step that any rank had done then.
        resumed_step: Step of the checkpoint at which training went on; -1 from the beginning.
        noticed_seconds: From the kill until a node that was not killed had ended by itself; None if all were
            ended before, as what runs nodes does when one is gone.
        seconds: From the kill until all ranks had loaded.
    """

    what: str
    loading: bool
    saving: bool
    asynchronous: bool
    plain: bool
    last_step: int
    resumed_step: int
    noticed_seconds: float | None
    seconds: float

    @property
    def lost_steps(self) -> int:
        """Steps that were done and had to be done again."""
        return max(0, self.last_step - self.resumed_step)

    @property
    def of_node(self) -> bool:
        """Whether a whole node was killed."""
        return self.what.startswith("node")

    @property
    def line(self) -> str:
        """For people who wait."""
        way = "background" if self.asynchronous else "in place"
        return (
            f"{self.what}{', loading' if self.loading else ''}, saves {way}"
            f"{', during one' if self.saving else ''}"
            f"{', plain torchrun' if self.plain else ''}: step {self.last_step}, resumed after "
            f"{self.resumed_step}, {self.seconds:.1f} s"
            f"{'' if self.noticed_seconds is None else f', noticed after {self.noticed_seconds:.1f} s'}"
        )


@dataclass(frozen=True, kw_only=True)
class Story:
    """What became of a training.

    Attributes:
        seed: Chose ranks and moments.
        kills: In order.
        traces: What all processes said.
        records: Of all its starts.
        codes: Exit codes of the nodes.
        faults: Whatever differs from the uninterrupted training.
        seconds: From the first start to the end.
    """

    seed: int
    kills: tuple[Kill, ...]
    traces: tuple[Trace, ...]
    records: tuple[dict[str, Any], ...]
    codes: tuple[int, ...]
    faults: tuple[str, ...]
    seconds: float

    def lost(self, *, asynchronous: bool) -> list[int]:
        """Steps lost by each kill of one way to save."""
        return [kill.lost_steps for kill in self.kills if kill.asynchronous == asynchronous]

    def report(self) -> str:
        """In a few lines, for people."""
        lines = [
            f"seed {self.seed}: {len(self.kills)} kills in {self.seconds:.0f} s, "
            f"{sum(kill.of_node for kill in self.kills)} of them of nodes, "
            f"{sum(kill.loading for kill in self.kills)} before all ranks had loaded, "
            f"{sum(kill.plain for kill in self.kills)} of processes of a plain torchrun; "
            f"{len(self.faults)} faults"
        ]
        for asynchronous, way in ((False, "saving in place"), (True, "saving in the background")):
            kills = [kill for kill in self.kills if kill.asynchronous == asynchronous]
            lost = self.lost(asynchronous=asynchronous)
            stalls = sorted(
                record["stall_seconds"]
                for record in self.records
                if record["kind"] == "save" and record["asynchronous"] == asynchronous
            )
            if kills:
                lines.append(
                    f"{way}: {len(kills)} kills, {sum(kill.saving for kill in kills)} during a save; at most "
                    f"{max(lost)} steps lost, {sum(lost) / len(lost):.1f} on average"
                )
            if stalls:
                middle = stalls[len(stalls) // 2]
                lines.append(
                    f"{way}: {len(stalls)} saves, stall {middle * 1000:.0f} ms (median), "
                    f"{stalls[-1] * 1000:.0f} ms (most)"
                )
        for told, seconds in (
            ("a node ended by itself", [kill.noticed_seconds for kill in self.kills]),
            ("all ranks had loaded", [kill.seconds for kill in self.kills]),
        ):
            known = sorted(value for value in seconds if value is not None)
            if known:
                lines.append(
                    f"from the kill until {told}: {known[len(known) // 2]:.1f} s (median), {known[-1]:.1f} s "
                    f"(most), of {len(known)}"
                )
        return "\n".join(lines)


def tell(
    folder: Path,
    *,
    kills: int,
    seed: int,
    options: Sequence[str],
    most_steps_between: int,
    before: Sequence[Trace],
    agents: Agents | None = None,
    plain_starts: Collection[int] = (),
    on_kill: Callable[[Kill], None] | None = None,
) -> Story:
    """Train with kills, and compare all that was done with an uninterrupted training.

    Saves are made in place and in the background, start by start. Every third kill is of a whole node, the
    others of a rank. Some come before all ranks have loaded. Of the others, half come after a number of
    steps, half when the next save has begun; each a moment later.

    Args:
        folder: Of this training alone.
        kills: How many.
        seed: Chooses ranks, nodes and moments.
        options: Of the worker.
        most_steps_between: A kill comes after at most so many steps of a start, or in the save after them.
        before: What the processes of the uninterrupted training said.
        agents: Starts torchruns. Default the program ``torchrun``.
        plain_starts: Numbers of the starts that are made by that program all the same.
        on_kill: Called with each kill once training has gone on. Default nothing.
    """
    chance = random.Random(seed)
    told: list[Kill] = []
    began = time.monotonic()

    def resumed(nodes: Nodes) -> int:
        """Wait for it, and tell of the kills before."""
        nodes.wait_for(lambda: _resumed(nodes.latest()), f"start {nodes.starts} has loaded")
        step = _step_of(nodes.latest()[0].of("resumed")[0])
        for kill, when in waiting:
            told.append(replace(kill, resumed_step=step, seconds=time.monotonic() - when))
            if on_kill is not None:
                on_kill(told[-1])
        waiting.clear()
        return step

    waiting: list[tuple[Kill, float]] = []
    with Nodes(
        folder, nodes=2, options=options, agents=agents, plain_starts=plain_starts, alternate=True
    ) as nodes:
        for number in range(kills):
            left = _partial(folder)
            loads = chance.random() < _LOADING
            if loads:
                nodes.wait_for(lambda: len(nodes.latest()) == nodes.ranks, "all ranks have begun")
                time.sleep(chance.random() * _MOST_SECONDS_OF_LOADING)
            else:
                wanted = resumed(nodes) + 1 + chance.randint(0, most_steps_between)
                in_save = chance.random() < 0.5
                nodes.wait_for(_Moment(nodes, wanted, in_save).came, f"step {wanted}")
                time.sleep(chance.random() * (_MOST_SECONDS_OF_SAVE if in_save else _MOST_SECONDS_OF_STEPS))
            gone = chance.randrange(2) if number % 3 == 2 else None
            rank = chance.randrange(nodes.ranks)
            when = time.monotonic()
            if gone is None:
                nodes.kill_rank(rank)
            else:
                nodes.kill_node(gone)
            saving = bool(_partial(folder) - left)
            asynchronous, plain, ended = nodes.asynchronous, nodes.plain, nodes.starts
            noticed = nodes.start_again(
                gone=gone, most_seconds=None if gone is None else 0.0 if loads else _MOST_SECONDS_TO_NOTICE
            )
            traces = nodes.traces_of(ended)
            kill = Kill(
                what=f"rank {rank}" if gone is None else f"node {gone}",
                loading=not _resumed(traces),
                saving=saving,
                asynchronous=asynchronous,
                plain=plain,
                last_step=max(map(_last_done, traces)),
                resumed_step=-1,
                noticed_seconds=noticed,
                seconds=0.0,
            )
            waiting.append((kill, when))
        resumed(nodes)
        codes = tuple(nodes.wait())
        everything = tuple(nodes.traces())
    return Story(
        seed=seed,
        kills=tuple(told),
        traces=everything,
        records=tuple(read_records(folder / "recovery")),
        codes=codes,
        faults=tuple(_faults(everything, before)),
        seconds=time.monotonic() - began,
    )


class _Moment:
    """When to kill: a step is done, and perhaps the save after it has begun."""

    def __init__(self, nodes: Nodes, step: int, in_save: bool) -> None:
        self._nodes = nodes
        self._step = step
        self._in_save = in_save

    def came(self) -> bool:
        what = "saves" if self._in_save else "done"
        return any(line["step"] >= self._step for trace in self._nodes.latest() for line in trace.of(what))


def _partial(folder: Path) -> set[str]:
    return {path.name for path in (folder / "checkpoints").glob(".saving-*")}


def _faults(traces: Sequence[Trace], before: Sequence[Trace]) -> list[str]:
    """Whatever differs from the uninterrupted training."""
    right = {(trace.rank, line["step"]): line for trace in before for line in trace.of("done")}
    faults = []
    for trace in traces:
        for line in trace.of("resumed"):
            step = line["step"]
            if line["newest"] != step and trace.rank == 0:
                faults.append(f"resumed at {step}, and the newest complete checkpoint was {line['newest']}")
            if line["not_restored"]:
                faults.append(f"rank {trace.rank} at {step}: did not restore {line['not_restored']}")
            if step is not None and line["digest"] != right[trace.rank, step]["digest"]:
                faults.append(f"rank {trace.rank} loaded other weights than those of step {step}")
        for line in trace.of("done"):
            for what in ("samples", "digest"):
                if line[what] != right[trace.rank, line["step"]][what]:
                    faults.append(f"rank {trace.rank} step {line['step']}: other {what}")
        steps = [line["step"] for line in trace.of("done")]
        if steps and steps != list(range(steps[0], steps[0] + len(steps))):
            faults.append(f"rank {trace.rank} left out or repeated steps: {steps}")
    done = {(trace.rank, line["step"]) for trace in traces for line in trace.of("done")}
    faults.extend(f"rank {rank} never did step {step}" for rank, step in sorted(right.keys() - done))
    return faults


def _resumed(traces: Sequence[Trace]) -> bool:
    return len(traces) == 4 and all(trace.of("resumed") for trace in traces)


def _step_of(line: dict[str, Any]) -> int:
    return -1 if line["step"] is None else int(line["step"])


def _last_done(trace: Trace) -> int:
    done = trace.of("done")
    return done[-1]["step"] if done else -1
