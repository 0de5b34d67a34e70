"""Writes what a command found: text or JSON, and a plot."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_lifecycle.goodput.plots import Plot, draw
from hyperpod_model.command_line.output import columns, emit


def write(
    options: Namespace,
    *,
    text: Callable[[int | None], str],
    data: Callable[[], Mapping[str, Any]],
    plot: Callable[[], Plot],
) -> None:
    """Write a result in the way that the user asked for.

    Args:
        options: With ``format`` and ``plot``.
        text: Makes the text for a number of columns.
        data: Makes the values for JSON.
        plot: Makes the plot.

    Raises:
        UsageError: If the plot cannot be drawn.
    """
    as_json = options.format == "json"
    emit(f"{json.dumps(data(), indent=2)}\n" if as_json else text(columns(sys.stdout)))
    if options.plot is not None:
        drawing = draw(plot(), options.plot)
        # Standard output stays JSON.
        print(drawing, end="", file=sys.stderr if as_json else sys.stdout)
