"""Where checkpoints are kept: what a place must be able to do."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import BinaryIO, NamedTuple

from hyperpod_lifecycle.training.private_folders import PrivateFolder

STEP_NAME = re.compile(r"step-([0-9]{12})")


def step_name(step: int) -> str:
    """Name of a complete checkpoint: sorts as the steps do."""
    return f"step-{step:012d}"


class Attempt(NamedTuple):
    """One try to save one step. Two of them never share a place, whatever job or process they belong to.

    Attributes:
        step: Training step.
        id: 32 random hexadecimal digits.
    """

    step: int
    id: str


class Stale(NamedTuple):
    """What an interrupted save left, and whether it was cleaned up.

    Attributes:
        step: Training step.
        removed: Whether it is gone.
        message: Why it was removed or kept.
    """

    step: int
    removed: bool
    message: str


class CheckpointStore(ABC):
    """A place for checkpoints of one run.

    A save goes through ``begin`` on rank 0, ``join`` and ``place`` on every rank, and ``publish`` on rank 0.
    Nothing a reader can find changes before ``publish``, and all of it in one atomic step there.
    """

    @property
    @abstractmethod
    def location(self) -> str:
        """The place in words that users know: an absolute path or a URI."""

    @abstractmethod
    def begin(self, attempt: Attempt) -> None:
        """Make room for an attempt, and claim it as alive. Rank 0."""

    @abstractmethod
    def join(self, attempt: Attempt, rank: int) -> PrivateFolder:
        """Make and return the folder that this rank, and no other, puts its files in."""

    @abstractmethod
    def place(self, attempt: Attempt, rank: int, names: Iterable[str]) -> None:
        """Bring this rank's files to durable storage, where the manifest will find them."""

    @abstractmethod
    def publish(self, attempt: Attempt, signed: bytes, *, replacing: bytes | None, replace: bool) -> bool:
        """Make the attempt the complete checkpoint of its step, in one atomic step. Rank 0.

        Args:
            attempt: Whose files are all placed.
            signed: The manifest file.
            replacing: Of ``replace``: the manifest of what is to be set aside; None where it has none.
            replace: Whether what is at the step now is set aside first. Off, the first to publish wins.

        Returns:
            Whether it is; False if something else is there.
        """

    @abstractmethod
    def discard(self, attempt: Attempt, rank: int) -> None:
        """Remove what this rank put for an attempt; on rank 0 all of it. Harmless if nothing is there."""

    @abstractmethod
    def steps(self) -> list[int]:
        """Steps that something is saved for, in any order; empty where the location does not exist."""

    @abstractmethod
    def signed_manifest(self, step: int) -> bytes | None:
        """Bytes of the manifest file; None if there is none.

        Raises:
            RefusedCheckpointError: If it is no plain file, too large or unreadable.
        """

    @abstractmethod
    def sizes(self, attempt: Attempt, names: Iterable[str]) -> Mapping[str, int]:
        """Bytes of those files that are there.

        Raises:
            RefusedCheckpointError: If one is no plain file.
        """

    @abstractmethod
    def open_unverified(self, attempt: Attempt, name: str) -> BinaryIO:
        """Open a file for reading. Its bytes must not be used before they are verified.

        Raises:
            RefusedCheckpointError: If it is missing or no plain file.
        """

    @abstractmethod
    def reading(self, step: int) -> AbstractContextManager[None]:
        """Keep a checkpoint from being removed meanwhile, as far as the place can.

        Raises:
            CheckpointGoneError: If it is not there any more.
        """

    @abstractmethod
    def remove(self, attempt: Attempt) -> str | None:
        """Remove a complete checkpoint so that no reader ever finds part of it.

        Returns:
            Why it was kept; None if it is gone.
        """

    @abstractmethod
    def remove_stale(self, *, before: int | None) -> list[Stale]:
        """Remove what interrupted saves left, of dead attempts only.

        Args:
            before: Oldest step that is kept; None if nothing is complete. Attempts at earlier steps can not
                become a checkpoint that is kept.
        """
