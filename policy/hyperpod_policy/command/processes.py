"""Further processes, for many templates."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperpod_model.command_line.parser import UsageError
from hyperpod_policy.sources.reading import Apply, Read

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_FEW: Final = 20
"""Files that are read before other processes would have started."""

_CHUNK: Final = 5
"""Files that a process takes at a time."""


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Look for cycles of garbage a hundred times as rarely: nearly all that a review makes is none."""
    before = gc.get_threshold()
    gc.set_threshold(before[0] * 100, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def number(jobs: int) -> int:
    """Return how many processes a user asks for.

    Args:
        jobs: The number; 0 for one a core.
    """
    return _cores() if jobs == 0 else jobs


def reader(jobs: int) -> Apply:
    """Return what reads many files, in further processes if the user asks for them.

    Args:
        jobs: Processes; 0 for one a core.
    """
    processes = number(jobs)

    def apply(read: Callable[[Path], Read], files: Sequence[Path]) -> Iterable[Read]:
        return map(read, files) if processes <= 1 or len(files) <= _FEW else _spread(read, files, processes)

    return apply


def _spread(read: Callable[[Path], Read], files: Sequence[Path], processes: int) -> Iterator[Read]:
    with started(processes) as pool:
        found = pool.map(read, files, chunksize=_CHUNK)
    try:
        with death_told():
            yield from found
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def started(processes: int, work: Sequence[Any] = ()) -> Iterator[ProcessPoolExecutor]:
    """Start processes, and hold back interrupts while they are given work.

    Args:
        processes: How many.
        work: What all of them have from the start, see `shared`. A process that is forked has it for nothing.
    """
    # Imported here: it takes as long as reviewing a template.
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(processes, initializer=_begin, initargs=(work,))
    with _interrupts_held_back(), death_told():
        yield pool


@contextmanager
def death_told() -> Iterator[None]:
    """Say in words that a process has died, which shows when it is given work or asked for its result."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield
    except BrokenProcessPool as error:
        raise UsageError(
            "a process of --jobs was ended from outside, perhaps for lack of memory; use fewer"
        ) from error


_SHARED: list[Sequence[Any]] = []


def shared() -> Sequence[Any]:
    """Return, in one of the processes, what all of them were given."""
    return _SHARED[-1]


def _begin(work: Sequence[Any]) -> None:
    _SHARED.append(work)
    gc.freeze()  # what was there before is not looked through again, and so not copied
    # Ctrl-C, which a terminal sends to all processes, is left to the first one.
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
