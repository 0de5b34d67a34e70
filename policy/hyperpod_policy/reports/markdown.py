"""Findings as Markdown, for comments on pull requests."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from hyperpod_model.faults import dotted
from hyperpod_policy.report import Finding, Label, Report
from hyperpod_policy.reports.order import grouped
from hyperpod_policy.reports.printable import printable
from hyperpod_policy.reports.subject import Subject, counted, summary

MOST_CHARACTERS: Final = 60_000
"""Below the 65,536 that a comment on GitHub may have."""

_SPECIAL: Final = re.compile(r"([\\`*_\[\]|~])")
# A backslash does not stop GitHub from mentioning somebody or linking an issue; an empty comment does.
_REFERENCE: Final = re.compile(r"[@#](?=\w)")
_BACKTICKS: Final = re.compile(r"`+")


def render(report: Report, subject: Subject, *, verbose: bool = False) -> str:
    """Write a report as Markdown, its summary first, as a comment can hold it.

    Args:
        report: What a review found.
        subject: How much was reviewed.
        verbose: Whether to list kept promises as well.
    """
    head = f"### hyperpod-review\n\n**{_plain(summary(report, subject))}**\n"
    sections = [
        _section(label, members)
        for label, _, members in grouped(report.verdicts)
        if verbose or label != "pass"
    ]
    if report.limits:
        sections.append(
            "\n".join(["Not reviewed:", "", *(f"- {_plain(limit)}" for limit in report.limits)]) + "\n"
        )
    kept: list[str] = []
    size = len(head)
    for number, section in enumerate(sections):
        size += len(section) + 1
        if size > MOST_CHARACTERS:
            left = counted(len(sections) - number, "more section")
            kept.append(f"{left} left out, too long for a comment; `--format text` shows all\n")
            break
        kept.append(section)
    return "\n".join([head, *kept])


def _section(label: Label, members: list[Finding]) -> str:
    return "\n".join(_lines(label, members)) + "\n"


def _lines(label: Label, members: list[Finding]) -> Iterator[str]:
    first = members[0]
    yield f"#### {label}: {_code(first.rule_id)}: {_plain(first.title)}"
    yield ""
    if label == "pass":
        yield from (f"- {_where(finding)}" for finding in members)
        return
    accepted = label == "acknowledged"
    yield f"| where | found | {'reason' if accepted else 'fix'} |"
    yield "|---|---|---|"
    for finding in members:
        last = finding.fix
        if finding.acknowledged is not None:
            last = f"{finding.acknowledged.reason} ({finding.acknowledged.by})"
        yield f"| {_where(finding)} | {_plain(finding.message)} | {_plain(last)} |"
    if not accepted:
        yield ""
        why, source = _plain(first.why), _plain(first.source)
        yield f"<details><summary>Why</summary>\n\n{why}\n\nSource: {source}\n</details>"


def _where(finding: Finding) -> str:
    path = f" {_code(dotted(finding.path))}" if finding.path else ""
    place = f"<br>{_code(finding.place)}" if finding.place else ""
    return f"{_code(finding.logical_id)}{path}{place}"


def _plain(text: str) -> str:
    """Write text so that neither Markdown nor HTML in it counts, and nobody is mentioned."""
    escaped = _SPECIAL.sub(r"\\\1", html.escape(printable(text), quote=False))
    return _REFERENCE.sub(r"\g<0><!-- -->", escaped)


def _code(text: str) -> str:
    """Write text as code, in a cell of a table."""
    shown = printable(text)
    longest = max((len(found) for found in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{shown}{pad}{fence}".replace("|", "\\|")
