"""Curves and bars: into an SVG or PNG file, or as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from hyperpod_model.command_line.parser import UsageError

TERMINAL: Final = "-"
_SUFFIXES: Final = (".svg", ".png")
_COLOUR: Final = "#1f5fa8"
_MARK_COLOUR: Final = "#b3411a"
_EXTRA: Final = "install it with: pip install 'cdk-hyperpod[plots]'"


@dataclass(frozen=True, kw_only=True)
class Plot:
    """One series of values.

    Attributes:
        title: Above it.
        x_label: Below it.
        y_label: Beside it.
        x: Places: numbers for a curve, names for bars.
        y: Values.
        kind: ``curve`` or ``bars``.
        logarithmic: Whether the places are spread by their ratio.
        mark: Place on a curve that is pointed out, with its words.
    """

    title: str
    x_label: str
    y_label: str
    x: Sequence[float] | Sequence[str]
    y: Sequence[float]
    kind: Literal["curve", "bars"] = "curve"
    logarithmic: bool = False
    mark: tuple[float, str] | None = None


def draw(plot: Plot, where: str, *, width: int = 100) -> str:
    """Draw a plot.

    Args:
        plot: What to draw.
        where: A file that ends with ``.svg`` or ``.png``, or ``-`` for text.
        width: Columns of text.

    Returns:
        The text for a terminal; of a file, where it is.

    Raises:
        UsageError: If the file has another ending or cannot be written, or a library is missing.
    """
    if where == TERMINAL:
        return _as_text(plot, width)
    if Path(where).suffix not in _SUFFIXES:
        raise UsageError(f"--plot must end with {' or '.join(_SUFFIXES)}, or be -, got {where!r}")
    _as_file(plot, where)
    return f"drawn: {where}\n"


def _as_file(plot: Plot, where: str) -> None:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError(f"--plot {where} needs matplotlib; {_EXTRA}") from error
    # The same bytes for the same values: no date, and ids that do not change.
    with matplotlib.rc_context({"svg.hashsalt": "hyperpod-goodput", "font.size": 10}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        _fill(axes, plot)
        metadata: dict[str, Any] = {"Date": None} if where.endswith(".svg") else {}
        try:
            figure.savefig(where, dpi=150, metadata=metadata)
        except OSError as error:
            raise UsageError(f"--plot {where} cannot be written: {error.strerror}") from error


def _fill(axes: Any, plot: Plot) -> None:
    if plot.kind == "bars":
        bars = axes.barh(list(plot.x), list(plot.y), color=_COLOUR)
        axes.bar_label(bars, fmt="%.1f", padding=3)
        axes.invert_yaxis()
        axes.margins(x=0.1)
        axes.set_xlabel(plot.y_label)
    else:
        axes.plot(list(plot.x), list(plot.y), color=_COLOUR, marker="o", markersize=3)
        axes.set_xlabel(plot.x_label)
        axes.set_ylabel(plot.y_label)
        axes.grid(alpha=0.3)
        if all(float(each).is_integer() for each in plot.x):
            # Of what is counted there are no halves.
            axes.xaxis.get_major_locator().set_params(integer=True)
        if plot.logarithmic:
            from matplotlib.ticker import LogLocator, NullLocator

            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_locator(NullLocator())
        if plot.mark is not None:
            at, words = plot.mark
            axes.axvline(at, color=_MARK_COLOUR, linestyle="--", linewidth=1)
            axes.annotate(
                words,
                (at, 0.97),
                xycoords=("data", "axes fraction"),
                xytext=(5, 0),
                textcoords="offset points",
                va="top",
                color=_MARK_COLOUR,
            )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_title(plot.title, loc="left")


def _as_text(plot: Plot, width: int) -> str:
    try:
        import plotext
    except ImportError as error:
        raise UsageError(f"--plot - needs plotext; {_EXTRA}") from error
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plotsize(width, 20)
    plotext.title(plot.title)
    if plot.kind == "bars":
        # The first bar is drawn at the bottom.
        plotext.bar([*reversed(plot.x)], [*reversed(plot.y)], orientation="horizontal", width=0.5)
        plotext.xlabel(plot.y_label)
    else:
        plotext.plot(list(plot.x), list(plot.y), marker="braille")
        if plot.logarithmic:
            plotext.xscale("log")
        if plot.mark is not None:
            plotext.vline(plot.mark[0])
        plotext.xlabel(plot.x_label)
        plotext.ylabel(plot.y_label)
    built: str = plotext.uncolorize(plotext.build())
    return "".join(f"{line.rstrip()}\n" for line in built.splitlines())
