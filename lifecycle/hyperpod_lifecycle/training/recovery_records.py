"""What a run writes down about itself: starts, recoveries stage by stage, saves, progress, and how it ended.

JSON lines; each start of a job writes a file of its own, ``<UTC time>-<attempt>.jsonl``, from rank 0 alone.
Every line has ``version`` (1), ``kind``, ``time`` (seconds since 1970), ``job`` and ``attempt`` (the start it
belongs to), and by kind:

``start``
    ``ranks``; ``process_started`` (seconds since 1970); ``recovers``: whether a start before it got
    somewhere.
``recovery``
    ``complete``: false when the first step is done, true when all lost steps are computed again; the last
    line of a file counts. ``seconds``: an object with the six stages of
    :data:`~hyperpod_model.catalog.recovery.RECOVERY_STAGES`, null what is not over yet; to 0.1 milliseconds,
    since metric filters read no exponents. In pods, the complete one is also printed. ``failed_at``: last
    sign of life before, seconds since 1970. ``last_step``: last step known to be done before, null if none.
    ``resumed_step``: step that this start begins with. ``steps_lost``: how many steps are computed again.
    ``tier``: which of :data:`~hyperpod_model.catalog.recovery.RECOVERY_TIERS` answered.
``save``
    ``step``; ``stall_seconds``: how long training stood still for it; ``seconds``: from its begin until it
    was complete; ``asynchronous``; ``tiers``: list of where it went; ``ranks``.
``progress``
    ``next_step``; ``new_steps``: steps of this start that no start before had done; ``seconds``: since the
    first step of this start began. Written every so often and at the end, each for the whole start until
    then.
``warning``
    ``what``: ``interval_too_short``, ``slow_rank``, ``slower``, ``not_finite``, ``checkpoint_refused``,
    ``older_checkpoint`` or ``not_restored``; ``message``; ``details``: an object.
``end``
    ``reason``: ``done``, ``interrupted`` or ``failed``. A start without it was killed.

New fields may come; readers pass over kinds and fields that they do not know.
"""

from __future__ import annotations

import json
import logging
import math
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from hyperpod_lifecycle.training.container_output import print_line, prints_recoveries
from hyperpod_lifecycle.training.documents import Documents, documents
from hyperpod_lifecycle.training.manifest import check_step
from hyperpod_model.catalog.recovery import RECOVERY_STAGES, RecoveryStageName, TierName

SCHEMA_VERSION: Final = 1
HEARTBEAT_NAME: Final = "last-step.json"
"""Last step that is known to be done, and when: what the next start measures a failure by."""

_log = logging.getLogger("hyperpod_lifecycle.training")

RecordKind = Literal["start", "recovery", "save", "progress", "warning", "end"]
EndReason = Literal["done", "interrupted", "failed"]


