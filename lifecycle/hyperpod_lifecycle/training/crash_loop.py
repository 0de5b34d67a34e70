"""Stops a job that always fails before it gets anywhere, and tells somebody."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

from hyperpod_lifecycle.training.documents import Documents, documents
from hyperpod_lifecycle.training.manifest import check_step

CRASH_LOOP_EXIT_CODE: Final = 79
"""What a process ends with that does not even try any more. torchrun ends with 1, and names it in its log."""

CRASH_LOOP_PATTERN: Final = "HYPERPOD_CRASH_LOOP"
"""The word that the line in the log begins with: what a metric filter looks for. It stays as it is."""

STATE_NAME: Final = "crash-loop-state.json"
NOTICE_NAME: Final = "crash-loop-notice.json"
"""Beside the state while the job is stopped: what happened, for people and for other programs."""

_log = logging.getLogger("hyperpod_lifecycle.training")
_VERSION = 1


class CrashLoopStateError(RuntimeError):
    """Starts cannot be counted, so a job that always fails would start for ever: it does not start at all."""


@dataclass(frozen=True, kw_only=True)
class CrashLoopNotice:
    """What is told when a job is stopped.

    Attributes:
        job: Name of the job.
        attempts: Starts that got nowhere, the last one included.
        step: Last step that was saved; None if none was.
        host: Where this was found out.
        time: When, in seconds since 1970.
        location: Where state and notice are; deleting the state lets the job start again.
    """

    job: str
    attempts: int
    step: int | None
    host: str
    time: float
    location: str

    @property
    def line(self) -> str:
        """The line for logs, in a form that stays: a word, then ``name=value``."""
        step = "none" if self.step is None else self.step
        return f"{CRASH_LOOP_PATTERN} job={self.job} attempts={self.attempts} step={step} host={self.host}"


def sns_notice(topic_arn: str, *, client: Any = None) -> Callable[[CrashLoopNotice], None]:
    """Return a way to tell by Amazon SNS, for ``on_stop``. boto3 is imported when it is needed.

    Args:
        topic_arn: Of the topic. The job's role needs ``sns:Publish`` on it.
        client: An SNS client. Default that of boto3's default session, in the topic's region.
    """

    def publish(notice: CrashLoopNotice) -> None:
        sns = client
        if sns is None:
            import boto3

            sns = boto3.client("sns", region_name=topic_arn.split(":")[3])
        text = (
            f"{notice.line}\n\n{notice.attempts} starts of {notice.job} in a row ended before a checkpoint "
            f"was saved. "
            f"It does not start again until {STATE_NAME} in {notice.location} is deleted."
        )
        # SNS takes 100 characters of ASCII without line breaks.
        subject = f"Training stopped: {notice.job} crashes in a loop".encode("ascii", "replace").decode()[
            :100
        ]
        sns.publish(TopicArn=topic_arn, Subject=subject, Message=text)

    return publish


class CrashLoopGuard:
    """Counts starts without progress, pauses longer before each, and after too many does not start any more.

    Progress is a checkpoint of a later step than any before. A bug that always crashes makes none, nor does a
    batch that always gives NaN; a failing node now and then does. An end on request (:meth:`interrupted`) is
    no failure.

    Call :meth:`start` on rank 0 *before* the process group is set up: the other ranks wait for it there, and
    a pause must stay below their time-out (10 minutes with NCCL, 30 with gloo).

    Args:
        location: Folder that survives the job's nodes, or URI that begins with ``s3://``; such as the folder
            above the checkpoints. One job, one location.
        job: Name of the job, for notices. Default ``TRAINING_JOB_NAME``, else ``training``.
        most_attempts: Starts in a row that may get nowhere. Default 5.
        first_pause_seconds: Pause before the second start; doubles with each after it. Default 10.
        longest_pause_seconds: Longest pause. Default 300.
        on_stop: Called with the notice when the job is stopped, once for each time it is, such as
            :func:`sns_notice`. One that fails is logged, and the others are called all the same. Default
            none.
        sleep: How to pause. Default :func:`time.sleep`.

    Raises:
        ValueError: If a number is out of range.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] | Documents,
        *,
        job: str | None = None,
        most_attempts: int = 5,
        first_pause_seconds: float = 10.0,
        longest_pause_seconds: float = 300.0,
        on_stop: Sequence[Callable[[CrashLoopNotice], None]] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if most_attempts < 1:
            raise ValueError(f"most_attempts must be 1 or more, got {most_attempts}")
        if first_pause_seconds < 0 or longest_pause_seconds < 0:
            raise ValueError(
                f"pauses must be 0 seconds or more, got {first_pause_seconds} and {longest_pause_seconds}"
            )
        self._documents = documents(location) if isinstance(location, str | os.PathLike) else location
        self._job = os.environ.get("TRAINING_JOB_NAME", "training") if job is None else job
        self._most = most_attempts
        self._first_pause = first_pause_seconds
        self._longest_pause = longest_pause_seconds
        self._on_stop = tuple(on_stop)
        self._sleep = sleep
        self._state = _State()

    @property
    def attempts(self) -> int:
        """Starts without progress so far, this one included."""
        return self._state.attempts

    @property
    def state_location(self) -> str:
        """Where the count is, in words: deleted, it begins anew."""
        return f"{self._documents.location}/{STATE_NAME}"

    @property
    def saved_step(self) -> int | None:
        """Last step that any start saved; None if none did, or before :meth:`start`."""
        return self._state.step

    def start(self) -> None:
        """Count this start, pause if starts before it got nowhere, or end the process.

        Raises:
            SystemExit: With :data:`CRASH_LOOP_EXIT_CODE`, if too many starts got nowhere. The notice is
                written and told by the first start that is refused; those after it only log the line and end.
            CrashLoopStateError: If the count cannot be read or written.
        """
        self._state = self._read()
        if self._state.attempts >= self._most:
            self._stop()
        failed = self._state.attempts
        # Before the pause: a job that is ended meanwhile has been started all the same.
        self._state = _State(attempts=failed + 1, step=self._state.step)
        try:
            self._write()
        except Exception as error:
            raise self._no_count("written", error) from error
        if failed:
            seconds = min(self._longest_pause, self._first_pause * 2.0 ** min(failed - 1, 60))
            _log.warning(
                "%d of %d starts of %s in a row got nowhere; pausing %g seconds",
                failed,
                self._most,
                self._job,
                seconds,
            )
            self._sleep(seconds)

    def progressed(self, step: int) -> None:
        """Say, on rank 0, that a checkpoint is complete. A later step than any before sets the count back.

        Args:
            step: Step of the checkpoint.
        """
        self._note_saved(step, attempts=0)

    def resumed(self, step: int) -> None:
        """Say, on rank 0, that a checkpoint was loaded. A later step than any before is progress of the past.

        A save in the background is told of when the next waits for it. A start that fails before has saved
        it all the same, and this one alone has got nowhere so far.

        Args:
            step: Step of the checkpoint.
        """
        self._note_saved(step, attempts=min(1, self._state.attempts))

    def _note_saved(self, step: int, *, attempts: int) -> None:
        if self._state.step is not None and step <= self._state.step:
            return
        self._state = _State(attempts=attempts, step=step)
        # The checkpoint is safe; without the note, this start counts as one that got nowhere.
        with _failures_logged(f"could not note that step {step} of {self._job} is saved"):
            self._write()

    def interrupted(self) -> None:
        """Say that this start ends because somebody asked for it. It does not count. Call it on rank 0."""
        if self._state.attempts:
            self._state = _State(attempts=self._state.attempts - 1, step=self._state.step)
            # The end on request is no failure either; without the note, this start counts as one.
            with _failures_logged(f"could not note that {self._job} ends on request"):
                self._write()

    def _stop(self) -> None:
        notice = CrashLoopNotice(
            job=self._job,
            attempts=self._state.attempts,
            step=self._state.step,
            host=socket.gethostname(),
            time=time.time(),
            location=self._documents.location,
        )
        _log.critical("%s", notice.line)
        if not self._state.told:
            self._state = _State(attempts=self._state.attempts, step=self._state.step, told=True)
            # A full disk may be why the job fails, and must not keep that from being told.
            with _failures_logged(f"could not write {NOTICE_NAME} in {self._documents.location}"):
                self._documents.write(
                    NOTICE_NAME, json.dumps(asdict(notice) | {"line": notice.line}).encode()
                )
            for tell in self._on_stop:
                with _failures_logged(f"could not tell that {self._job} is stopped"):
                    tell(notice)
            with _failures_logged(f"could not note that {self._job} was told of; the next start tells again"):
                self._write()
        raise SystemExit(CRASH_LOOP_EXIT_CODE)

    def _no_count(self, verb: str, error: Exception) -> CrashLoopStateError:
        return CrashLoopStateError(
            f"{self.state_location}, which counts the starts of {self._job}, cannot be {verb}: "
            f"{type(error).__name__}: {error}; a job whose starts are not counted might crash for ever, so "
            "it does not start: give it a folder that its user can read and write and that has room, or a "
            "URI s3://bucket/prefix where its role may get and put objects and list the bucket"
        )

    def _read(self) -> _State:
        try:
            content = self._documents.read(STATE_NAME)
            return _State() if content is None else _parsed(content)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            # Training may go on: to count from the beginning costs some attempts, to stop costs the job.
            _log.warning(
                "%s in %s cannot be read, counting anew: %s", STATE_NAME, self._documents.location, error
            )
            return _State()
        except Exception as error:
            # It may be right: counting anew would undo the cap whenever a file system or S3 fails.
            raise self._no_count("read", error) from error

    def _write(self) -> None:
        self._documents.write(STATE_NAME, json.dumps(asdict(self._state) | {"version": _VERSION}).encode())


@dataclass(frozen=True, kw_only=True)
class _State:
    attempts: int = 0
    step: int | None = None
    told: bool = False


@contextmanager
def _failures_logged(words: str) -> Iterator[None]:
    try:
        yield
    except Exception:
        _log.exception("%s", words)


def _parsed(content: bytes) -> _State:
    said = json.loads(content)
    if said["version"] != _VERSION:
        raise ValueError(f"version {said['version']!r} is not {_VERSION}")
    attempts, step = said["attempts"], said["step"]
    if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 0:
        raise ValueError(f"attempts must be a whole number of 0 or more, got {attempts!r:.100}")
    wrong = None if step is None else check_step(step)
    if wrong is not None:
        raise ValueError(f"step {wrong:.100}")
    return _State(attempts=attempts, step=step, told=bool(said["told"]))
