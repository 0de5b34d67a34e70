"""The table of changes that no rule has to find, each with a reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Neutral:
    """One pattern of mutants, and why they take nothing away."""

    pattern: str
    reason: str

    def matches(self, label: str) -> bool:
        return _expression(self.pattern).match(label) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def neutral_changes(table: Path, orchestrator: str) -> list[Neutral]:
    """What a table says for one orchestrator."""
    return [
        Neutral(pattern, entry["reason"])
        for entry in yaml.safe_load(table.read_text(encoding="utf-8"))
        if entry.get("only", orchestrator) == orchestrator
        for pattern in entry["mutants"]
    ]


@dataclass(frozen=True)
class Outcome:
    """What became of all mutants of a template.

    ``killed`` has the rule that found each, ``neutral`` the reason of each that none has to find.
    """

    killed: Mapping[str, str]
    neutral: Mapping[str, str]
    survivors: list[str]
    idle: list[str]
    wide: list[str]

    @property
    def words(self) -> str:
        everything = len(self.killed) + len(self.neutral) + len(self.survivors)
        counting = len(self.killed) + len(self.survivors)
        return (
            f"{len(self.killed)} of {counting} weakenings found ({len(self.killed) / counting:.1%}); "
            f"of all {everything} changes {len(self.killed) / everything:.1%}, "
            f"{len(self.neutral)} take nothing away"
        )

    @property
    def by_rule(self) -> str:
        counts = Counter(self.killed.values()).most_common()
        return ", ".join(f"{rule} {count}" for rule, count in counts)


def sorted_out(killers: Mapping[str, str | None], changes: Iterable[Neutral]) -> Outcome:
    """Sort mutants, by the rule that finds each, into what counts and what does not.

    A pattern is idle if it covers no survivor, and wide if it covers more that a rule finds than others.
    """
    listed = list(changes)
    found = {label: rule for label, rule in killers.items() if rule is not None}
    alive = [label for label, rule in killers.items() if rule is None]
    neutral: dict[str, str] = {}
    idle: list[str] = []
    wide: list[str] = []
    for change in listed:
        covered = [label for label in alive if change.matches(label)]
        neutral.update((label, change.reason) for label in covered if label not in neutral)
        if not covered:
            idle.append(change.pattern)
        elif sum(change.matches(label) for label in found) > len(covered):
            wide.append(change.pattern)
    survivors = [label for label in alive if label not in neutral]
    return Outcome(found, neutral, survivors, idle, wide)
