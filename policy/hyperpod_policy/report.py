"""What a review found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeAlias

from hyperpod_model.faults import FaultPath, dotted
from hyperpod_policy.clusters import CLUSTER
from hyperpod_policy.rule import Outcome, Severity

Label: TypeAlias = Literal["error", "warning", "advice", "undetermined", "acknowledged", "pass"]
"""What a finding counts as."""

LABELS: Final[tuple[Label, ...]] = ("error", "warning", "advice", "undetermined", "acknowledged", "pass")
"""The most urgent first."""

NOTHING_JUDGED: Final = f"nothing was judged: no {CLUSTER} or training job is at hand"
"""Said where no rule had anything to say, which is no pass."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Why a finding is accepted.

    Attributes:
        reason: In the words of whoever accepted it.
        by: Where it was accepted: a construct path of a CDK app, or a file and line.
        in_source: Whether that is in the code that made the template, not beside it.
        expires: Last day on which it counts. ``None`` if it does not expire.
    """

    reason: str
    by: str
    in_source: bool = False
    expires: date | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's answer about one resource, complete for a reader who knows neither rule nor template.

    Attributes:
        rule_id: Name by which it is acknowledged.
        title: The promise that was checked.
        severity: ``error`` if it must be mended or acknowledged, ``warning`` if it should be, ``advice`` if
            it is worth a thought.
        outcome: ``pass``, ``fail``, or ``undetermined`` where only deployment can tell.
        logical_id: Logical id of the resource, or kind and name of a Kubernetes object, such as ``Pod/a``.
        resource_type: Its CloudFormation type, or its API version.
        path: Property of it, outermost first, below ``Properties``; empty for the whole.
        found: What is there.
        allowed: What may be there.
        fix: How to mend it.
        why: What goes wrong otherwise.
        source: Where AWS says so.
        file: Template it stands in, if that came from a file.
        when: Under which parameter values or conditions, if not under all.
        line: Line of the property in the file, from 1, where known; ``None`` for a kept promise.
        acknowledged: Why it is accepted; ``None`` if nobody accepted it.
    """

    rule_id: str
    title: str
    severity: Severity
    outcome: Outcome
    logical_id: str
    resource_type: str
    path: FaultPath
    found: str
    allowed: str
    fix: str
    why: str
    source: str
    file: str | None = None
    when: str = ""
    line: int | None = None
    acknowledged: Acknowledged | None = None

    @property
    def label(self) -> Label:
        """What it counts as."""
        if self.outcome == "pass":
            return "pass"
        if self.acknowledged is not None:
            return "acknowledged"
        return "undetermined" if self.outcome == "undetermined" else self.severity

    @property
    def place(self) -> str:
        """File and line, such as ``template.yaml:12``; empty where neither is known."""
        if self.file is None:
            return ""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def message(self) -> str:
        """What was found and what is allowed, in one line."""
        said = f"{self.found}; expected: {self.allowed}" if self.allowed else self.found
        if self.outcome == "undetermined":
            said = f"cannot be told before deployment: {said}"
        return f"{said} (when {self.when})" if self.when else said

    def text(self) -> str:
        """Write the finding as plain text, one thing a line."""
        where = f"{self.logical_id} ({self.resource_type})"
        if self.path:
            where += f" {dotted(self.path)}"
        lines = [f"{self.label}: {self.rule_id}: {self.title}", f"  where: {where}"]
        if self.place:
            lines.append(f"  file:  {self.place}")
        lines.append(f"  found: {self.message}")
        if self.acknowledged is not None:
            lines.append(f"  acknowledged: {self.acknowledged.reason} ({self.acknowledged.by})")
        lines.append(f"  fix:   {self.fix}")
        lines.append(f"  why:   {self.why}")
        lines.append(f"  see:   {self.source}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Report:
    """All answers of a review.

    Attributes:
        verdicts: Every answer, passes included.
        limits: What the review could not look at, in words.
    """

    verdicts: tuple[Finding, ...]
    limits: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What broke a promise, and what only deployment can tell."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome != "pass")

    @property
    def failures(self) -> tuple[Finding, ...]:
        """What broke a promise."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome == "fail")

    def outcome(self, rule_id: str) -> Outcome | None:
        """Return the worst answer of a rule; ``None`` if it had nothing to say."""
        outcomes = {verdict.outcome for verdict in self.verdicts if verdict.rule_id == rule_id}
        return next((outcome for outcome in ("fail", "undetermined", "pass") if outcome in outcomes), None)

    @property
    def open(self) -> tuple[Finding, ...]:
        """Findings that nobody acknowledged."""
        return tuple(finding for finding in self.findings if finding.acknowledged is None)

    def text(self) -> str:
        """Write the findings as plain text, their number last; say so where nothing was judged at all."""
        blocks = [finding.text() for finding in self.findings]
        blocks += [f"not reviewed: {limit}" for limit in self.limits]
        judged = count(self.findings) if self.verdicts else NOTHING_JUDGED
        return "\n\n".join((*blocks, judged))


def tally(findings: Iterable[Finding]) -> dict[Label, int]:
    """Count findings by what they count as, the most urgent first."""
    found = dict.fromkeys(LABELS, 0)
    for finding in findings:
        found[finding.label] += 1
    return found


def count(findings: Iterable[Finding]) -> str:
    """Say how many findings there are, such as ``2 errors, 1 warning, 1 undetermined``."""
    parts = [
        f"{number} {label}{'s' if number > 1 and label in ('error', 'warning') else ''}"
        for label, number in tally(findings).items()
        if number and label != "pass"
    ]
    return ", ".join(parts) if parts else "no findings"


def merged(reports: Iterable[Report]) -> Report:
    """Put reports together; what several of them could not look at is said once."""
    verdicts: list[Finding] = []
    limits: dict[str, None] = {}
    for report in reports:
        verdicts += report.verdicts
        limits.update(dict.fromkeys(report.limits))
    return Report(tuple(verdicts), tuple(limits))
