"""Review of all units, in one process or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hyperpod_policy.command.processes import death_told, number, shared, started
from hyperpod_policy.documents import Document
from hyperpod_policy.report import Report
from hyperpod_policy.review import review
from hyperpod_policy.rule import Rule

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_CHUNK: Final = 5
"""Templates that a process reviews at a time."""


@dataclass(frozen=True, slots=True)
class Task:
    """Templates that are reviewed together, and how.

    Attributes:
        documents: The templates.
        rule_ids: Rules to apply. Rules themselves do not travel between processes.
        checkpoint_buckets: Names that a user gave.
    """

    documents: tuple[Document, ...]
    rule_ids: frozenset[str]
    checkpoint_buckets: tuple[str, ...]

    def report(self) -> Report:
        """Review the templates."""
        return review(self.documents, rules=_rules(self.rule_ids), checkpoint_buckets=self.checkpoint_buckets)


def reports(tasks: Sequence[Task], *, jobs: int) -> Iterator[Report]:
    """Return the report of each task as it is done, in their order. Further processes are started at once.

    Args:
        tasks: What to review.
        jobs: Processes; 0 for one a core.

    Raises:
        UsageError: If one of the processes is ended from outside.
    """
    processes = min(number(jobs), len(tasks))
    if processes <= 1:
        return (task.report() for task in tasks)
    with started(processes, tasks) as pool:
        # Several at a time: their rules' words travel back once.
        found = pool.map(_report, range(len(tasks)), chunksize=max(1, min(_CHUNK, len(tasks) // processes)))
    return _results(pool, found)


def _report(number: int) -> Report:
    task: Task = shared()[number]
    return task.report()


def _results(pool: ProcessPoolExecutor, found: Iterator[Report]) -> Iterator[Report]:
    try:
        with death_told():
            yield from found
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _rules(ids: frozenset[str]) -> tuple[Rule, ...]:
    from hyperpod_policy.registry import RULES

    return tuple(rule for rule in RULES if rule.id in ids)
