"""Goodput from the logs of a run: lines with a time and a step."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, NamedTuple

from hyperpod_lifecycle.goodput.measured import Measured, UnmeasurableError, measured, median_step

DEFAULT_PATTERN: Final = (
    r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
    r".*?\bstep\s*[=:]?\s*(?P<step>\d+)"
)
"""A time as in ISO 8601, and after it ``step=N``, ``step N`` or ``step: N``."""

_STANDS_STILL: Final = 10
"""Between two steps of which the second goes on where the first was, a start lies if it took that many times
longer than usual, and more than a minute."""
_LEAST_PAUSE_SECONDS: Final = 60.0
_STEP_DIGITS: Final = 18
_MOST_STARTS: Final = 0.1
"""A log in which a larger share of the lines begins a start is not that of one rank."""
_SEVERAL_RANKS: Final = 5
"""Below so many starts their share says nothing."""


class _Line(NamedTuple):
    time: float
    step: int


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of a user.

    Args:
        pattern: Regular expression with the groups ``time`` and ``step``.

    Raises:
        UnmeasurableError: If it is none, or has no such groups.
    """
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise UnmeasurableError(f"--pattern is no regular expression: {error}") from error
    missing = {"time", "step"} - set(found.groupindex)
    if missing:
        raise UnmeasurableError(
            "--pattern needs the groups (?P<time>...) and (?P<step>...), and has no "
            f"{' and no '.join(sorted(missing))}"
        )
    return found


def measure_logs(lines: Iterable[str], *, pattern: re.Pattern[str]) -> Measured:
    """Measure a run by the log of one rank, all starts one after the other.

    A step that is not beyond the one before begins a new start. Of a start that goes on exactly where the one
    before ended only its pause tells. Lines are put in the order of their times, and a step that is told
    twice in a row without a start between counts once.

    Args:
        lines: The log.
        pattern: How a line says that a step is done.

    Raises:
        UnmeasurableError: If too few lines do, or they are not of one rank with one clock.
    """
    told = _once(sorted(_told(lines, pattern), key=lambda line: line.time))
    if len(told) < 2:
        raise UnmeasurableError(
            f"{len(told)} lines of the log say that a step is done, and two are needed; say with --pattern "
            "how they look"
        )
    step = median_step(
        [
            (after.time - before.time) / (after.step - before.step)
            for before, after in pairwise(told)
            if after.step > before.step
        ]
    )
    lost = {"restart": 0.0, "lost steps": 0.0}
    starts, furthest = 1, told[0].step
    for before, after in pairwise(told):
        passed = after.time - before.time
        goes_on = after.step > before.step
        if not goes_on or passed > max(
            _STANDS_STILL * step * (after.step - before.step), _LEAST_PAUSE_SECONDS
        ):
            starts += 1
            done = after.step - before.step if goes_on else 1
            lost["restart"] += max(passed - done * step, 0.0)
        again = min(after.step, furthest) - (before.step if goes_on else after.step - 1)
        lost["lost steps"] += max(again, 0) * step
        furthest = max(furthest, after.step)
    if starts > max(_SEVERAL_RANKS, _MOST_STARTS * len(told)):
        raise UnmeasurableError(
            f"{starts} of {len(told)} lines do not go on from the line before: the log must be of one rank, "
            "whose clock does not go back"
        )
    return measured(
        paid_seconds=told[-1].time - told[0].time,
        kept_steps=furthest - told[0].step,
        step_seconds=step,
        starts=starts,
        lost_seconds=lost,
    )


def _once(told: Sequence[_Line]) -> list[_Line]:
    """Leave out what repeats the line before: other ranks, or a console that is kept twice."""
    rates = [
        (after.time - before.time) / (after.step - before.step)
        for before, after in pairwise(told)
        if after.step > before.step
    ]
    if not rates:
        return list(told)
    step = median_step(rates)
    kept = list(told[:1])
    for line in told[1:]:
        if line.step != kept[-1].step or line.time - kept[-1].time > step / 2:
            kept.append(line)
    return kept


def _told(lines: Iterable[str], pattern: re.Pattern[str]) -> Iterator[_Line]:
    for line in lines:
        found = pattern.search(line)
        if found is not None:
            yield _Line(_seconds(found["time"]), _step(found["step"]))


def _step(text: str | None) -> int:
    # Of what str.isdecimal takes, int takes all, but not thousands of digits.
    if text is None or not text.isdecimal() or len(text) > _STEP_DIGITS:
        raise UnmeasurableError(f"'{text}' is no step: it must be a whole number")
    return int(text)


def _seconds(text: str | None) -> float:
    if text is None:
        raise UnmeasurableError("the group 'time' of --pattern must be a part of every line that it finds")
    try:
        seconds = float(text)  # since 1970
    except ValueError:
        pass
    else:
        if not math.isfinite(seconds):
            raise UnmeasurableError(f"'{text}' is no time")
        return seconds
    try:
        time = datetime.fromisoformat(text.replace(",", "."))
    except ValueError as error:
        raise UnmeasurableError(f"'{text}' is no time as in ISO 8601, and no number of seconds") from error
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()
