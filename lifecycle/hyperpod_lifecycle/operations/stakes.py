"""What a running job would lose if its nodes went away now, as far as it can be known from outside."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.errors import OperationError, in_words
from hyperpod_lifecycle.operations.saves_under_way import Saves, saves_at
from hyperpod_lifecycle.operations.spans import span

_NEWEST_FILES: Final = 3
_DURABLE: Final = frozenset({"disk", "s3"})
RUNNING_SECONDS: Final = 600.0
"""A job that wrote its last sign of life longer ago than this is taken to have stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtStake:
    """What would be lost.

    Attributes:
        job: Name of the job, where known.
        last_step: Last step that is known to be done; None if unknown.
        silent_seconds: Since its last sign of life; None if there was none.
        saved_step: Step of the newest durable checkpoint, after which training goes on; None if unknown or
            there is none.
        steps: Steps since then; None if unknown.
        step_seconds: Median seconds of a step; None if unknown.
        unknown: Why something is unknown; None if all is known.
        saves: Which saves are under way; None if nobody said where the checkpoints are.
    """

    job: str | None = None
    last_step: int | None = None
    silent_seconds: float | None = None
    saved_step: int | None = None
    steps: int | None = None
    step_seconds: float | None = None
    unknown: str | None = None
    saves: Saves | None = None

    @property
    def seconds(self) -> float | None:
        """How long it takes to compute the lost steps again; None if unknown."""
        if self.steps is None or self.step_seconds is None:
            return None
        return self.steps * self.step_seconds

    @property
    def running(self) -> bool:
        """Whether there was a sign of life lately."""
        return self.silent_seconds is not None and self.silent_seconds <= RUNNING_SECONDS

    @property
    def words(self) -> str:
        """All of it in one sentence."""
        if self.last_step is None:
            return f"what a job would lose is not known: {self.unknown}"
        ago = "" if self.silent_seconds is None else f" and said so {span(self.silent_seconds)} ago"
        stopped = "" if self.running else " (it does not seem to run)"
        did = (
            f"{'the job' if self.job is None else f'job {self.job}'} did step {self.last_step}{ago}{stopped}"
        )
        if self.steps is None:
            return f"{did}; how many steps it would lose is not known: {self.unknown}"
        lasts = "" if self.seconds is None else f", about {span(self.seconds)} of training"
        if self.saved_step is None:
            return f"{did}; it has no durable checkpoint: all {self.steps} steps would be lost{lasts}"
        return (
            f"{did}; its newest durable checkpoint is of step {self.saved_step}: {self.steps} steps would be "
            f"lost{lasts}"
        )


def at_stake(
    aws: Aws, *, records: str | None = None, checkpoints: str | None = None, now: float | None = None
) -> AtStake | None:
    """Say what a job would lose now.

    Args:
        aws: Clients, for records and checkpoints in a bucket.
        records: Folder or ``s3://`` URI of the records of the resume library. Default: ``recovery`` beside
            the checkpoints.
        checkpoints: Folder or URI of the job's checkpoints. They are listed, not verified. Default: the
            records say which were saved.
        now: Seconds since 1970. Default: this moment.

    Returns:
        What is known; None if neither place is given.

    Raises:
        OperationError: If a place is none.
    """
    if records is None and checkpoints is None:
        return None
    told: list[Mapping[str, Any]] = []
    beat: Mapping[str, Any] | None = None
    place = records if records is not None else f"{str(checkpoints).rstrip('/')}/recovery"
    with local_records(aws, place) as folder:
        told = read_all(folder)
        beat = heartbeat(folder)
    now = time.time() if now is None else now
    saved: int | None = None
    unknown: str | None = None
    saves: Saves | None = None
    if checkpoints is not None:
        saves = saves_at(aws, checkpoints, records=told, now=now)
        saved, unknown = _newest_checkpoint(aws, checkpoints)
    else:
        saved = max((one["step"] for one in _saves(told, set(_DURABLE))), default=None)
    if beat is None:
        return AtStake(saved_step=saved, unknown=f"no job left a sign of life in {place}", saves=saves)
    last = int(beat["step"])
    return AtStake(
        job=str(told[-1]["job"]) if told else None,
        last_step=last,
        silent_seconds=max(0.0, now - float(beat["time"])),
        saved_step=saved,
        steps=_lost(last, saved, unknown),
        step_seconds=step_seconds(told),
        unknown=unknown,
        saves=saves,
    )


