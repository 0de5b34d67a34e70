"""What a report is about."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_policy.report import NOTHING_JUDGED, Report, count


@dataclass(frozen=True, slots=True)
class Subject:
    """How much was reviewed.

    Attributes:
        templates: Number of templates, nested ones included.
        manifests: Number of Kubernetes objects.
        rules: Number of rules.
        jobs: Number of job specifications.
    """

    templates: int
    manifests: int
    rules: int
    jobs: int = 0

    @property
    def words(self) -> str:
        """Such as ``2 templates and 1 manifest by 45 rules``."""
        parts = [
            counted(number, word)
            for number, word in (
                (self.templates, "template"),
                (self.manifests, "manifest"),
                (self.jobs, "job specification"),
            )
            if number
        ]
        return f"{' and '.join(parts) if parts else 'nothing'} by {counted(self.rules, 'rule')}"


def counted(number: int, word: str) -> str:
    """Write a number with its word, such as ``1 rule`` or ``2 rules``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def summary(report: Report, subject: Subject) -> str:
    """Say in one line what a review found, and in how much."""
    if not report.verdicts:
        return f"{NOTHING_JUDGED} ({subject.words})"
    passes = len(report.verdicts) - len(report.findings)
    return f"{count(report.findings)}; {counted(passes, 'promise')} kept ({subject.words})"
