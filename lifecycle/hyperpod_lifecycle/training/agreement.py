"""Steps that all ranks take, or none: a rank that fails does not leave the others waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hyperpod_lifecycle.training.checkpoint_errors import (
    CheckpointError,
    CheckpointGoneError,
    NothingVerifiesError,
    SaveError,
    SigningKeyError,
)
from hyperpod_lifecycle.training.coordinator import Coordinator

T = TypeVar("T")

_MOST_FAILURES_TOLD = 5
_SENT = {
    kind.__name__: kind
    for kind in (CheckpointError, CheckpointGoneError, NothingVerifiesError, SaveError, SigningKeyError)
}


def on_rank_zero(coordinator: Coordinator, work: Callable[[], T]) -> T:
    """Do something on rank 0, and return its result, which is JSON, on every rank.

    Raises:
        CheckpointError: On every rank, if it failed; on rank 0 whatever it raised.
    """
    if coordinator.rank != 0:
        answer = coordinator.broadcast(None)
        if "failure" in answer:
            raise _SENT.get(answer["kind"], CheckpointError)(f"rank 0: {answer['failure']}")
        result: T = answer["result"]
        return result
    try:
        result = work()
    except Exception as error:
        coordinator.broadcast({"failure": _words(error), "kind": type(error).__name__})
        raise
    coordinator.broadcast({"result": result})
    return result


def on_every_rank(
    coordinator: Coordinator, work: Callable[[], Any], *, failure: type[CheckpointError] = SaveError
) -> list[Any] | None:
    """Do something on every rank, and return the results, which are JSON, on rank 0.

    Raises:
        CheckpointError: Of the kind ``failure``, on every rank, if it failed on any; on a rank where it
            failed, whatever it raised.
    """
    own: Exception | None = None
    result = None
    try:
        result = work()
    except Exception as error:
        own = error
    gathered = coordinator.gather({"result": result, "failure": None if own is None else _words(own)})
    failures = None
    if gathered is not None:
        failures = [
            f"rank {rank}: {said['failure']}" for rank, said in enumerate(gathered) if said["failure"]
        ]
    failures = coordinator.broadcast(failures)
    if own is not None:
        raise own
    if failures:
        more = len(failures) - _MOST_FAILURES_TOLD
        told = "; ".join(failures[:_MOST_FAILURES_TOLD])
        raise failure(f"{told}; and {more} more" if more > 0 else told)
    return None if gathered is None else [said["result"] for said in gathered]


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, CheckpointError) else f"{type(error).__name__}: {error}"