@contextmanager
def local_records(aws: Aws, place: str) -> Iterator[Path]:
    """Yield a folder with the newest records of a place: itself, or a copy of what is in a bucket.

    Args:
        aws: Clients.
        place: Folder or ``s3://`` URI.

    Raises:
        OperationError: If it is neither, or cannot be read.
    """
    if not place.startswith("s3://"):
        if "://" in place:
            raise OperationError("unsuitable", f"records are in a folder or at s3://, got '{place}'")
        yield Path(place)
        return
    from hyperpod_lifecycle.training.recovery_records import HEARTBEAT_NAME

    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    start = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    rows = aws.pages("s3", "ListObjectsV2", "Contents", Bucket=bucket, Prefix=start)
    names = sorted(row["Key"].removeprefix(start) for row in rows)
    wanted = [name for name in names if name.endswith(".jsonl") and "/" not in name][-_NEWEST_FILES:]
    with tempfile.TemporaryDirectory(prefix="hyperpod-records-") as made:
        for name in [*wanted, *(name for name in names if name == HEARTBEAT_NAME)]:
            answer = aws.call("s3", "GetObject", Bucket=bucket, Key=f"{start}{name}")
            with in_words(region=aws.region, action="s3:GetObject"):
                (Path(made) / name).write_bytes(answer["Body"].read())
        yield Path(made)


def read_all(folder: Path) -> list[Mapping[str, Any]]:
    """Return all records of a folder, in the order in which their starts began.

    Raises:
        OperationError: If one is none.
    """
    from hyperpod_lifecycle.training.recovery_records import read_records

    try:
        return list(read_records(folder))
    except (OSError, ValueError) as error:
        raise OperationError("unsuitable", f"the records cannot be read: {error}") from error


def heartbeat(folder: Path) -> Mapping[str, Any] | None:
    """Return the last sign of life of a job: ``step`` and ``time``; None if there is none.

    Raises:
        OperationError: If it cannot be read.
    """
    from hyperpod_lifecycle.training.recovery_records import HEARTBEAT_NAME

    try:
        told = json.loads((folder / HEARTBEAT_NAME).read_bytes())
        # Whoever can write the folder can write anything into it.
        return {"step": int(told["step"]), "time": float(told["time"])}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise OperationError(
            "unsuitable", f"the sign of life of the job cannot be read: {HEARTBEAT_NAME}: {error!r}"
        ) from error


def step_seconds(records: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the median seconds of a step of the newest start that tells; None if none does.

    Args:
        records: In the order of the starts.
    """
    by_start: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        if record["kind"] == "progress":
            by_start.setdefault(record["attempt"], []).append(record)
    for progress in reversed(by_start.values()):
        rates = [
            (after["seconds"] - before["seconds"]) / (after["next_step"] - before["next_step"])
            for before, after in pairwise(progress)
            if after["next_step"] > before["next_step"]
        ]
        if rates:
            return float(median(rates))
    return None


def _lost(last: int, saved: int | None, unknown: str | None) -> int | None:
    if saved is not None:
        return max(0, last - saved)
    return None if unknown is not None else last + 1


def _saves(records: Sequence[Mapping[str, Any]], tiers: set[str]) -> list[Mapping[str, Any]]:
    return [one for one in records if one["kind"] == "save" and tiers & set(one["tiers"])]


def _newest_checkpoint(aws: Aws, place: str) -> tuple[int | None, str | None]:
    from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError
    from hyperpod_lifecycle.training.s3_store import S3Store
    from hyperpod_lifecycle.training.store_locations import store_at

    try:
        if place.startswith("s3://"):
            bucket, _, prefix = place.removeprefix("s3://").partition("/")
            steps = S3Store(bucket, prefix, client=aws.client("s3")).steps()
        else:
            steps = store_at(place).steps()
    except (CheckpointError, OSError, ValueError) as error:
        return None, f"the checkpoints at {place} cannot be listed: {error}"
    return max(steps, default=None), None
