"""The order in which reports show findings: the most urgent first, those of one rule together."""

from __future__ import annotations

from collections.abc import Iterable

from hyperpod_policy.report import LABELS, Finding, Label


def grouped(findings: Iterable[Finding]) -> list[tuple[Label, str, list[Finding]]]:
    """Group findings by what they count as and by rule.

    Args:
        findings: In the order of the rules, which stays within each label.

    Returns:
        Label, rule id and findings of each group.
    """
    groups: dict[tuple[Label, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.label, finding.rule_id), []).append(finding)
    ranked = sorted(groups.items(), key=lambda item: LABELS.index(item[0][0]))
    return [(label, rule_id, members) for (label, rule_id), members in ranked]
