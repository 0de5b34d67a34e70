"""What was found, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from hyperpod_lifecycle.preflight.findings import Finding, Verdict
from hyperpod_lifecycle.preflight.situation import Situation

_COLOURS: Final[dict[Verdict, str]] = {"ok": "32", "problem": "31", "cannot tell": "33"}
_SHOWN: Final[tuple[Verdict, ...]] = ("ok", "problem", "cannot tell")
_WIDTH: Final = max(len(verdict) for verdict in _SHOWN)


def text_of(situation: Situation, findings: Sequence[Finding], *, has_colour: bool) -> str:
    """Write a line for each finding, and one that sums up.

    Args:
        situation: The wanted cluster.
        findings: What was found.
        has_colour: Whether to colour the verdicts.
    """
    lines = [_line(finding, has_colour) for finding in findings if finding.verdict in _SHOWN]
    counts = Counter(finding.verdict for finding in findings)
    wanted = situation.wanted
    summed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _SHOWN)
    skipped = [
        f"{finding.check} ({finding.message})" for finding in findings if finding.verdict == "not applicable"
    ]
    lines.append(f"{wanted.name} in {wanted.region}, account {situation.account}: {summed}")
    if skipped:
        lines.append(f"not applicable: {'; '.join(skipped)}")
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


def _line(finding: Finding, has_colour: bool) -> str:
    verdict = f"{finding.verdict:<{_WIDTH}}"
    if has_colour:
        verdict = f"\x1b[{_COLOURS[finding.verdict]}m{verdict}\x1b[0m"
    return f"{verdict}  {finding.check}: {' '.join(finding.text.split())}"
