"""Goodput from the records that the resume library writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from hyperpod_lifecycle.goodput.measured import Measured, UnmeasurableError, measured, median_step
from hyperpod_lifecycle.goodput.one_clock import PlacedStart, on_one_clock
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

Record = Mapping[str, Any]


def measure_records(records: Iterable[Record]) -> Measured:
    """Measure a run.

    Args:
        records: Of all starts of one job, in their order (see ``hyperpod_lifecycle.training``).

    Raises:
        UnmeasurableError: If they say too little, or are of several jobs.
    """
    line = on_one_clock(_by_start(records))
    step = median_step([rate for start in line.starts for rate in _step_times(start.records)])
    lost: dict[str, float] = {}
    trained: PlacedStart | None = None
    for start in line.starts:
        for place, seconds in _lost(start, step, trained=trained):
            lost[place] = lost.get(place, 0.0) + seconds
        if _of_kind(start.records, "progress") or _of_kind(start.records, "recovery"):
            trained = start
    return measured(
        paid_seconds=line.starts[-1].ends - line.starts[0].begins,
        kept_steps=sum(_new_steps(start.records) for start in line.starts),
        step_seconds=step,
        starts=len(line.starts),
        lost_seconds=lost,
        warnings=line.warnings,
    )


def _by_start(records: Iterable[Record]) -> list[list[Record]]:
    found: dict[str, list[Record]] = {}
    jobs: set[str] = set()
    for record in records:
        jobs.add(record["job"])
        found.setdefault(record["attempt"], []).append(record)
    if len(jobs) > 1:
        raise UnmeasurableError(f"the records must be of one job, got {', '.join(sorted(jobs))}")
    starts = [start for start in found.values() if start[0]["kind"] == "start"]
    if not starts:
        raise UnmeasurableError("there are no records of a start")
    return starts


def _of_kind(start: list[Record], kind: str) -> list[Record]:
    return [record for record in start if record["kind"] == kind]


def _step_times(start: list[Record]) -> Iterator[float]:
    stalls = [(save["time"], save["stall_seconds"]) for save in _of_kind(start, "save")]
    for before, after in pairwise(_of_kind(start, "progress")):
        steps = after["next_step"] - before["next_step"]
        # A clock that went back between the two tells nothing about the steps.
        if steps > 0 and after["time"] >= before["time"] and after["seconds"] > before["seconds"]:
            stopped = sum(stall for time, stall in stalls if before["time"] < time <= after["time"])
            yield (after["seconds"] - before["seconds"] - stopped) / steps


def _new_steps(start: list[Record]) -> int:
    progress = _of_kind(start, "progress")
    return int(progress[-1]["new_steps"]) if progress else 0


def _lost(
    placed: PlacedStart, step_seconds: float, *, trained: PlacedStart | None
) -> Iterator[tuple[str, float]]:
    start = placed.records
    recoveries = _of_kind(start, "recovery")
    progress = _of_kind(start, "progress")
    if recoveries:
        seconds = recoveries[-1]["seconds"]
        for stage in RECOVERY_STAGES:
            spent = seconds[stage.name]
            if spent is None:  # killed before all lost steps were computed again
                spent = _again(recoveries[-1], progress) * step_seconds
            if stage.name == "job_restart" and trained is not None:
                # A recovery is recorded from the failure of the start that came furthest, over all starts
                # between that did not get there; what those trained is counted as theirs.
                gap = max(placed.begins - trained.ends, 0.0)
                spent = gap if placed.moved or trained.moved else min(spent, gap)
            yield stage.name.replace("_", " "), max(spent, 0.0)
    elif progress:
        first = progress[0]
        yield "start-up", max(first["time"] - first["seconds"] - start[0]["process_started"], 0.0)
    for save in _of_kind(start, "save"):
        yield "stopped by saves", save["stall_seconds"]


def _again(recovery: Record, progress: list[Record]) -> int:
    done = progress[-1]["next_step"] - recovery["resumed_step"] if progress else 0
    return min(int(done), int(recovery["steps_lost"]))
