"""Findings that somebody accepted with a reason, in the app that made the template or in a file beside it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePath
from typing import Final

from hyperpod_policy.report import Acknowledged, Finding, Report
from hyperpod_policy.rule import Promise

PACK: Final = "HyperPodChecks"
"""Name of the pack in whose reports the CDK keeps acknowledgements of our rules."""

_PREFIX: Final = f"{PACK}::"
_HERE: Final = "docs/review.md of this project, acknowledgements"

EXPIRED: Final = Promise(
    id="AcknowledgementExpired",
    title="acknowledgements are renewed or gone by the day they expire",
    severity="warning",
    why=(
        "Whoever accepted the finding did so until a day that has passed. Nobody has judged since whether "
        "the reason still holds, so the finding counts again."
    ),
    fix="mend what the finding says, or judge the reason again and set a later day",
    source=_HERE,
)

UNMATCHED: Final = Promise(
    id="AcknowledgementUnmatched",
    title="acknowledgements belong to a finding",
    severity="warning",
    why=(
        "An acknowledgement without finding is mistyped, or what it accepted has been mended or renamed. "
        "Left there, it accepts the next finding of that rule on that resource, which nobody has judged."
    ),
    fix="remove it, or correct its id, its resource or its file",
    source=_HERE,
)

ACKNOWLEDGEMENT_RULES: Final[tuple[Promise, ...]] = (EXPIRED, UNMATCHED)


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """One accepted finding, or all of one rule on one resource.

    Attributes:
        rule_id: Such as ``BucketVersioning``.
        resource: Logical id, or kind and name of a Kubernetes object.
        reason: Why it is accepted.
        by: File that says so, or the construct path of a CDK app where it was said.
        line: Line in that file, from 1, where known.
        number: Which of the file's acknowledgements it is, from 0; ``None`` for one of a CDK app.
        file: Template it is about, by the last parts of its path. ``None`` for any.
        expires: Last day on which it counts. ``None`` if it does not expire.
    """

    rule_id: str
    resource: str
    reason: str
    by: str
    line: int | None = None
    number: int | None = None
    file: str | None = None
    expires: date | None = None

    @property
    def in_source(self) -> bool:
        """Whether it stands in the code that made the template."""
        return self.number is None

    @property
    def place(self) -> str:
        """Where it was said, with the line."""
        return self.by if self.line is None else f"{self.by}:{self.line}"

    def about(self, finding: Finding) -> bool:
        """Tell whether it is about a finding, expired or not."""
        return (
            finding.outcome != "pass"
            and finding.rule_id == self.rule_id
            and finding.logical_id == self.resource
            and (self.file is None or (finding.file is not None and _ends_with(finding.file, self.file)))
        )

    def expired(self, today: date) -> bool:
        """Tell whether its last day has passed."""
        return self.expires is not None and self.expires < today


def bare_id(rule_id: str) -> str:
    """Return the id of a rule without the name of the pack, with which a CDK app writes it."""
    return rule_id.removeprefix(_PREFIX)


def acknowledge(
    report: Report,
    acknowledgements: Sequence[Acknowledgement],
    *,
    applied: Collection[str],
    known: Collection[str],
    files: Collection[str],
    today: date,
) -> Report:
    """Mark the findings that are accepted, and report acknowledgements that expired or belong to none.

    Args:
        report: What a review found.
        acknowledgements: What is accepted.
        applied: Ids of the rules that were applied. An acknowledgement of another is passed over.
        known: Ids of all rules there are.
        files: Files that were reviewed. An acknowledgement about another is passed over.
        today: Day to judge by whether one has expired.

    Returns:
        The report, its verdicts in the same order, with findings about acknowledgements last.
    """
    used: set[int] = set()
    verdicts: list[Finding] = []
    for finding in report.verdicts:
        about = [number for number, one in enumerate(acknowledgements) if one.about(finding)]
        used.update(about)
        valid = [acknowledgements[number] for number in about if not acknowledgements[number].expired(today)]
        verdicts.append(_accepted(finding, valid[0]) if valid else finding)
    verdicts += (
        finding
        for number, one in enumerate(acknowledgements)
        if not one.in_source
        for finding in _judged(
            one, matched=number in used, applied=applied, known=known, files=files, today=today
        )
    )
    return replace(report, verdicts=tuple(verdicts))


def _accepted(finding: Finding, by: Acknowledgement) -> Finding:
    return replace(
        finding,
        acknowledged=Acknowledged(reason=by.reason, by=by.place, in_source=by.in_source, expires=by.expires),
    )


def _judged(
    one: Acknowledgement,
    *,
    matched: bool,
    applied: Collection[str],
    known: Collection[str],
    files: Collection[str],
    today: date,
) -> Iterator[Finding]:
    if matched:
        if one.expired(today):
            yield _about(
                EXPIRED,
                one,
                found=f"acknowledgement of {one.rule_id} expired on {one.expires}",
                allowed="a later day",
            )
    elif one.rule_id not in known:
        near = difflib.get_close_matches(one.rule_id, known, n=1)
        hint = f"; did you mean {near[0]}" if near else ""
        yield _about(
            UNMATCHED, one, found=f"there is no rule {one.rule_id}{hint}", allowed="an id of --list-rules"
        )
    elif one.rule_id in applied and _is_reviewed(one, files):
        yield _about(
            UNMATCHED,
            one,
            found=f"{one.rule_id} finds nothing on {one.resource}",
            allowed=f"a finding of {one.rule_id} on {one.resource}",
        )


def _is_reviewed(one: Acknowledgement, files: Collection[str]) -> bool:
    """Whether a template that it could be about was reviewed."""
    return one.file is None or any(_ends_with(file, one.file) for file in files)


def _about(promise: Promise, one: Acknowledgement, *, found: str, allowed: str) -> Finding:
    return Finding(
        rule_id=promise.id,
        title=promise.title,
        severity=promise.severity,
        outcome="fail",
        logical_id=one.resource,
        resource_type="acknowledgement",
        path=("acknowledgements", 0 if one.number is None else one.number),
        found=found,
        allowed=allowed,
        fix=promise.fix,
        why=promise.why,
        source=promise.source,
        file=one.by,
        line=one.line,
    )


def _ends_with(file: str, suffix: str) -> bool:
    wanted = PurePath(suffix).parts
    return PurePath(file).parts[-len(wanted) :] == wanted
