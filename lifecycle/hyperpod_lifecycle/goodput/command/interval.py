"""`hyperpod-goodput interval`: how often to save durable checkpoints."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_lifecycle.goodput.command.inputs import derived_from
from hyperpod_lifecycle.goodput.command.output import write
from hyperpod_lifecycle.goodput.from_specs import Derived
from hyperpod_lifecycle.goodput.intervals import (
    SavedEvery,
    around,
    best_interval,
    daly,
    estimated_intervals,
    hours_between_losses,
    simulated_intervals,
    young,
)
from hyperpod_lifecycle.goodput.plots import Plot
from hyperpod_lifecycle.goodput.tables import drawn, number, origin_lines, share, table
from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.faults import InvalidInputError


@dataclass(frozen=True, kw_only=True)
class _Answer:
    derived: Derived
    best: SavedEvery
    now: SavedEvery
    young: float | None
    daly: float | None
    expected: tuple[SavedEvery, ...]
    simulated: tuple[SavedEvery, ...]


def run(options: Namespace) -> int:
    """Find the interval.

    Returns:
        The exit code.

    Raises:
        UsageError: If an option is wrong, or no interval is best.
    """
    answer = _answer(derived_from(options), runs=options.runs, seed=options.seed)
    write(
        options,
        text=lambda width: _text(answer, width),
        data=lambda: _data(answer),
        plot=lambda: _plot(answer),
    )
    return 0


def _answer(derived: Derived, *, runs: int, seed: int) -> _Answer:
    scenario = derived.scenario
    try:
        best = best_interval(scenario)
    except InvalidInputError as error:
        raise UsageError(str(error)) from error
    minutes = around(best.minutes, scenario=scenario)
    stall, between = scenario.save_stall_seconds, hours_between_losses(scenario)
    (now,) = estimated_intervals(scenario, [scenario.checkpoint_interval_minutes])
    return _Answer(
        derived=derived,
        best=best,
        now=now,
        young=young(save_stall_seconds=stall, hours_between_failures=between) if stall else None,
        daly=daly(save_stall_seconds=stall, hours_between_failures=between) if stall else None,
        expected=estimated_intervals(scenario, minutes),
        simulated=simulated_intervals(scenario, minutes, runs=runs, seed=seed) if runs else (),
    )


def _text(answer: _Answer, width: int | None) -> str:
    scenario = answer.derived.scenario
    lines = [
        f"A durable checkpoint every {number(answer.best.minutes)} minutes of training loses least: goodput "
        f"{share(answer.best.goodput)}. Every {number(answer.now.minutes)} minutes, as now: "
        f"{share(answer.now.goodput)}.",
        _by_formula(answer),
        f"No shorter than a save takes ({number(scenario.save_minutes)} minutes): two saves in flight can "
        "deadlock.\n",
    ]
    heads = ["minutes between checkpoints", "goodput, expected"]
    if answer.simulated:
        heads += ["simulated", "below the best by"]
    simulated = answer.simulated if answer.simulated else (None,) * len(answer.expected)
    rows = [
        [number(each.minutes), share(each.goodput), *_simulated_cells(run, answer.simulated)]
        for each, run in zip(answer.expected, simulated, strict=True)
    ]
    return drawn([*lines, table("Intervals", heads, rows)], width) + "".join(
        f"{line}\n" for line in origin_lines(answer.derived)
    )


def _by_formula(answer: _Answer) -> str:
    if answer.young is None or answer.daly is None:
        return "Young's and Daly's formulas need a save that stops training (save_stall_seconds)."
    return f"By formula: Young {number(answer.young)}, Daly {number(answer.daly)} minutes."


def _simulated_cells(run: SavedEvery | None, all_runs: Sequence[SavedEvery]) -> list[str]:
    if run is None:
        return []
    below = max(each.goodput for each in all_runs) - run.goodput
    return [share(run.goodput), f"{share(below)} ± {share(run.error)}" if below else "the best"]


def _data(answer: _Answer) -> dict[str, object]:
    return {
        "best": answer.best._asdict(),
        "now": answer.now._asdict(),
        "young_minutes": answer.young,
        "daly_minutes": answer.daly,
        "expected": [each._asdict() for each in answer.expected],
        "simulated": [each._asdict() for each in answer.simulated],
    }


def _plot(answer: _Answer) -> Plot:
    return Plot(
        title="Share of the run lost, by checkpoint interval",
        x_label="minutes of training between durable checkpoints",
        y_label="lost, %",
        x=[each.minutes for each in answer.expected],
        y=[100 * (1 - each.goodput) for each in answer.expected],
        logarithmic=True,
        mark=(answer.best.minutes, f"{number(answer.best.minutes)} min"),
    )
