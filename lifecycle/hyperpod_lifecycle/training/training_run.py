"""A training loop that goes on where it was: everything of this package, put together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Protocol, Self

from hyperpod_lifecycle.training.checkpoint_events import CheckpointEvent, log_event
from hyperpod_lifecycle.training.coordinator import Coordinator
from hyperpod_lifecycle.training.crash_loop import CrashLoopGuard
from hyperpod_lifecycle.training.distributed_checkpoints import Loaded
from hyperpod_lifecycle.training.loop_state import LoopState
from hyperpod_lifecycle.training.recovery_records import RecoveryClock, RunRecords
from hyperpod_lifecycle.training.sample_order import ResumableBatches
from hyperpod_lifecycle.training.save_schedule import SaveSchedule
from hyperpod_lifecycle.training.saves_in_flight import SaveReport
from hyperpod_lifecycle.training.step_times import StepTimeFinding
from hyperpod_lifecycle.training.stop_signal import INTERRUPTED_EXIT_CODE, StopSignal

_log = logging.getLogger("hyperpod_lifecycle.training")


class Saver(Protocol):
    """What saves and loads: :class:`DistributedCheckpoints` or :class:`TieredCheckpoints`."""

    def save(self, step: int, state: dict[str, Any], loop: LoopState, *, durable: bool = False) -> None:
        """Save a step, once the save before is complete."""

    def wait(self) -> None:
        """Wait for the save that is in flight."""

    def close(self) -> None:
        """Wait, and let go of what it holds."""

    def load(self, state: dict[str, Any], loop: LoopState, *, start_over: bool = False) -> Loaded | None:
        """Load the newest checkpoint; None if there is none, or none verifies and ``start_over`` is said."""


class TrainingRun:
    """Steps from where training was to its end, with saves, the end on request, counts and records.

    After each step it counts the samples as used, asks all ranks whether one was told to end, and saves when
    that is due, at the last step and at the end on request. Every rank makes one and goes through the same
    steps.

    As a context it writes down how this start ended. What a checkpoint's save costs must be known: pass
    :meth:`on_saved` to the saver, and :meth:`on_event` to its checkpoints.

    Args:
        steps: Steps of the whole training.
        schedule: When to save.
        coordinator: How ranks agree on the end; not the one that saves in the background use.
        stop: Hears SIGTERM.
        loop: The loop's state. What :attr:`batches` uses must be one of its parts too.
        batches: What counts samples. Default nothing does.
        guard: Counts starts without progress; :meth:`CrashLoopGuard.start` was called on rank 0. Default
            none.
        records: Where rank 0 writes records. Default nowhere.
        heartbeat_seconds: Of :class:`RecoveryClock`. Default 5.
        on_step_saved: Called on rank 0 with each step whose save is complete. Default nothing.
    """

    def __init__(
        self,
        *,
        steps: int,
        schedule: SaveSchedule,
        coordinator: Coordinator,
        stop: StopSignal,
        loop: LoopState,
        batches: ResumableBatches | None = None,
        guard: CrashLoopGuard | None = None,
        records: RunRecords | None = None,
        heartbeat_seconds: float = 5.0,
        on_step_saved: Callable[[int], None] | None = None,
    ) -> None:
        self.interrupted = False
        self._steps = steps
        self._schedule = schedule
        self._coordinator = coordinator
        self._stop = stop
        self._loop = loop
        self._batches = batches
        leads = coordinator.rank == 0
        self._guard = guard if leads else None
        self._records = records if leads else None
        self._on_step_saved = on_step_saved if leads else None
        self._clock: RecoveryClock | None = None
        if self._records is not None:
            self._clock = RecoveryClock(
                self._records, ranks=coordinator.world_size, heartbeat_seconds=heartbeat_seconds
            )
            self._clock.initialized()
        self._longest_save = 0.0
        self._data_told = False

    @property
    def exit_code(self) -> int:
        """What to end the process with: 0 if all steps are done, not 0 after an end on request."""
        return INTERRUPTED_EXIT_CODE if self.interrupted else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._clock is not None:
            self._clock.end("failed" if error is not None else "interrupted" if self.interrupted else "done")
        if self._guard is not None and error is None and self.interrupted:
            self._guard.interrupted()

    def resume(
        self, saver: Saver | None, state: dict[str, Any], *, start_over: bool = False
    ) -> Loaded | None:
        """Load the newest checkpoint. Collective.

        If an earlier start saved a later step, by what the guard knows, the log and the records say so.

        Args:
            saver: Loads it. None: training begins anew.
            state: What to fill; with ``get_state_dict``, hand it to ``set_state_dict`` afterwards.
            start_over: Begin anew even where there are checkpoints and none verifies. Off by default: a wrong
                key must not make a run begin again.

        Returns:
            What was loaded; None if training begins anew.

        Raises:
            NothingVerifiesError: If there are checkpoints and none verifies.
        """
        loaded = None if saver is None else saver.load(state, self._loop, start_over=start_over)
        if self._clock is not None:
            self._clock.loaded(self._loop.next_step, "none" if loaded is None else loaded.tier)
        if saver is not None:
            self._warn_of_older(None if loaded is None else loaded.step)
        if loaded is not None and self._guard is not None:
            self._guard.resumed(loaded.step)
        if loaded is not None and loaded.not_restored:
            what = ", ".join(loaded.not_restored)
            message = f"could not restore {what}: the checkpoint has none for rank {self._coordinator.rank}"
            _log.warning("%s", message)
            if self._records is not None:
                self._records.warn("not_restored", message, parts=list(loaded.not_restored))
        return loaded

    def data_ready(self) -> None:
        """Say that the first batch is there. Without it, fetching it counts to the first step."""
        self._data_told = True
        if self._clock is not None:
            self._clock.data_ready()

    def steps_left(self, saver: Saver | None, state: Callable[[], dict[str, Any]]) -> Iterator[int]:
        """Yield each step that is left; what the loop's body does is the step.

        Make iterators of the data before the loop: right before the first step, random numbers are put where
        the checkpoint had them.

        Args:
            saver: Saves. None: nothing is saved.
            state: Gives the state to save, after a step.

        Raises:
            SaveError: If a save failed.
        """
        if not self._data_told:
            self.data_ready()
        self._loop.restore_random()
        for step in range(self._loop.next_step, self._steps):
            yield step
            self._loop.next_step = step + 1
            if self._batches is not None:
                self._batches.used()
            if self._clock is not None:
                self._clock.step_done(step)
            last = step + 1 == self._steps
            # At the last step nothing is interrupted any more. All ranks ask all the same: asking is
            # collective.
            self.interrupted = self._any(self._stop.requested) and not last
            if saver is not None and (self.interrupted or last or self._schedule.is_due(step)):
                self._warn_of_short_grace()
                saver.save(step, state(), self._loop, durable=self.interrupted or last)
            if self.interrupted:
                break
        if saver is not None:
            saver.wait()

    def on_saved(self, report: SaveReport) -> None:
        """Take note of a complete save: progress, and what it cost."""
        self._longest_save = max(self._longest_save, report.seconds)
        if self._guard is not None:
            self._guard.progressed(report.step)
        if self._records is not None:
            self._records.write(
                "save",
                step=report.step,
                stall_seconds=round(report.stall_seconds, 6),
                seconds=round(report.seconds, 6),
                asynchronous=report.asynchronous,
                tiers=list(report.tiers),
                ranks=self._coordinator.world_size,
            )
            if report.interval_is_too_short:
                self._records.warn(
                    "interval_too_short",
                    "saves take longer than training runs between them; save less often",
                    step=report.step,
                    save_seconds=report.seconds,
                    training_seconds=report.training_seconds,
                )
        if self._on_step_saved is not None:
            self._on_step_saved(report.step)

    def on_event(self, event: CheckpointEvent) -> None:
        """Take note of what happens to checkpoints: all of it is logged, a refused one is recorded."""
        log_event(event)
        if self._records is not None and event.kind == "refused":
            self._records.warn("checkpoint_refused", event.message, step=event.step, reason=event.reason)

    def on_step_time(self, finding: StepTimeFinding) -> None:
        """Take note of a slow rank."""
        if self._records is not None:
            self._records.warn(
                finding.kind,
                finding.line,
                step=finding.step,
                rank=finding.rank,
                host=finding.host,
                ratio=finding.ratio,
            )

    def on_not_finite(self, step: int, where: str, value: str) -> None:
        """Take note of a number that is not finite; on rank 0 only those of rank 0 are seen."""
        if self._records is not None:
            self._records.warn("not_finite", f"{where} is {value}", step=step, where=where)

    def _any(self, value: bool) -> bool:
        any_of = getattr(self._coordinator, "any", None)
        if any_of is not None:
            return bool(any_of(value))
        told = self._coordinator.gather(value)
        return bool(self._coordinator.broadcast(None if told is None else any(told)))

    def _warn_of_older(self, step: int | None) -> None:
        """Nothing among checkpoints tells that newer ones were there: what is beside them does."""
        if self._guard is None:
            return
        saved = self._guard.saved_step
        if saved is None or (step is not None and step >= saved):
            return
        found = "there is no checkpoint: training begins anew" if step is None else f"step {step} is loaded"
        message = (
            f"step {saved} was saved before, and {found}; newer checkpoints were refused or removed, or the "
            f"place is not mounted; until step {saved} is saved again, no start counts as one that got "
            f"somewhere: if training goes back on purpose, delete {self._guard.state_location}"
        )
        _log.warning("%s", message)
        if self._records is not None:
            self._records.warn("older_checkpoint", message, saved_step=saved, loaded_step=step)

    def _warn_of_short_grace(self) -> None:
        left = self._stop.seconds_left()
        if left is not None and left < self._longest_save:
            _log.warning(
                "%.0f seconds are left of the grace period, and a save took up to %.0f: it may be killed "
                "half-way, which "
                "loses this save and no other; make the grace period longer",
                left,
                self._longest_save,
            )
