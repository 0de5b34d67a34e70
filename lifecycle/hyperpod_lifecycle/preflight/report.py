"""What was found, for people and for programs."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from hyperpod_lifecycle.preflight.findings import Finding, Verdict
from hyperpod_lifecycle.preflight.situation import Situation

_COLOURS: Final[dict[Verdict, str]] = {"ok": "32", "problem": "31", "cannot tell": "33"}
_SHOWN: Final[tuple[Verdict, ...]] = ("ok", "problem", "cannot tell")
_WIDTH: Final = max(len(verdict) for verdict in _SHOWN)
_INDENT: Final = " " * (_WIDTH + 2)
_ARROW: Final = "-> "
_COMMAND: Final = "aws "


def text_of(
    situation: Situation, findings: Sequence[Finding], *, has_colour: bool, columns: int | None = None
) -> str:
    """Write a line for each finding, and one that sums up.

    Args:
        situation: The wanted cluster.
        findings: What was found.
        has_colour: Whether to colour the verdicts.
        columns: Columns at which lines are wrapped, with the way out of a problem on lines of its own.
            Default: each finding is one line, however long.
    """
    lines = [_line(finding, has_colour, columns) for finding in findings if finding.verdict in _SHOWN]
    counts = Counter(finding.verdict for finding in findings)
    wanted = situation.wanted
    summed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _SHOWN)
    skipped = [
        f"{finding.check} ({finding.message})" for finding in findings if finding.verdict == "not applicable"
    ]
    lines.append(
        _wrapped(f"{wanted.name} in {wanted.region}, account {situation.account}: {summed}", columns)
    )
    if skipped:
        lines.append(_wrapped(f"not applicable: {'; '.join(skipped)}", columns))
    return "".join(f"{line}\n" for line in lines)


def data_of(situation: Situation, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all findings as JSON takes them.

    Args:
        situation: The wanted cluster.
        findings: What was found.
    """
    counts = Counter(finding.verdict for finding in findings)
    return {
        "cluster": situation.wanted.name,
        "region": situation.wanted.region,
        "account": situation.account,
        "counts": {verdict: counts[verdict] for verdict in (*_SHOWN, "not applicable")},
        "findings": [
            {
                "check": finding.check,
                "subject": finding.subject,
                "verdict": finding.verdict,
                "message": finding.message,
                "remedy": finding.remedy,
            }
            for finding in findings
        ],
    }


def _line(finding: Finding, has_colour: bool, columns: int | None) -> str:
    verdict = f"{finding.verdict:<{_WIDTH}}"
    if has_colour:
        verdict = f"\x1b[{_COLOURS[finding.verdict]}m{verdict}\x1b[0m"
    if columns is None:
        return f"{verdict}  {_one_line(f'{finding.check}: {finding.text}')}"
    said = _wrapped(
        _one_line(f"{finding.check}: {finding.subject}: {finding.message}"), columns, indent=_INDENT
    )
    lines = [f"{verdict}  {said.lstrip()}"]
    if finding.remedy is not None:
        lines.append(_way_out(_one_line(finding.remedy), columns))
    return "\n".join(lines)


def _way_out(remedy: str, columns: int) -> str:
    """Wrap the way out, but leave a command whole, so that it can be copied."""
    before, command, after = remedy.partition(_COMMAND)
    marked = f"{_INDENT}{_ARROW}"
    if not command or len(marked) + len(remedy) <= columns:
        return _wrapped(f"{_ARROW}{remedy}", columns, indent=_INDENT, further=" " * len(_ARROW))
    if not before or before.endswith("'"):
        return f"{marked}{remedy}"
    words = _wrapped(f"{_ARROW}{before.rstrip()}", columns, indent=_INDENT, further=" " * len(_ARROW))
    return f"{words}\n{_INDENT}{' ' * len(_ARROW)}{command}{after}"


def _wrapped(text: str, columns: int | None, *, indent: str = "", further: str = "") -> str:
    if columns is None:
        return text
    return textwrap.fill(
        text,
        columns,
        initial_indent=indent,
        subsequent_indent=f"{indent}{further}",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
