"""Findings as text, for people at a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.console import Console
from rich.text import Text

from hyperpod_model.faults import dotted
from hyperpod_policy.report import Finding, Label, Report
from hyperpod_policy.reports.order import grouped
from hyperpod_policy.reports.printable import printable
from hyperpod_policy.reports.subject import Subject, summary

_STYLES: Final[dict[Label, str]] = {
    "error": "bold red",
    "warning": "bold yellow",
    "advice": "bold cyan",
    "undetermined": "bold magenta",
    "acknowledged": "bold green",
    "pass": "green",
}
_NARROWEST: Final = 40


class _Line(NamedTuple):
    """One line, before it is wrapped."""

    indent: int
    mark: str
    text: str
    style: str = ""
    mark_style: str = "dim"


def render(
    report: Report, subject: Subject, *, width: int | None = None, colour: bool = False, verbose: bool = False
) -> str:
    """Write a report as text, its summary last.

    Args:
        report: What a review found.
        subject: How much was reviewed.
        width: Columns to wrap lines in. By default lines are not wrapped.
        colour: Whether to colour it for a terminal.
        verbose: Whether to list kept promises as well.
    """
    blocks = [
        list(_group(label, members))
        for label, _, members in grouped(report.verdicts)
        if verbose or label != "pass"
    ]
    if report.limits:
        blocks.append([_Line(0, "not reviewed:", printable(limit)) for limit in report.limits])
    blocks.append([_Line(0, "", summary(report, subject), "bold")])
    out = io.StringIO()
    console = Console(
        file=out, force_terminal=colour, color_system="standard" if colour else None, highlight=False
    )
    for number, block in enumerate(blocks):
        if number:
            out.write("\n")
        for line in block:
            _write(console, line, width)
    return out.getvalue()


def one_a_line(report: Report) -> str:
    """Write each finding that is open in one line, as compilers do: place, label, rule, resource, message."""
    lines = []
    for label, rule_id, members in grouped(report.open):
        for finding in members:
            place = f"{finding.place}: " if finding.place else ""
            said = f"{place}{label}: {rule_id}: {_where(finding)}: {finding.message}"
            lines.append(printable(said) + "\n")
    return "".join(lines)


def _group(label: Label, members: list[Finding]) -> Iterator[_Line]:
    first = members[0]
    title = f"{first.rule_id}: {first.title}"
    if label == "pass":
        for finding in members:
            place = f" ({finding.place})" if finding.place else ""
            yield _Line(
                0,
                "pass:",
                printable(f"{finding.rule_id}: {_where(finding)}{place}"),
                mark_style=_STYLES[label],
            )
        return
    yield _Line(0, f"{label}:", title, "bold", _STYLES[label])
    one_fix = len({finding.fix for finding in members}) == 1
    judged = label != "acknowledged"
    if judged:
        yield _Line(2, "why:  ", first.why)
        if one_fix:
            yield _Line(2, "fix:  ", printable(first.fix))
        yield _Line(2, "see:  ", first.source)
    for finding in members:
        yield _Line(2, "", printable(_where(finding)), "bold")
        if finding.place:
            yield _Line(4, "at:   ", printable(finding.place))
        yield _Line(4, "found:", printable(finding.message))
        if judged and not one_fix:
            yield _Line(4, "fix:  ", printable(finding.fix))
        if finding.acknowledged is not None:
            yield _Line(4, "reason:", printable(_reason(finding)))


def _where(finding: Finding) -> str:
    path = f" {dotted(finding.path)}" if finding.path else ""
    return f"{finding.logical_id} ({finding.resource_type}){path}"


def _reason(finding: Finding) -> str:
    accepted = finding.acknowledged
    if accepted is None:
        return ""
    until = "" if accepted.expires is None else f", until {accepted.expires}"
    return f"{accepted.reason} ({accepted.by}{until})"


def _write(console: Console, line: _Line, width: int | None) -> None:
    mark = f"{line.mark} " if line.mark else ""
    room = None if width is None else max(width, _NARROWEST) - line.indent - len(mark)
    text = Text(line.text, style=line.style)
    wrapped = [text] if room is None else list(text.wrap(console, room, overflow="fold"))
    for number, piece in enumerate(wrapped):
        start = Text(" " * line.indent)
        start.append(mark if number == 0 else " " * len(mark), style=line.mark_style if mark else "")
        piece.rstrip()
        console.print(start + piece, soft_wrap=True)
