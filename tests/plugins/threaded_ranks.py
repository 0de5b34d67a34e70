"""Ranks of a job as threads of this process: a stand-in for the processes that torch.distributed connects."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 60


class ThreadedRank:
    """One rank; values travel as JSON, as a coordinator may send them."""

    def __init__(self, rank: int, shared: _Shared) -> None:
        self.rank = rank
        self.world_size = shared.barrier.parties
        self._shared = shared

    def barrier(self) -> None:
        self._shared.barrier.wait(PATIENCE_SECONDS)

    def gather(self, value: Any) -> list[Any] | None:
        self._shared.values[self.rank] = json.dumps(value)
        self.barrier()
        gathered = [json.loads(text) for text in self._shared.values] if self.rank == 0 else None
        self.barrier()
        return gathered

    def broadcast(self, value: Any) -> Any:
        if self.rank == 0:
            self._shared.values[0] = json.dumps(value)
        self.barrier()
        value = json.loads(copy.copy(self._shared.values[0]))
        self.barrier()
        return value


class _Shared:
    def __init__(self, world_size: int) -> None:
        self.barrier = threading.Barrier(world_size)
        self.values = [""] * world_size


def on_ranks(world_size: int, work: Callable[[ThreadedRank], T]) -> list[T | Exception]:
    """Run something as each rank at the same time; what a rank raises stands in the place of its result."""
    shared = _Shared(world_size)

    def one(rank: int) -> T | Exception:
        try:
            return work(ThreadedRank(rank, shared))
        except Exception as error:
            return error

    with ThreadPoolExecutor(world_size) as pool:
        return list(pool.map(one, range(world_size)))
