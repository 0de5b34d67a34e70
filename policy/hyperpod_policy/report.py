"""What a review found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hyperpod_model.faults import FaultPath, dotted
from hyperpod_policy.clusters import CLUSTER
from hyperpod_policy.rule import Outcome, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's answer about one resource, complete for a reader who knows neither rule nor template.

    Attributes:
        rule_id: Name by which it is acknowledged.
        title: The promise that was checked.
        severity: ``error`` if it must be mended or acknowledged, ``warning`` if it should be.
        outcome: ``pass``, ``fail``, or ``undetermined`` where only deployment can tell.
        logical_id: Logical id of the resource.
        resource_type: Its CloudFormation type.
        path: Property of it, outermost first, below ``Properties``; empty for the whole.
        found: What is there.
        allowed: What may be there.
        fix: How to mend it.
        why: What goes wrong otherwise.
        source: Where AWS says so.
        file: Template it stands in, if that came from a file.
        when: Under which parameter values or conditions, if not under all.
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
        label = self.severity if self.outcome == "fail" else self.outcome
        lines = [f"{label}: {self.rule_id}: {self.title}", f"  where: {where}"]
        if self.file is not None:
            lines.append(f"  file:  {self.file}")
        lines.append(f"  found: {self.message}")
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

    def text(self) -> str:
        """Write the findings as plain text, their number last; say so where nothing was judged at all."""
        blocks = [finding.text() for finding in self.findings]
        blocks += [f"not reviewed: {limit}" for limit in self.limits]
        judged = count(self.findings) if self.verdicts else f"nothing was judged: no {CLUSTER} is at hand"
        return "\n\n".join((*blocks, judged))


def count(findings: Iterable[Finding]) -> str:
    """Say how many findings there are, such as ``2 errors, 1 warning, 1 undetermined``."""
    errors = warnings = unknown = 0
    for finding in findings:
        if finding.outcome == "undetermined":
            unknown += 1
        elif finding.outcome == "fail":
            errors += finding.severity == "error"
            warnings += finding.severity == "warning"
    parts = [
        f"{number} {word}{'' if number == 1 or word == 'undetermined' else 's'}"
        for number, word in ((errors, "error"), (warnings, "warning"), (unknown, "undetermined"))
        if number
    ]
    return ", ".join(parts) if parts else "no findings"
