"""Findings as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote

from hyperpod_model.faults import dotted
from hyperpod_policy.report import Finding, Report
from hyperpod_policy.rule import Promise, Severity

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT: Final = "hyperpodReview/v1"
"""Names the way in which a finding is recognised again; another way gets another number."""

_LEVELS: Final[Mapping[Severity, str]] = {"error": "error", "warning": "warning", "advice": "note"}


def render(
    report: Report,
    *,
    promises: Sequence[Promise],
    groups: Mapping[str, str],
    root: Path,
    version: str,
    exit_code: int,
    verbose: bool = False,
) -> str:
    """Write a report as a SARIF log of one run.

    Args:
        report: What a review found.
        promises: The rules that were applied, and any other that has a finding.
        groups: The concern each rule serves, by rule id.
        root: Directory to which paths of files are relative.
        version: Version of the command.
        exit_code: What the command ends with.
        verbose: Whether to list kept promises as well.
    """
    numbers = {promise.id: number for number, promise in enumerate(promises)}
    seen: Counter[str] = Counter()
    run = {
        "tool": {
            "driver": {
                "name": "hyperpod-review",
                "version": version,
                "rules": [_descriptor(promise, groups.get(promise.id)) for promise in promises],
            }
        },
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": exit_code,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": f"not reviewed: {limit}"}}
                    for limit in report.limits
                ],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, numbers[finding.rule_id], root, seen)
            for finding in (report.verdicts if verbose else report.findings)
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _descriptor(promise: Promise, group: str | None) -> dict[str, Any]:
    text = f"{promise.why}\n\nFix: {promise.fix}.\n\nSource: {promise.source}."
    return {
        "id": promise.id,
        "name": promise.id,
        "shortDescription": {"text": promise.title},
        "fullDescription": {"text": promise.why},
        "help": {
            "text": text,
            "markdown": f"{promise.why}\n\n**Fix:** {promise.fix}.\n\n**Source:** {promise.source}.",
        },
        "defaultConfiguration": {"level": _LEVELS[promise.severity]},
        "properties": {"tags": ["hyperpod", *([group] if group is not None else [])]},
    }


def _result(finding: Finding, number: int, root: Path, seen: Counter[str]) -> dict[str, Any]:
    kind = {"fail": "fail", "undetermined": "open", "pass": "pass"}[finding.outcome]
    message = finding.message
    result: dict[str, Any] = {
        "ruleId": finding.rule_id,
        "ruleIndex": number,
        "kind": kind,
        "level": _LEVELS[finding.severity] if kind == "fail" else "none",
        "message": {
            "text": f"{message}. Fix: {finding.fix}." if finding.outcome != "pass" else finding.title
        },
        "locations": [_location(finding, root)],
        "partialFingerprints": {FINGERPRINT: _fingerprint(finding, seen)},
        "properties": {"fix": finding.fix, "why": finding.why, "source": finding.source},
    }
    if finding.acknowledged is not None:
        result["suppressions"] = [
            {
                "kind": "inSource" if finding.acknowledged.in_source else "external",
                "status": "accepted",
                "justification": f"{finding.acknowledged.reason} ({finding.acknowledged.by})",
            }
        ]
    return result


def _location(finding: Finding, root: Path) -> dict[str, Any]:
    path = f".{dotted(finding.path)}" if finding.path else ""
    location: dict[str, Any] = {
        "logicalLocations": [
            {
                "name": finding.logical_id,
                "fullyQualifiedName": f"{finding.logical_id}{path}",
                "kind": "resource",
            }
        ]
    }
    if finding.file is not None:
        location["physicalLocation"] = {
            "artifactLocation": _artifact(finding.file, root),
            "region": {"startLine": 1 if finding.line is None else finding.line},
        }
    return location


def _artifact(file: str, root: Path) -> dict[str, str]:
    path = Path(root, file)
    if path.is_relative_to(root):
        return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": "%SRCROOT%"}
    return {"uri": path.as_uri()}


def _fingerprint(finding: Finding, seen: Counter[str]) -> str:
    """Recognise a finding by what it is about: lines, list positions and wording change with every edit."""
    names = [step for step in finding.path if isinstance(step, str)]
    file = "" if finding.file is None else PurePath(finding.file).name
    same = json.dumps([finding.rule_id, file, finding.logical_id, names, finding.outcome == "pass"])
    seen[same] += 1
    return hashlib.sha256(f"{same}/{seen[same]}".encode()).hexdigest()[:32]
