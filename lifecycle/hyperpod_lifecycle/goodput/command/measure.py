"""`hyperpod-goodput measure`: the goodput that a run had."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hyperpod_lifecycle.goodput.command.output import write
from hyperpod_lifecycle.goodput.measure_logs import DEFAULT_PATTERN, compiled, measure_logs
from hyperpod_lifecycle.goodput.measure_records import measure_records
from hyperpod_lifecycle.goodput.measured import Measured, UnmeasurableError
from hyperpod_lifecycle.goodput.plots import Plot
from hyperpod_lifecycle.goodput.tables import drawn, number, share, table
from hyperpod_lifecycle.training.recovery_records import read_records
from hyperpod_model.command_line.parser import UsageError

_RECORDS: Final = ".jsonl"


def run(options: Namespace) -> int:
    """Measure.

    Returns:
        The exit code: 1 where the goodput is below ``--at-least``.

    Raises:
        UsageError: If an option is wrong, or a file says too little.
    """
    try:
        found = _measured(options)
    except (UnmeasurableError, OSError) as error:
        raise UsageError(str(error)) from error
    write(
        options,
        text=lambda width: _text(found, options.accelerators, width),
        data=lambda: _data(found, options.accelerators),
        plot=lambda: _plot(found),
    )
    return int(options.at_least is not None and found.goodput < options.at_least)


def _measured(options: Namespace) -> Measured:
    paths = [Path(path) for path in options.paths]
    are_records = [path.is_dir() or path.suffix == _RECORDS for path in paths]
    if all(are_records):
        if options.pattern is not None:
            raise UsageError("--pattern is for logs, and the paths are records of the resume library")
        return measure_records(_records(paths))
    if any(are_records):
        raise UsageError("the paths must be records of the resume library or logs, not both")
    pattern = compiled(DEFAULT_PATTERN if options.pattern is None else options.pattern)
    return measure_logs(_lines(paths), pattern=pattern)


def _records(paths: list[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        try:
            yield from read_records(path)
        except ValueError as error:
            raise UnmeasurableError(str(error)) from error


def _lines(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        with path.open(encoding="utf-8", errors="replace") as log:
            yield from log


def _text(found: Measured, accelerators: int | None, width: int | None) -> str:
    rows = [["progress that was kept", number(found.kept_hours), share(found.goodput)]]
    rows += [
        [place, number(hours), share(hours / found.paid_hours)]
        for place, hours in sorted(found.lost_hours.items(), key=lambda item: -item[1])
    ]
    lines = [
        f"Goodput {share(found.goodput)}: {found.kept_steps} steps of {found.step_seconds:.3g} s in "
        f"{number(found.paid_hours)} hours and {found.starts} starts.\n"
    ]
    if accelerators is not None:
        lost = (found.paid_hours - found.kept_hours) * accelerators
        lines.append(f"{number(lost)} accelerator-hours made no progress.\n")
    made = table("Where the hours went", ["", "hours", "of the run"], rows)
    warnings = (f"warning: {warning}" for warning in found.warnings)
    return drawn([*lines, made], width) + "".join(f"{line}\n" for line in (*warnings, *found.advice))


def _data(found: Measured, accelerators: int | None) -> dict[str, Any]:
    return {
        "goodput": found.goodput,
        "paid_hours": found.paid_hours,
        "kept_hours": found.kept_hours,
        "kept_steps": found.kept_steps,
        "step_seconds": found.step_seconds,
        "starts": found.starts,
        "lost_hours": dict(found.lost_hours),
        "lost_accelerator_hours": None
        if accelerators is None
        else (found.paid_hours - found.kept_hours) * accelerators,
        "advice": list(found.advice),
        "warnings": list(found.warnings),
    }


def _plot(found: Measured) -> Plot:
    worst = sorted(found.lost_hours.items(), key=lambda item: -item[1])
    return Plot(
        kind="bars",
        title=f"Where {found.paid_hours:,.1f} hours went; goodput {found.goodput:.1%}",
        x_label="place",
        y_label="hours",
        x=["progress that was kept", *(place for place, _ in worst)],
        y=[found.kept_hours, *(hours for _, hours in worst)],
    )
