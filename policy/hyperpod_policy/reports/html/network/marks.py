"""How many findings concern what is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup

from hyperpod_policy.report import LABELS, Finding, count, tally
from hyperpod_policy.reports.html.network.model import Spot
from hyperpod_policy.reports.html.network.svg import SMALL_BOLD, element

HEIGHT: Final = 16.0


@dataclass(slots=True)
class Marks:
    """Open findings by the resource they are about."""

    _by_resource: dict[tuple[str | None, str], list[Finding]] = field(default_factory=dict)

    def add(self, findings: Iterable[Finding]) -> None:
        """Take in findings."""
        for finding in findings:
            self._by_resource.setdefault((finding.file, finding.logical_id), []).append(finding)

    def about(self, spots: Iterable[Spot]) -> list[Finding]:
        """Return the findings about some places."""
        return list(
            {
                id(finding): finding
                for spot in spots
                for finding in self._by_resource.get((spot.file, spot.logical_id), ())
                if finding.path[: len(spot.path)] == spot.path
            }.values()
        )


def mark(findings: list[Finding], right: float, top: float) -> Markup:
    """Draw how many findings there are, the most urgent named; nothing for none.

    Args:
        findings: The findings.
        right: Its right edge.
        top: Its top.
    """
    if not findings:
        return Markup("")
    numbers = tally(findings)
    worst = next(label for label in LABELS if numbers[label])
    words = count([finding for finding in findings if finding.label == worst])
    width = len(words) * SMALL_BOLD + 12
    return element(
        "g",
        element("title", count(findings)),
        element("rect", x=right - width, y=top, width=width, height=HEIGHT, rx=HEIGHT / 2),
        element("text", words, x=right - width + 6, y=top + 12),
        class_=f"mark {worst}",
    )
