"""Findings and kept promises, as the page lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, get_args

from hyperpod_model.faults import dotted
from hyperpod_policy.report import LABELS, Finding, Label, Report, tally
from hyperpod_policy.reports.html.links import Piece, linked
from hyperpod_policy.reports.order import grouped
from hyperpod_policy.rule import Severity

MAX_FINDINGS: Final = 2000
"""Findings that one page lists, the most urgent; a browser takes seconds for many more."""

MAX_KEEPERS: Final = 200
"""Resources that one page lists for a kept promise."""

_OTHER: Final = "other"


@dataclass(frozen=True, slots=True)
class Item:
    """A finding.

    Attributes:
        number: Its place on the page, from 1.
        finding: The finding.
        subject: The property it is about; empty for the whole resource.
        own_fix: How to mend it, where that differs from the others of its rule.
    """

    number: int
    finding: Finding
    subject: str
    own_fix: str

    @property
    def outcome(self) -> str:
        """How the page calls its outcome."""
        return "broken" if self.finding.outcome == "fail" else "undetermined"

    @property
    def state(self) -> str:
        """Whether somebody accepted it."""
        return "open" if self.finding.acknowledged is None else "acknowledged"

    @property
    def resource(self) -> str:
        """Tells its resource from all others."""
        file = "" if self.finding.file is None else self.finding.file
        return f"{file}#{self.finding.logical_id}"


@dataclass(frozen=True, slots=True)
class Promise:
    """A rule with its findings of one label, or with what keeps it.

    Attributes:
        rule_id: The rule.
        title: What it promises.
        label: What its findings count as.
        severity: How bad it is to break it.
        group: The concern it serves.
        why: What goes wrong otherwise.
        fix: How to mend it; empty where that differs from finding to finding.
        source: Where AWS says so.
        items: Its findings.
        keepers: Resources that keep it, each with its file.
        more_keepers: How many further ones there are.
    """

    rule_id: str
    title: str
    label: Label
    severity: str
    group: str
    why: str
    fix: str
    source: tuple[Piece, ...]
    items: tuple[Item, ...] = ()
    keepers: tuple[tuple[str, str], ...] = ()
    more_keepers: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """A value to filter by.

    Attributes:
        value: As the page's address has it.
        words: As it reads.
        count: How many findings have it.
    """

    value: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class Total:
    """How many findings have a label.

    Attributes:
        label: The label.
        words: As it reads.
        count: How many.
        filter: What selects them, as the page's address has it; empty for kept promises.
    """

    label: Label
    words: str
    count: int
    filter: str


_WORDS: Final[Mapping[Label, tuple[str, str]]] = {
    "error": ("error", "errors"),
    "warning": ("warning", "warnings"),
    "advice": ("advice", "advice"),
    "undetermined": ("undetermined", "undetermined"),
    "acknowledged": ("acknowledged", "acknowledged"),
    "pass": ("promise kept", "promises kept"),
}


def totals(report: Report) -> list[Total]:
    """Count what each label has."""
    counted = tally(report.verdicts)
    return [
        Total(label, _WORDS[label][counted[label] != 1], counted[label], _filter(label)) for label in LABELS
    ]


def _filter(label: Label) -> str:
    if label == "pass":
        return ""
    if label == "acknowledged":
        return "state=acknowledged"
    if label == "undetermined":
        return "outcome=undetermined&state=open"
    return f"severity={label}&outcome=broken&state=open"


def promises(report: Report, groups: Mapping[str, str]) -> tuple[list[Promise], list[Promise]]:
    """Return rules with findings, the most urgent first, and rules that are kept.

    Args:
        report: What a review found.
        groups: The concern each rule serves, by rule id.
    """
    broken: list[Promise] = []
    kept: list[Promise] = []
    number = 0
    for label, rule_id, members in grouped(report.verdicts):
        first = members[0]
        fixes = {finding.fix for finding in members}
        common = first.fix if len(fixes) == 1 else ""
        items: list[Item] = []
        if label != "pass":
            if number == MAX_FINDINGS:
                continue
            for finding in members[: MAX_FINDINGS - number]:
                number += 1
                subject = dotted(finding.path) if finding.path else ""
                items.append(Item(number, finding, subject, "" if common else finding.fix))
        keepers = list(dict.fromkeys(map(_keeper, members))) if label == "pass" else []
        promise = Promise(
            rule_id=rule_id,
            title=first.title,
            label=label,
            severity=first.severity,
            group=groups.get(rule_id, _OTHER),
            why=first.why,
            fix=common,
            source=tuple(linked(first.source)),
            items=tuple(items),
            keepers=tuple(keepers[:MAX_KEEPERS]),
            more_keepers=max(len(keepers) - MAX_KEEPERS, 0),
        )
        (kept if label == "pass" else broken).append(promise)
    return broken, kept


def _keeper(finding: Finding) -> tuple[str, str]:
    return finding.logical_id, "" if finding.file is None else finding.file


def choices(broken: Iterable[Promise]) -> dict[str, list[Choice]]:
    """Return what findings can be filtered by, as far as they differ in it."""
    found: dict[str, dict[str, int]] = {"severity": {}, "outcome": {}, "state": {}, "group": {}}
    for promise in broken:
        for item in promise.items:
            values = (item.finding.severity, item.outcome, item.state, promise.group)
            for counts, value in zip(found.values(), values, strict=True):
                counts[value] = counts.get(value, 0) + 1
    orders: dict[str, tuple[str, ...]] = {
        "severity": get_args(Severity),
        "outcome": ("broken", "undetermined"),
        "state": ("open", "acknowledged"),
    }
    listed: dict[str, list[Choice]] = {}
    for name, counts in found.items():
        order = [value for value in orders.get(name, tuple(counts)) if value in counts]
        listed[name] = [Choice(value, value.replace("_", " "), counts[value]) for value in order]
    return listed
