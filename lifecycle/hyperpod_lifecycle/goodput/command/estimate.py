"""`hyperpod-goodput estimate`: what failures are expected to cost."""

from __future__ import annotations

from argparse import Namespace

from hyperpod_lifecycle.goodput.command.inputs import derived_from
from hyperpod_lifecycle.goodput.command.output import write
from hyperpod_lifecycle.goodput.plots import Plot
from hyperpod_lifecycle.goodput.report import Report, as_data, report_of
from hyperpod_lifecycle.goodput.tables import text_of
from hyperpod_model.catalog.recovery import RECOVERY_STAGES


def run(options: Namespace) -> int:
    """Estimate.

    Returns:
        The exit code.

    Raises:
        UsageError: If an option is wrong.
    """
    report = report_of(derived_from(options), runs=options.runs, seed=options.seed)
    write(
        options,
        text=lambda width: text_of(report, width=width),
        data=lambda: as_data(report),
        plot=lambda: _plot(report),
    )
    return 0


def _plot(report: Report) -> Plot:
    expected = report.expected
    return Plot(
        kind="bars",
        title=f"Hours lost of {report.derived.scenario.hours:,.0f}, expected; goodput {expected.goodput:.1%}",
        x_label="stage of recovery",
        y_label="hours",
        x=[*(stage.name.replace("_", " ") for stage in RECOVERY_STAGES), "stopped by saves"],
        y=[*(expected.lost_in(stage.name) for stage in RECOVERY_STAGES), expected.stall_hours],
    )
