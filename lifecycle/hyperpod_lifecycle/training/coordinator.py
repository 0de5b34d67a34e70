"""How the ranks of a job agree while they save and load together."""

from __future__ import annotations

from typing import Any, Protocol


class Coordinator(Protocol):
    """What checkpoints ask of a job's processes.

    Values are JSON: text, whole numbers, floats, booleans, None, lists and dicts with text as keys. Nothing
    needs pickle to move them.

    Attributes:
        rank: Number of this process, from 0.
        world_size: Number of processes.
    """

    rank: int
    world_size: int

    def barrier(self) -> None:
        """Wait until every rank is here."""

    def gather(self, value: Any) -> list[Any] | None:
        """Bring every rank's value to rank 0, in the order of ranks; None on the others."""

    def broadcast(self, value: Any) -> Any:
        """Give every rank the value of rank 0."""


class SingleProcess:
    """A job of one process, which agrees with itself."""

    rank = 0
    world_size = 1

    def barrier(self) -> None:
        """Wait for nobody."""

    def gather(self, value: Any) -> list[Any] | None:
        """Return the only value."""
        return [value]

    def broadcast(self, value: Any) -> Any:
        """Return the value."""
        return value
