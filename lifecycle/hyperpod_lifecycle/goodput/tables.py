"""Reports as text, for people at a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table

from hyperpod_lifecycle.goodput.breakdown import Breakdown
from hyperpod_lifecycle.goodput.from_specs import Derived
from hyperpod_lifecycle.goodput.report import CLAIMS, RUNG_WORDS, Report
from hyperpod_lifecycle.goodput.scenario import MEANINGS
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

_WIDTH: Final = 110
_ORIGIN_WORDS: Final = {
    "option": "given",
    "job": "from the job",
    "cluster": "from the cluster",
    "assumption": "assumed; measure your own",
}


def text_of(report: Report, *, width: int | None = None) -> str:
    """Write a report as text.

    Args:
        report: What is expected.
        width: Columns. Default: 110.
    """
    return drawn([_run(report), _totals(report), _losses(report.expected), _ladder(report)], width) + "".join(
        f"{line}\n" for line in (*report.caveats, *origin_lines(report.derived), *_claim_lines())
    )


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table whose first column is text and whose others are numbers.

    Args:
        title: Above it.
        columns: Heads.
        rows: Cells.
    """
    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        made.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def drawn(parts: Iterable[Any], width: int | None) -> str:
    """Draw tables and lines as plain text.

    Args:
        parts: What to draw.
        width: Columns. Default: 110.
    """
    out = io.StringIO()
    console = Console(file=out, width=_WIDTH if width is None else width, color_system=None, highlight=False)
    for part in parts:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def share(value: float) -> str:
    """Write a share in percent."""
    return f"{value:.2%}"


def number(value: float) -> str:
    """Write a number with as many digits as one reads."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.1f}" if abs(value) >= 10 else f"{value:.2f}"


def origin_lines(derived: Derived) -> list[str]:
    """Say where the numbers of a run are from, one line for each origin."""
    lines = []
    for origin, words in _ORIGIN_WORDS.items():
        said = [
            f"{name}={_plain(getattr(derived.scenario, name))}"
            for name, where in derived.origins.items()
            if where == origin
        ]
        if said:
            lines.append(f"{words}: {', '.join(said)}")
    return lines


def _run(report: Report) -> str:
    scenario = report.derived.scenario
    rate = scenario.failures_per_hour
    every = "no failures" if rate == 0 else f"a failure every {number(1 / rate)} hours"
    return (
        f"{scenario.nodes} nodes with {scenario.accelerators_per_node} accelerators each and "
        f"{scenario.spare_nodes} spares, {scenario.days:g} days: "
        f"{scenario.accelerators * scenario.hours:,.0f} accelerator-hours, {every}\n"
    )


def _totals(report: Report) -> Table:
    columns = {"by hand": report.by_hand, "expected": report.expected}
    heads = ["", *columns]
    rows = {
        "failures": [number(each.all_failures) for each in columns.values()],
        "hours lost": [number(each.all_lost_hours) for each in columns.values()],
        "accelerator-hours lost": [number(each.lost_accelerator_hours) for each in columns.values()],
        "goodput": [share(each.goodput) for each in columns.values()],
        "goodput of all that is paid": [share(each.paid_goodput) for each in columns.values()],
    }
    if report.simulated is not None:
        mean, error = report.simulated.mean, report.simulated.goodput_error
        heads.append(f"{len(report.simulated.in_order):,} simulated runs")
        hours = report.derived.scenario.hours * error
        rows["failures"].append(number(mean.all_failures))
        rows["hours lost"].append(f"{number(mean.all_lost_hours)} ± {number(hours)}")
        rows["accelerator-hours lost"].append(number(mean.lost_accelerator_hours))
        rows["goodput"].append(f"{share(mean.goodput)} ± {share(error)}")
        rows["goodput of all that is paid"].append(share(mean.paid_goodput))
    return table("What failures cost", heads, ([name, *cells] for name, cells in rows.items()))


def _losses(breakdown: Breakdown) -> Table:
    kinds = list(breakdown.failures)
    rows = [
        [
            stage.name.replace("_", " "),
            *(number(breakdown.lost_hours.get((kind, stage.name), 0.0)) for kind in kinds),
            number(breakdown.lost_in(stage.name)),
            share(breakdown.lost_in(stage.name) / breakdown.scenario.hours),
        ]
        for stage in RECOVERY_STAGES
    ]
    stalls = breakdown.stall_hours
    rows.append(
        ["stopped by saves", *("" for _ in kinds), number(stalls), share(stalls / breakdown.scenario.hours)]
    )
    rows.append(
        [
            "all",
            *(number(breakdown.lost_to(kind)) for kind in kinds),
            number(breakdown.all_lost_hours),
            share(breakdown.all_lost_hours / breakdown.scenario.hours),
        ]
    )
    heads = ["stage of recovery", *(f"{kind} fails" for kind in kinds), "hours", "of the run"]
    return table("Where the expected hours go", heads, rows)


def _ladder(report: Report) -> Table:
    rows = (
        [
            f"{each.kind}: {MEANINGS[each.kind]}",
            RUNG_WORDS[each.rung],
            number(each.mean_minutes),
            number(each.most_minutes),
        ]
        for each in report.sent_back
    )
    return table(
        "How far back a failure sends the job",
        ["failure", "to", "minutes lost, mean", "at most"],
        rows,
    )


def _claim_lines() -> list[str]:
    lines = []
    for claim in CLAIMS:
        value = claim.assuming(because="it is only shown, as a claim")
        said = " to ".join(f"{each:.0%}" for each in (value if isinstance(value, tuple) else (value,)))
        lines.append(f"claimed by AWS, and not used here: {claim.name}, {said} ({claim.source})")
    return lines


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
