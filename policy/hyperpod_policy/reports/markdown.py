"""Findings as Markdown, for comments on pull requests."""

from __future__ import annotations

import html
import re
from typing import Final

from hyperpod_model.faults import dotted
from hyperpod_policy.report import Finding, Label, Report
from hyperpod_policy.reports.order import grouped
from hyperpod_policy.reports.printable import printable
from hyperpod_policy.reports.subject import Subject, counted, summary

MOST_CHARACTERS: Final = 60_000
"""Below the 65,536 that a comment on GitHub may have."""

_MOST_LIMITS: Final = 20
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
    parts = [f"### hyperpod-review\n\n**{_plain(summary(report, subject))}**\n"]
    if report.limits:
        limits = "".join(f"- {_plain(limit)}\n" for limit in report.limits[:_MOST_LIMITS])
        more = len(report.limits) - _MOST_LIMITS
        parts.append(f"Not reviewed:\n\n{limits}" + (f"- {more} more\n" if more > 0 else ""))
    room = MOST_CHARACTERS - sum(len(part) + 1 for part in parts)
    left = 0
    for label, _, members in grouped(report.verdicts):
        if label == "pass" and not verbose:
            continue
        section, shown = _section(label, members, room)
        left += len(members) - shown
        if shown:
            parts.append(section)
            room -= len(section) + 1
    if left:
        parts.append(f"{counted(left, 'more finding')}, too many for a comment; `--format text` shows all\n")
    return "\n".join(parts)


def _section(label: Label, members: list[Finding], room: int) -> tuple[str, int]:
    """Return what is said about one rule, and about how many of its findings there was room to say it."""
    first = members[0]
    before = [f"#### {label}: {_code(first.rule_id)}: {_plain(first.title)}", ""]
    after: list[str] = []
    if label == "pass":
        rows = [f"- {_where(finding)}" for finding in members]
    else:
        before += [f"| where | found | {'reason' if label == 'acknowledged' else 'fix'} |", "|---|---|---|"]
        rows = [_row(finding) for finding in members]
        if label != "acknowledged":
            why, source = _plain(first.why), _plain(first.source)
            after = [
                "",
                f"<details><summary>Why</summary>\n\n{why}\n\nSource: {source}\n</details>",
            ]
    room -= sum(len(line) + 1 for line in (*before, *after))
    shown: list[str] = []
    for row in rows:
        room -= len(row) + 1
        if room < 0:
            break
        shown.append(row)
    return "\n".join([*before, *shown, *after]) + "\n", len(shown)


def _row(finding: Finding) -> str:
    last = finding.fix
    if finding.acknowledged is not None:
        last = f"{finding.acknowledged.reason} ({finding.acknowledged.by})"
    return f"| {_where(finding)} | {_plain(finding.message)} | {_plain(last)} |"


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
