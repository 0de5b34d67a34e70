"""Saves of checkpoints that are under way, told from what dead writers left behind.

A save in a folder lives in ``.saving-<step>-<attempt>`` until it is published, and its writer holds the lock
of ``.saving-<step>-<attempt>.lock`` meanwhile; the kernel lets go of it when the process or its node dies. So
there the lock tells, and no clock. In S3 nobody holds anything: a save is an attempt whose files are below
``files/`` and whose step is not ``complete/``, and it counts as under way while something was uploaded lately
and the job did not start since. See ``hyperpod_lifecycle.training``: ``directory_store``, ``object_store``.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final, Literal

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.spans import span

QUIET_SECONDS: Final = 900.0
"""Where no lock tells: a save to which nothing was added for so long is taken to be a dead writer's."""

_SAVING: Final = re.compile(r"\.saving-([0-9]{12})-([0-9a-f]{32})")
_ATTEMPT: Final = re.compile(r"step-([0-9]{12})-([0-9a-f]{32})/?")
_COMPLETE: Final = re.compile(r"step-([0-9]{12})")
_HELD: Final = frozenset({errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN})
_LATELY: Final = 20
_MOST_FILES: Final = 20_000

_LockState = Literal["held", "free", "none", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveUnderWay:
    """A save that somebody is at.

    Attributes:
        step: Training step.
        attempt: Id of the attempt to save it.
        begun: When, seconds since 1970; the earliest trace that there is.
        told_by: How it is told from what a dead writer left.
        certain: Whether a lock tells it; else a clock does.
    """

    step: int
    attempt: str
    begun: float
    told_by: str
    certain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Saves:
    """What a place of checkpoints tells of saves.

    Attributes:
        looked_at: When, seconds since 1970.
        under_way: Those that somebody is at, the oldest step first.
        left_behind: How many interrupted saves are there whose writers are dead.
        usual_seconds: Median of how long saves took lately; None if unknown.
        partly: What could not be seen, and why; None if all could.
        unknown: Why it cannot be told; None if it can.
    """

    looked_at: float
    under_way: tuple[SaveUnderWay, ...] = ()
    left_behind: int = 0
    usual_seconds: float | None = None
    partly: str | None = None
    unknown: str | None = None

    @property
    def lines(self) -> list[str]:
        """All of it in words, a line for each save."""
        if self.unknown is not None:
            return [f"whether a save is under way is not known: {self.unknown}"]
        dead = (
            f" ({self.left_behind} of dead writers are there, and do not count)" if self.left_behind else ""
        )
        if not self.under_way:
            seen = "" if self.partly is None else f", as far as can be seen: {self.partly}"
            return [f"no save is under way{dead}{seen}"]
        usual = "" if self.usual_seconds is None else f"; saves took {span(self.usual_seconds)} lately"
        return [
            f"a save of step {save.step} {'is' if save.certain else 'seems to be'} under way since "
            f"{span(max(0.0, self.looked_at - save.begun))} ({save.told_by}{usual}): it comes to nothing if "
            "its nodes go now; --wait-for-save MINUTES waits for it first"
            for save in self.under_way
        ]


def saves_at(
    aws: Aws, checkpoints: str, *, records: Sequence[Mapping[str, Any]] = (), now: float | None = None
) -> Saves:
    """Say which saves are under way.

    Args:
        aws: Clients, for checkpoints in a bucket.
        checkpoints: Folder or ``s3://`` URI of the checkpoints of one run.
        records: Of the job: a start after the last trace of a save means that its writer is dead. Default:
            none.
        now: Seconds since 1970. Default: this moment.
    """
    now = time.time() if now is None else now
    begins = [float(one["process_started"]) for one in records if one["kind"] == "start"]
    dead_before = max([now - QUIET_SECONDS, *begins])
    partly: str | None = None
    try:
        if checkpoints.startswith("s3://"):
            found, left, partly = _in_bucket(aws, checkpoints, dead_before)
        elif "://" in checkpoints:
            return Saves(looked_at=now, unknown=f"it can be told of a folder or s3://, got '{checkpoints}'")
        else:
            found, left = _in_folder(Path(checkpoints), dead_before)
    except (OperationError, OSError) as error:
        return Saves(looked_at=now, unknown=f"{checkpoints} cannot be looked at: {error}")
    took = [float(one["seconds"]) for one in records if one["kind"] == "save"][-_LATELY:]
    return Saves(
        looked_at=now,
        under_way=tuple(sorted(found, key=lambda save: (save.step, save.begun))),
        left_behind=left,
        usual_seconds=median(took) if took else None,
        partly=partly,
    )


def wait_for(
    saves: Saves,
    *,
    look: Callable[[], Saves],
    seconds: float,
    poll_seconds: float = 5.0,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Saves:
    """Wait until saves have ended, one way or the other, and not for those that begin meanwhile.

    Args:
        saves: Those to wait for.
        look: Looks again.
        seconds: The longest wait.
        poll_seconds: Between two looks.
        sleep: Waits.
        clock: Seconds, from any begin.

    Returns:
        What was seen last: those to wait for are still in it where the time was up.
    """
    wanted = {save.attempt for save in saves.under_way}
    end = clock() + seconds
    seen = saves
    while still_under_way(seen, wanted) and (left := end - clock()) > 0:
        sleep(min(poll_seconds, left))
        seen = look()
    return seen


def still_under_way(saves: Saves, attempts: set[str]) -> tuple[SaveUnderWay, ...]:
    """Return those of some attempts that are under way."""
    return tuple(save for save in saves.under_way if save.attempt in attempts)


def _in_folder(folder: Path, dead_before: float) -> tuple[list[SaveUnderWay], int]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError as error:
        # A place that is not there yet has no checkpoints; one that is not mounted looks the same.
        raise OperationError("unsuitable", "there is no such folder on this machine") from error
    found: list[SaveUnderWay] = []
    left = 0
    for name in names:
        match = _SAVING.fullmatch(name)
        if match is None:
            continue
        try:
            save = _save_in(folder / name, match, dead_before)
        except FileNotFoundError:
            continue  # published, or removed, since it was listed
        if save is None:
            left += 1
        else:
            found.append(save)
    return found, left


def _save_in(folder: Path, name: re.Match[str], dead_before: float) -> SaveUnderWay | None:
    """Return a save; None if its writer is dead.

    Raises:
        FileNotFoundError: If it is not there any more.
    """
    lock = folder.with_name(f"{folder.name}.lock")
    state = _lock_state(lock)
    changed = folder.lstat().st_mtime
    if state == "free":
        return None
    if state == "held":
        # Made before the folder, and never written to.
        begun, told_by = lock.lstat().st_mtime, "its writer holds its lock"
    else:
        times = [changed, *_changes(folder)]
        if max(times) < dead_before:
            return None
        why = "it has no lock" if state == "none" else "its lock cannot be asked"
        begun, told_by = min(times), f"{why}, but it was written to lately"
    return SaveUnderWay(
        step=int(name[1]), attempt=name[2], begun=begun, told_by=told_by, certain=state == "held"
    )


def _lock_state(path: Path) -> _LockState:
    """Try to share the lock, for a moment: its writer holds it alone."""
    import fcntl

    try:
        # Reading is enough to share a lock: who operates the cluster need not be who trains.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return "none"
    except OSError:
        return "unknown"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return "held" if error.errno in _HELD else "unknown"
    finally:
        os.close(descriptor)
    return "free"


def _changes(folder: Path) -> list[float]:
    """Return when things in a folder were changed, of so many at most."""
    found = []
    paths = (Path(top, name) for top, folders, files in os.walk(folder) for name in (*folders, *files))
    for path in islice(paths, _MOST_FILES):
        with suppress(FileNotFoundError):  # moved beside the files of the other ranks
            found.append(path.lstat().st_mtime)
    return found


def _in_bucket(aws: Aws, checkpoints: str, dead_before: float) -> tuple[list[SaveUnderWay], int, str | None]:
    bucket, _, rest = checkpoints.removeprefix("s3://").partition("/")
    prefix = rest.strip("/")
    if not bucket or not prefix:
        raise OperationError("unsuitable", "checkpoints have a bucket and a prefix of their own")
    listed = [
        str(row["Prefix"]).removeprefix(f"{prefix}/files/")
        for row in aws.pages(
            "s3", "ListObjectsV2", "CommonPrefixes", Bucket=bucket, Prefix=f"{prefix}/files/", Delimiter="/"
        )
    ]
    uploads, partly = _uploads(aws, bucket, f"{prefix}/files/")
    traces: dict[str, list[float]] = {name.rstrip("/"): [] for name in (*listed, *uploads)}
    for name, times in uploads.items():
        traces[name] += times
    complete = {
        int(match[1])
        for row in aws.pages("s3", "ListObjectsV2", "Contents", Bucket=bucket, Prefix=f"{prefix}/complete/")
        if (match := _COMPLETE.fullmatch(str(row["Key"]).rpartition("/")[2])) is not None
    }
    found: list[SaveUnderWay] = []
    left = 0
    for name, times in traces.items():
        match = _ATTEMPT.fullmatch(name)
        if match is None or int(match[1]) in complete:
            continue
        times += [
            row["LastModified"].timestamp()
            for row in aws.pages(
                "s3", "ListObjectsV2", "Contents", Bucket=bucket, Prefix=f"{prefix}/files/{name}/"
            )
        ]
        if not times:
            continue
        if max(times) < dead_before:
            left += 1
            continue
        found.append(
            SaveUnderWay(
                step=int(match[1]), attempt=match[2], begun=min(times), certain=False,
                told_by="S3 has no locks: something was uploaded lately, and it is not complete",
            )
        )  # fmt: skip
    return found, left, partly


def _uploads(aws: Aws, bucket: str, prefix: str) -> tuple[dict[str, list[float]], str | None]:
    """Return when uploads in parts began that have not ended, by attempt: their objects are not there yet."""
    found: dict[str, list[float]] = {}
    try:
        for row in aws.pages("s3", "ListMultipartUploads", "Uploads", Bucket=bucket, Prefix=prefix):
            name = str(row["Key"]).removeprefix(prefix).partition("/")[0]
            found.setdefault(name, []).append(row["Initiated"].timestamp())
    except OperationError as error:
        if error.why != "denied":
            raise
        return {}, "uploads of large files are seen only with s3:ListBucketMultipartUploads"
    return found, None
