"""One save at a time, and what it cost: two at once would wait for each other's collectives for ever."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError, SaveError
from hyperpod_model.catalog.recovery import TierName

INTERVAL_PATTERN: Final = "HYPERPOD_SAVE_INTERVAL_TOO_SHORT"

_log = logging.getLogger("hyperpod_lifecycle.training")


@dataclass(frozen=True, kw_only=True)
class SaveReport:
    """What a save cost.

    Attributes:
        step: Step that was saved.
        stall_seconds: How long training stood still for it, waiting for the save before included.
        seconds: From its begin until it was complete.
        training_seconds: How long training ran between the save before and this one; None for the first.
        asynchronous: Whether training went on meanwhile.
        tiers: Where it went.
    """

    step: int
    stall_seconds: float
    seconds: float
    training_seconds: float | None
    asynchronous: bool
    tiers: tuple[TierName, ...]

    @property
    def interval_is_too_short(self) -> bool:
        """Whether training ran for less time before this save than the save takes."""
        return self.training_seconds is not None and self.training_seconds < self.seconds

    @property
    def line(self) -> str:
        """The warning for logs, in a form that stays: a word, then ``name=value``."""
        training = "none" if self.training_seconds is None else f"{self.training_seconds:.3f}"
        return (
            f"{INTERVAL_PATTERN} step={self.step} save_seconds={self.seconds:.3f} training_seconds={training}"
        )


class SavesInFlight:
    """Runs saves one after the other, in a thread of its own or in place.

    Args:
        asynchronous: Whether :meth:`run` returns before the save is complete.
        on_saved: Called with what each complete save cost, in the thread of training. Default nothing.
        warns: Whether an interval that is too short is logged: one of many ranks is enough. Default it is.
        clock: Seconds. Default :func:`time.perf_counter`.
    """

    def __init__(
        self,
        *,
        asynchronous: bool,
        on_saved: Callable[[SaveReport], None] | None = None,
        warns: bool = True,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._warns = warns
        self._asynchronous = asynchronous
        self._on_saved = on_saved
        self._clock = clock
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="hyperpod-save") if asynchronous else None
        self._pending: Future[float] | None = None
        self._step = 0
        self._begun = 0.0
        self._warned_of_seconds = 0.0
        self._stall = 0.0
        self._training: float | None = None
        self._stalled_until: float | None = None
        self._tiers: tuple[TierName, ...] = ()

    def run(self, step: int, begin: Callable[[], Callable[[], Any]], *, tiers: tuple[TierName, ...]) -> None:
        """Save a step, once the save before is complete.

        Args:
            step: Which.
            begin: Does what training must stand still for, and returns what is left to do.
            tiers: Where it goes.

        Raises:
            SaveError: If the save before failed, or this one failed before it returned.
        """
        called = self._clock()
        self.wait()
        begun = self._clock()
        self._step, self._tiers, self._begun = step, tiers, begun
        self._training = None if self._stalled_until is None else called - self._stalled_until
        with _as_save_error(step):
            finish = begin()
        if self._pool is None:
            self._pending = _done(finish, self._clock)
        else:
            self._pending = self._pool.submit(_finished, finish, self._clock)
        if self._pool is None:
            self._stall = self._clock() - called
            self._stalled_until = self._clock()
            self.wait()
        else:
            self._stalled_until = self._clock()
            self._stall = self._stalled_until - called

    def wait(self) -> None:
        """Wait until the save that is in flight is complete, if one is.

        Raises:
            SaveError: If it failed.
        """
        if self._pending is None:
            return
        pending, self._pending = self._pending, None
        with _as_save_error(self._step):
            finished = pending.result()
        report = SaveReport(
            step=self._step,
            stall_seconds=self._stall,
            seconds=finished - self._begun,
            training_seconds=self._training,
            asynchronous=self._asynchronous,
            tiers=self._tiers,
        )
        # Said again only when it has become twice as bad: else it would be in the log with every save.
        if self._warns and report.interval_is_too_short and report.seconds >= 2 * self._warned_of_seconds:
            self._warned_of_seconds = report.seconds
            _log.warning("%s; saves cost more time than there is between them: save less often", report.line)
        if self._on_saved is not None:
            self._on_saved(report)

    def close(self) -> None:
        """Wait, and end the thread."""
        try:
            self.wait()
        finally:
            if self._pool is not None:
                self._pool.shutdown()


def _finished(finish: Callable[[], Any], clock: Callable[[], float]) -> float:
    finish()
    return clock()


def _done(finish: Callable[[], Any], clock: Callable[[], float]) -> Future[float]:
    done: Future[float] = Future()
    try:
        done.set_result(_finished(finish, clock))
    except Exception as error:
        done.set_exception(error)
    return done


@contextmanager
def _as_save_error(step: int) -> Iterator[None]:
    try:
        yield
    except CheckpointError:
        raise
    except Exception as error:
        raise SaveError(f"could not save step {step}: {type(error).__name__}: {error}") from error
