"""A rule: one promise about a template, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hyperpod_model.faults import FaultPath
from hyperpod_policy.template import Resource, Template

Outcome: TypeAlias = Literal["pass", "fail", "undetermined"]
Severity: TypeAlias = Literal["error", "warning", "advice"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's answer about one resource.

    Attributes:
        outcome: ``pass``, ``fail``, or ``undetermined`` where only deployment can tell.
        resource: The resource that would have to change.
        path: The property of it, outermost first, below ``Properties``; empty for the whole.
        found: What is there.
        allowed: What may be there.
        fix: How to mend it, where the rule's own words are too general.
        severity: Where it departs from the rule's.
    """

    outcome: Outcome
    resource: Resource
    path: FaultPath = ()
    found: str = ""
    allowed: str = ""
    fix: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Promise:
    """What a rule promises, and what a reader of a finding needs to know.

    Attributes:
        id: Name by which it is acknowledged.
        title: The promise, as a sentence without period.
        severity: ``error`` if it must be mended or acknowledged, ``warning`` if it should be, ``advice`` if
            the cluster works and is safe without it.
        why: What goes wrong otherwise.
        fix: How to mend it.
        source: Where AWS says so.
    """

    id: str
    title: str
    severity: Severity
    why: str
    fix: str
    source: str


@dataclass(frozen=True, slots=True)
class Rule(Promise):
    """One promise that a template keeps or breaks.

    Attributes:
        check: Yields a verdict for each resource the rule speaks about, and none where it has nothing to say.
    """

    check: Callable[[Template], Iterable[Verdict]]


def passed(resource: Resource, *path: str | int) -> Verdict:
    """Answer that a resource keeps the promise."""
    return Verdict("pass", resource, path)


def failed(
    resource: Resource,
    *path: str | int,
    found: str,
    allowed: str,
    fix: str | None = None,
    severity: Severity | None = None,
) -> Verdict:
    """Answer that a resource breaks the promise."""
    return Verdict("fail", resource, path, found, allowed, fix, severity)


def undetermined(
    resource: Resource, *path: str | int, found: str, allowed: str, fix: str | None = None
) -> Verdict:
    """Answer that only deployment can tell."""
    return Verdict("undetermined", resource, path, found, allowed, fix)
