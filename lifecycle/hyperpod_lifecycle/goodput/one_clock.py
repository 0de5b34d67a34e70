"""The starts of a job on one time line, though each was written by the clock of the node it ran on.

What a start measured itself, from its first time to its last, holds whatever its clock says. Between starts
the clocks of two nodes are compared. Starts cannot overlap, so of the idle times before each, which their
clocks tell, none can be less than one before: the most starts that agree in that keep their times, and the
others are put between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

Record = Mapping[str, Any]

_LEAST_SECONDS: Final = 2.0
"""Clocks that are kept by NTP are closer, and so are rounded times."""


@dataclass(frozen=True, kw_only=True)
class PlacedStart:
    """A start on the time line of the run.

    Attributes:
        records: Its records, in the order in which they were written.
        begins: Seconds since 1970.
        seconds: How long it lasted, by its own clock, without steps back of that clock.
        moved: Whether it does not stand where its clock says.
    """

    records: list[Record]
    begins: float
    seconds: float
    moved: bool

    @property
    def ends(self) -> float:
        """Time of its last record."""
        return self.begins + self.seconds


@dataclass(frozen=True, kw_only=True)
class TimeLine:
    """Starts in the order in which they happened.

    Attributes:
        starts: None overlaps another.
        warnings: Where clocks disagree: which records, by how much, and what was done about it.
    """

    starts: tuple[PlacedStart, ...]
    warnings: tuple[str, ...]


def on_one_clock(starts: Sequence[list[Record]]) -> TimeLine:
    """Put starts on one time line.

    Args:
        starts: The records of each start, the first of which is of the kind ``start``.
    """
    ordered = _in_order(starts)
    warnings = [warning for start in ordered for warning in _within(start)]
    lengths = [_seconds(start) for start in ordered]
    # How long the job had not run, all in all, before each start, by its clock.
    idle: list[float] = []
    spent = 0.0
    for start, seconds in zip(ordered, lengths, strict=True):
        idle.append(float(start[0]["process_started"]) - spent)
        spent += seconds
    kept = _longest_rising(idle)
    placed: list[PlacedStart] = []
    spent = 0.0
    floor = float("-inf")
    bounds = _bounds(idle, kept)
    for start, seconds, told, (least, most) in zip(ordered, lengths, idle, bounds, strict=True):
        # Not before one that was put between the same two.
        floor = there = min(max(told, least, floor), most)
        apart = abs(there - told)
        if apart > _LEAST_SECONDS:
            warnings.append(
                f"{name_of(start)} is {'behind' if there > told else 'ahead of'} the starts around it "
                f"by {apart:,.0f} s or more, by the clock of its node: {_conflict(ordered, len(placed))}; it "
                "counts with its own length, between them"
            )
        placed.append(
            PlacedStart(records=start, begins=there + spent, seconds=seconds, moved=apart > _LEAST_SECONDS)
        )
        spent += seconds
    return TimeLine(starts=tuple(placed), warnings=tuple(warnings))


def _bounds(idle: Sequence[float], kept: set[int]) -> list[tuple[float, float]]:
    """Return between what the idle time before each start is, by the starts that are kept."""
    least, most = [float("-inf")] * len(idle), [float("inf")] * len(idle)
    known = float("-inf")
    for number, value in enumerate(idle):
        known = value if number in kept else known
        least[number] = known
    known = float("inf")
    for number in reversed(range(len(idle))):
        known = idle[number] if number in kept else known
        most[number] = known
    return list(zip(least, most, strict=True))


def name_of(start: Sequence[Record]) -> str:
    """Return what to call a start in a message."""
    return f"the start {start[0]['attempt']}"


def _in_order(starts: Sequence[list[Record]]) -> list[list[Record]]:
    """Order starts by their times or, where these contradict what a start knew, by what it knew.

    A start knows the last step that was done before it, and that never becomes less.
    """
    by_time = sorted(starts, key=lambda start: float(start[0]["process_started"]))
    if not any(_recovers_from_later(start) for start in by_time):
        return by_time
    known = -1
    keys: list[int] = []
    for start in by_time:
        told = _last_step(start)
        known = known if told is None else told
        keys.append(known)
    order = sorted(range(len(by_time)), key=lambda number: keys[number])
    return [by_time[number] for number in order]


def _recovers_from_later(start: Sequence[Record]) -> bool:
    """Tell whether a start recovers from a failure that, by the clocks, came after its begin."""
    began = float(start[0]["process_started"])
    return any(
        one["failed_at"] is not None and float(one["failed_at"]) > began + _LEAST_SECONDS
        for one in start
        if one["kind"] == "recovery"
    )


def _last_step(start: Sequence[Record]) -> int | None:
    if not start[0]["recovers"]:
        return -1
    told = [one["last_step"] for one in start if one["kind"] == "recovery"]
    return int(told[-1]) if told and told[-1] is not None else None


def _times(start: Sequence[Record]) -> list[float]:
    return [float(start[0]["process_started"]), *(float(one["time"]) for one in start)]


def _seconds(start: Sequence[Record]) -> float:
    """Return how long a start lasted; a step back of its clock takes nothing away."""
    return sum(max(after - before, 0.0) for before, after in pairwise(_times(start)))


def _within(start: Sequence[Record]) -> list[str]:
    """Find steps back of the clock of one start, and lengths that are less than nothing."""
    kinds = ["process_started", *(one["kind"] for one in start)]
    times = _times(start)
    found = [
        f"the clock of {name_of(start)} went back by {times[number - 1] - times[number]:,.0f} s before "
        f"record {number} ('{kinds[number]}'): what passed meanwhile is not counted"
        for number in range(1, len(times))
        if times[number - 1] - times[number] > _LEAST_SECONDS
    ]
    for one in start:
        told = one["seconds"] if one["kind"] == "recovery" else {}
        found += [
            f"{name_of(start)} tells of {seconds:,.0f} s of {stage.replace('_', ' ')}: it counts as none"
            for stage, seconds in told.items()
            if seconds is not None and seconds < 0
        ]
    return list(dict.fromkeys(found))


def _conflict(ordered: Sequence[list[Record]], number: int) -> str:
    """Say which neighbour a start overlaps, by their clocks."""
    own = _times(ordered[number])
    if number > 0 and own[0] < (ended := max(_times(ordered[number - 1]))):
        before = name_of(ordered[number - 1])
        return f"it begins {ended - own[0]:,.0f} s before {before} ends, or both ran at once"
    if number + 1 < len(ordered) and max(own) > (begins := _times(ordered[number + 1])[0]):
        after = name_of(ordered[number + 1])
        return f"it ends {max(own) - begins:,.0f} s after {after} begins, or both ran at once"
    return "its time does not go with those of several starts"


def _longest_rising(values: Sequence[float]) -> set[int]:
    """Return the places of the longest row of values of which none is less than one before.

    Of several the one that spans the least: no more idle time is taken for granted than has to be.
    """
    if all(before <= after for before, after in pairwise(values)):
        return set(range(len(values)))
    lengths: list[int] = []
    firsts: list[float] = []
    before: list[int | None] = []
    for place, value in enumerate(values):
        best = max(
            (one for one in range(place) if values[one] <= value),
            key=lambda one: (lengths[one], firsts[one]),
            default=None,
        )
        before.append(best)
        lengths.append(1 if best is None else lengths[best] + 1)
        firsts.append(value if best is None else firsts[best])
    last: int | None = max(
        range(len(values)), key=lambda place: (lengths[place], firsts[place] - values[place])
    )
    found: set[int] = set()
    while last is not None:
        found.add(last)
        last = before[last]
    return found