class RunRecords:
    """The records of one start of a job. Use it on rank 0 only.

    A record that cannot be written becomes a warning in the log, and training goes on.

    Args:
        location: Folder or URI that begins with ``s3://``; by custom ``recovery`` beside the checkpoints.
        job: Name of the job. Default ``TRAINING_JOB_NAME``, else ``training``.
        clock: Seconds since 1970. Default :func:`time.time`.
        print_recoveries: Whether the record of each complete recovery is also printed, once, as a line of its
            own on standard output, from where Container Insights ships it. Default what
            ``TRAINING_PRINT_RECOVERIES`` says, 0 or 1; without it, only in pods.

    Raises:
        ValueError: If ``TRAINING_PRINT_RECOVERIES`` is neither.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] | Documents,
        *,
        job: str | None = None,
        clock: Callable[[], float] = time.time,
        print_recoveries: bool | None = None,
    ) -> None:
        self.documents = documents(location) if isinstance(location, str | os.PathLike) else location
        self.job = os.environ.get("TRAINING_JOB_NAME", "training") if job is None else job
        self.clock = clock
        self.print_recoveries = prints_recoveries() if print_recoveries is None else print_recoveries
        self.attempt = secrets.token_hex(8)
        begun = datetime.fromtimestamp(clock(), UTC)
        self.name = f"{begun:%Y%m%dT%H%M%S.%fZ}-{self.attempt}.jsonl"

    def write(self, kind: RecordKind, **fields: Any) -> None:
        """Write a line.

        Args:
            kind: What it is about.
            **fields: As the schema says for this kind.
        """
        line = {
            "version": SCHEMA_VERSION,
            "kind": kind,
            "time": round(self.clock(), 6),
            "job": self.job,
            "attempt": self.attempt,
            **fields,
        }
        content = json.dumps(line, separators=(",", ":")).encode()
        self.keep(lambda: self.documents.append(self.name, content))
        if self.print_recoveries and kind == "recovery" and fields.get("complete"):
            try:
                print_line(content)
            except Exception as error:
                _log.warning("could not print the record of a recovery: %s", error)

    def keep(self, write: Callable[[], None]) -> None:
        """Write something down; if that fails, say so and go on: a note must not cost the training.

        Args:
            write: Writes it.
        """
        try:
            write()
        except Exception as error:
            _log.warning("could not write down a record in %s: %s", self.documents.location, error)

    def warn(self, what: str, message: str, **details: Any) -> None:
        """Write a warning.

        Args:
            what: A word to count by.
            message: In words.
            **details: Values to reckon with.
        """
        self.write("warning", what=what, message=message, details=details)


class RecoveryClock:
    """Measures the six stages of a recovery, by what training says as it goes.

    Call, in this order: :meth:`initialized`, :meth:`loaded`, :meth:`data_ready`, then :meth:`step_done` after
    each step. What a failed start did last is known from its heartbeat, which ``step_done`` writes at most
    every ``heartbeat_seconds``: steps lost and the time of the failure are exact to that.

    Args:
        records: Of this start.
        ranks: Processes of the job.
        heartbeat_seconds: Least seconds between heartbeats. Default 5.
        progress_seconds: Least seconds between records of progress. Default 60.
        process_started: When this process started, seconds since 1970. Default what the system says.
    """

    def __init__(
        self,
        records: RunRecords,
        *,
        ranks: int,
        heartbeat_seconds: float = 5.0,
        progress_seconds: float = 60.0,
        process_started: float | None = None,
    ) -> None:
        self._records = records
        self._heartbeat_seconds = heartbeat_seconds
        self._progress_seconds = progress_seconds
        self._failed_at, self._last_step = _heartbeat(records.documents)
        self._heartbeat_at = float("-inf")
        self._progress_at = float("-inf")
        started = _process_started(records.clock) if process_started is None else process_started
        self._marks = [started]
        self._resumed_step = 0
        self._next_step = 0
        self._tier: TierName = "none"
        self._caught_up = False
        records.write("start", ranks=ranks, process_started=round(started, 6), recovers=self.recovers)

    @property
    def recovers(self) -> bool:
        """Whether an earlier start did steps: this one recovers from its end."""
        return self._last_step is not None

    def initialized(self) -> None:
        """Say that ranks have met and communication is set up."""
        self._mark(1)

    def loaded(self, resumed_step: int, tier: TierName) -> None:
        """Say that the state is there.

        Args:
            resumed_step: Step that comes next.
            tier: Where it came from; ``none`` if training begins anew.
        """
        self._mark(2)
        self._resumed_step = self._next_step = resumed_step
        self._tier = tier

    def data_ready(self) -> None:
        """Say that the first batch is there."""
        self._mark(3)

    def step_done(self, step: int) -> None:
        """Say that a step is done.

        Args:
            step: Which, from 0.
        """
        if len(self._marks) < 4:
            raise RuntimeError("step_done comes after initialized, loaded and data_ready")
        now = self._records.clock()
        self._next_step = step + 1
        if len(self._marks) == 4:
            self._marks.append(now)
            if self.recovers:
                self._write_recovery(lost=None)
        if not self._caught_up and (self._last_step is None or step >= self._last_step):
            self._caught_up = True
            if self.recovers:
                # With nothing lost, the first step is a new one.
                lost = now - self._marks[4] if self._steps_lost else 0.0
                self._write_recovery(lost=lost)
        # A clock that was put back would else keep both away until it is where it was.
        if abs(now - self._heartbeat_at) >= self._heartbeat_seconds:
            self._heartbeat_at = now
            self._write_heartbeat(now)
        if abs(now - self._progress_at) >= self._progress_seconds:
            self._progress_at = now
            self.write_progress()

    def write_progress(self) -> None:
        """Write how far this start has come."""
        if len(self._marks) < 4:
            return
        furthest = (
            self._resumed_step if self._last_step is None else max(self._resumed_step, self._last_step + 1)
        )
        self._records.write(
            "progress",
            next_step=self._next_step,
            new_steps=max(0, self._next_step - furthest),
            seconds=round(self._records.clock() - self._marks[3], 6),
        )

    def end(self, reason: EndReason) -> None:
        """Write how this start ended, and how far it came.

        Args:
            reason: Why it ends.
        """
        self.write_progress()
        if len(self._marks) > 4:
            self._write_heartbeat(self._records.clock())
        self._records.write("end", reason=reason)

    @property
    def _steps_lost(self) -> int:
        return 0 if self._last_step is None else max(0, self._last_step + 1 - self._resumed_step)

    def _mark(self, number: int) -> None:
        if len(self._marks) != number:
            raise RuntimeError("initialized, loaded and data_ready come once, and in this order")
        self._marks.append(self._records.clock())

    def _write_recovery(self, *, lost: float | None) -> None:
        times = [self._failed_at if self._failed_at is not None else self._marks[0], *self._marks]
        spans = [max(0.0, after - before) for before, after in pairwise(times)]
        names: list[RecoveryStageName] = [stage.name for stage in RECOVERY_STAGES]
        seconds = dict(zip(names, [*spans, lost], strict=True))
        self._records.write(
            "recovery",
            complete=lost is not None,
            seconds={name: None if span is None else round(span, 4) for name, span in seconds.items()},
            failed_at=self._failed_at,
            last_step=self._last_step,
            resumed_step=self._resumed_step,
            steps_lost=self._steps_lost,
            tier=self._tier,
        )

    def _write_heartbeat(self, now: float) -> None:
        # The furthest step there ever was: one that is computed again is lost until then.
        done = self._next_step - 1
        step = done if self._last_step is None else max(done, self._last_step)
        content = json.dumps({"version": SCHEMA_VERSION, "step": step, "time": now})
        self._records.keep(lambda: self._records.documents.write(HEARTBEAT_NAME, content.encode()))


def read_records(location: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Read the records of all starts in a folder, in the order in which they began.

    A last line that was cut off when its process was killed is passed over.

    Args:
        location: The folder, or one of its files. Records in a bucket are copied into one first.

    Raises:
        ValueError: If another line is no record, or of a later version of the schema; the message names it.
    """
    there = Path(location)
    files = [there] if there.is_file() else sorted(path for path in there.glob("*.jsonl") if path.is_file())
    for path in files:
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                if number == len(lines):
                    continue
                raise ValueError(f"{path}:{number} is no record: {error}") from error
            if not isinstance(record, Mapping) or record.get("version") != SCHEMA_VERSION:
                raise ValueError(f"{path}:{number} must be a record of version {SCHEMA_VERSION}")
            yield dict(record)


def _heartbeat(found: Documents) -> tuple[float | None, int | None]:
    try:
        content = found.read(HEARTBEAT_NAME)
        if content is None:
            return None, None
        said = json.loads(content)
        seconds, step = float(said["time"]), said["step"]
        wrong = check_step(step)
        if wrong is not None or not math.isfinite(seconds):
            raise ValueError(f"time must be finite and step a step, got {seconds} and {step!r:.100}")
        return seconds, step
    except Exception as error:
        _log.warning(
            "%s in %s cannot be read; no recovery is told: %s", HEARTBEAT_NAME, found.location, error
        )
        return None, None


def _process_started(clock: Callable[[], float]) -> float:
    now = clock()
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):
        # Not Linux: the first stage then takes what importing this module took, too.
        return now
    return now - max(0.0, age)
