"""Review of all units, in one process or several."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hyperpod_policy.documents import Document
from hyperpod_policy.report import Report
from hyperpod_policy.review import review
from hyperpod_policy.rule import Rule


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
    """Yield the report of each task, in their order.

    Args:
        tasks: What to review.
        jobs: Processes; 0 for one a core.
    """
    processes = min(_cores() if jobs == 0 else jobs, len(tasks))
    if processes <= 1:
        yield from (task.report() for task in tasks)
        return
    # Imported here: it takes as long as reviewing a template.
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(processes, initializer=_leave_interrupts_to_the_parent)
    try:
        waiting = [pool.submit(task.report) for task in tasks]
        for future in waiting:
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    count = os.cpu_count()
    return 1 if count is None else count


def _rules(ids: frozenset[str]) -> tuple[Rule, ...]:
    from hyperpod_policy.registry import RULES

    return tuple(rule for rule in RULES if rule.id in ids)
