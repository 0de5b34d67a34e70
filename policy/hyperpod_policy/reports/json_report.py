"""Findings as JSON, for programs."""

from __future__ import annotations

import json
from typing import Any

from hyperpod_model.faults import dotted
from hyperpod_policy.report import Finding, Report, tally
from hyperpod_policy.reports.subject import Subject


def render(report: Report, subject: Subject, *, verbose: bool = False) -> str:
    """Write a report as one JSON object, its findings in ``findings``.

    Args:
        report: What a review found.
        subject: How much was reviewed.
        verbose: Whether to list kept promises as well, in ``passes``.
    """
    passes = [finding for finding in report.verdicts if finding.outcome == "pass"]
    jobs = {"jobs": subject.jobs} if subject.jobs else {}
    said: dict[str, Any] = {
        "summary": tally(report.verdicts)
        | {"templates": subject.templates, "manifests": subject.manifests, **jobs, "rules": subject.rules},
        "findings": [fields(finding) for finding in report.findings],
        "limits": list(report.limits),
    }
    if verbose:
        said["passes"] = [fields(finding) for finding in passes]
    return json.dumps(said, indent=2) + "\n"


def fields(finding: Finding) -> dict[str, Any]:
    """Return a finding as a JSON object."""
    accepted = finding.acknowledged
    return {
        "rule_id": finding.rule_id,
        "title": finding.title,
        "severity": finding.severity,
        "outcome": finding.outcome,
        "resource": finding.logical_id,
        "resource_type": finding.resource_type,
        "path": dotted(finding.path),
        "file": finding.file,
        "line": finding.line,
        "message": finding.message,
        "found": finding.found,
        "allowed": finding.allowed,
        "when": finding.when,
        "fix": finding.fix,
        "why": finding.why,
        "source": finding.source,
        "acknowledged": None
        if accepted is None
        else {
            "reason": accepted.reason,
            "by": accepted.by,
            "expires": None if accepted.expires is None else accepted.expires.isoformat(),
        },
    }
