"""Review of all units, in one process or several."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_policy.command.arguments import UsageError
from hyperpod_policy.documents import Document
from hyperpod_policy.report import Report
from hyperpod_policy.review import review
from hyperpod_policy.rule import Rule

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


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
    processes = min(_cores() if jobs == 0 else jobs, len(tasks))
    if processes <= 1:
        return (task.report() for task in tasks)
    # Imported here: it takes as long as reviewing a template.
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(processes, initializer=_ignore_interrupts)
    with _interrupts_held_back(), _death_told():
        waiting = [pool.submit(task.report) for task in tasks]
    return _results(pool, waiting)


def _results(pool: ProcessPoolExecutor, waiting: Sequence[Future[Report]]) -> Iterator[Report]:
    try:
        with _death_told():
            for future in waiting:
                yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _death_told() -> Iterator[None]:
    """Say in words that a process has died, which shows when it is given work or asked for its result."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield
    except BrokenProcessPool as error:
        raise UsageError(
            "a process of --jobs was ended from outside, perhaps for lack of memory; use fewer"
        ) from error


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Take Ctrl-C only after processes have started: each would show a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    count = os.cpu_count()
    return 1 if count is None else count


def _rules(ids: frozenset[str]) -> tuple[Rule, ...]:
    from hyperpod_policy.registry import RULES

    return tuple(rule for rule in RULES if rule.id in ids)
