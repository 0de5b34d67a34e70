"""`hyperpod-goodput spares`: what each spare node buys."""

from __future__ import annotations

from argparse import Namespace

from hyperpod_lifecycle.goodput.command.inputs import derived_from
from hyperpod_lifecycle.goodput.command.output import write
from hyperpod_lifecycle.goodput.from_specs import Derived
from hyperpod_lifecycle.goodput.plots import Plot
from hyperpod_lifecycle.goodput.spare_value import SpareValue, spare_values
from hyperpod_lifecycle.goodput.tables import drawn, number, origin_lines, share, table


def run(options: Namespace) -> int:
    """Say what each spare buys.

    Returns:
        The exit code.

    Raises:
        UsageError: If an option is wrong.
    """
    derived = derived_from(options)
    values = spare_values(derived.scenario, most=options.most)
    write(
        options,
        text=lambda width: _text(derived, values, width),
        data=lambda: {"spares": [_data(value) for value in values]},
        plot=lambda: _plot(values),
    )
    return 0


def _text(derived: Derived, values: tuple[SpareValue, ...], width: int | None) -> str:
    rows = [
        [
            str(value.spare_nodes),
            share(value.waits),
            share(value.breakdown.goodput),
            share(value.breakdown.paid_goodput),
            *_worth(value),
        ]
        for value in values
    ]
    heads = [
        "spares",
        "failed nodes that wait",
        "goodput",
        "of all paid",
        "last spare saves",
        "and costs",
        "pays",
    ]
    made = table("What each spare buys, in accelerator-hours", heads, rows)
    return drawn([made], width) + "".join(f"{line}\n" for line in origin_lines(derived))


def _worth(value: SpareValue) -> list[str]:
    if value.spare_nodes == 0:
        return ["", "", ""]
    return [
        number(value.saved_accelerator_hours),
        number(value.cost_accelerator_hours),
        "yes" if value.pays else "no",
    ]


def _data(value: SpareValue) -> dict[str, object]:
    return {
        "spare_nodes": value.spare_nodes,
        "failed_nodes_that_wait": value.waits,
        "goodput": value.breakdown.goodput,
        "paid_goodput": value.breakdown.paid_goodput,
        "saved_accelerator_hours": value.saved_accelerator_hours,
        "cost_accelerator_hours": value.cost_accelerator_hours,
        "pays": value.pays,
    }


def _plot(values: tuple[SpareValue, ...]) -> Plot:
    return Plot(
        title="Goodput of all that is paid for, by number of spares",
        x_label="spare nodes",
        y_label="goodput, %",
        x=[float(value.spare_nodes) for value in values],
        y=[100 * value.breakdown.paid_goodput for value in values],
    )
