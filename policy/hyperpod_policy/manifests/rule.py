"""A rule about Kubernetes manifests, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests.manifest import Manifest
from hyperpod_policy.report import Finding
from hyperpod_policy.rule import Outcome, Promise, Severity


@dataclass(frozen=True, slots=True)
class ManifestVerdict:
    """A rule's answer about one object.

    Attributes:
        outcome: ``pass``, ``fail``, or ``undetermined`` where only the cluster can tell.
        manifest: The object that would have to change.
        path: The value in it, outermost first, from its root; empty for the whole.
        found: What is there.
        allowed: What may be there.
        fix: How to mend it, where the rule's own words are too general.
        severity: Where it departs from the rule's.
    """

    outcome: Outcome
    manifest: Manifest
    path: FaultPath = ()
    found: str = ""
    allowed: str = ""
    fix: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class ManifestRule(Promise):
    """One promise that manifests keep or break.

    Attributes:
        check: Takes all manifests under review, and yields a verdict for each object the rule speaks about.
    """

    check: Callable[[Sequence[Manifest]], Iterable[ManifestVerdict]]


def finding_of(rule: ManifestRule, verdict: ManifestVerdict) -> Finding:
    """Return a verdict with all that a reader needs to know."""
    manifest = verdict.manifest
    return Finding(
        rule_id=rule.id,
        title=rule.title,
        severity=rule.severity if verdict.severity is None else verdict.severity,
        outcome=verdict.outcome,
        logical_id=str(manifest),
        resource_type=manifest.api_version,
        path=verdict.path,
        found=verdict.found,
        allowed=verdict.allowed,
        fix=rule.fix if verdict.fix is None else verdict.fix,
        why=rule.why,
        source=rule.source,
        file=manifest.file,
        line=manifest.line_of(verdict.path),
    )
