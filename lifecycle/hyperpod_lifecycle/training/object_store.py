"""Checkpoints as objects: no rename, so the manifest is what is written last.

    <prefix>/complete/step-<step>                  manifest of a complete checkpoint
    <prefix>/files/step-<step>-<attempt>/<name>    its files, and those of saves that did not end
    <prefix>/refused/step-<step>-<attempt>         manifests that a new save of the step took the place of

Each attempt has a prefix of its own, so that no two savers ever write the same object except the manifest,
which is written only where there is none.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hyperpod_lifecycle.training.checkpoint_errors import (
    CheckpointGoneError,
    RefusedCheckpointError,
    SaveError,
)
from hyperpod_lifecycle.training.checkpoint_store import (
    STEP_NAME,
    Attempt,
    CheckpointStore,
    Stale,
    step_name,
)
from hyperpod_lifecycle.training.manifest import LARGEST_MANIFEST_BYTES, parse_verified
from hyperpod_lifecycle.training.private_folders import PrivateFolder
from hyperpod_lifecycle.training.staging_folders import StagingFolder

_ATTEMPT_NAME = re.compile(r"step-([0-9]{12})-([0-9a-f]{32})")
_UPLOAD_THREADS = 4


class Objects(ABC):
    """What an object store can do, by keys that begin below its prefix."""

    @property
    @abstractmethod
    def location(self) -> str:
        """URI of the prefix, without a slash at its end."""

    @abstractmethod
    def folders(self, prefix: str) -> Iterable[str]:
        """Names right below a prefix that others begin with; empty where nothing is."""

    @abstractmethod
    def sizes(self, prefix: str) -> Iterable[tuple[str, int]]:
        """The rest of the keys of all objects below a prefix, and their bytes.

        Anybody who can write there may have put any number: go through them, and hold none that nobody asked
        for.
        """

    @abstractmethod
    def get(self, key: str, *, at_most: int) -> bytes | None:
        """The first bytes of an object; None if there is none."""

    @abstractmethod
    def open(self, key: str) -> BinaryIO | None:
        """Open an object for reading; None if there is none."""

    @abstractmethod
    def put_new(self, key: str, content: bytes) -> bool:
        """Write an object where there is none, whole or not at all; False if there is one."""

    @abstractmethod
    def put_over(self, key: str, content: bytes, *, expected: bytes) -> bool:
        """Write an object in the place of one with the expected bytes; False if it is another."""

    @abstractmethod
    def upload(self, key: str, path: Path) -> None:
        """Write a file's bytes."""

    @abstractmethod
    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; harmless where there are none."""


class ObjectStore(CheckpointStore):
    """Checkpoints of a run in an object store.

    Args:
        objects: The store, from the run's prefix on.
        staging: Folder on the node where a rank's files wait for their upload: as large as what a rank saves.
            By default that of ``tempfile``.
    """

    def __init__(self, objects: Objects, *, staging: str | os.PathLike[str] | None = None) -> None:
        self._objects = objects
        self._staging = None if staging is None else Path(staging)
        self._staged: dict[str, StagingFolder] = {}

    @property
    def location(self) -> str:
        """URI of the run's prefix."""
        return self._objects.location

    def begin(self, attempt: Attempt) -> None:
        """Do nothing: an attempt's prefix is there with its first object."""

    def join(self, attempt: Attempt, rank: int) -> PrivateFolder:
        """Make a folder on this node."""
        staged = StagingFolder(self._staging)
        self._staged[attempt.id] = staged
        return staged.private

    def place(self, attempt: Attempt, rank: int, names: Iterable[str]) -> None:
        """Upload this rank's files below the attempt's prefix."""
        staged = self._staged.pop(attempt.id)
        try:
            with ThreadPoolExecutor(_UPLOAD_THREADS) as pool:
                list(
                    pool.map(
                        lambda name: self._objects.upload(_file_key(attempt, name), staged.path / name), names
                    )
                )
        finally:
            staged.remove()

    def publish(self, attempt: Attempt, signed: bytes, *, replacing: bytes | None, replace: bool) -> bool:
        """Write the manifest, on the condition that there is none, or still the one to replace."""
        files = parse_verified(signed).files
        sizes = self.sizes(attempt, [file.name for file in files])
        for file in files:
            if sizes.get(file.name) != file.size:
                raise SaveError(
                    f"{file.name!r} was uploaded with {file.size} bytes, and {self.location} has "
                    f"{sizes.get(file.name, 'nothing')}: another job of the run is further, and removed it, "
                    "or somebody deletes objects"
                )
        key = _manifest_key(attempt.step)
        if not replace:
            return self._objects.put_new(key, signed)
        if replacing is None:
            # Nothing, or more than a manifest can be: no evidence of anything, and too large to compare.
            self._objects.delete([key])
            return self._objects.put_new(key, signed)
        self._objects.put_new(f"refused/{step_name(attempt.step)}-{attempt.id}", replacing)
        return self._objects.put_over(key, signed, expected=replacing)

    def discard(self, attempt: Attempt, rank: int) -> None:
        """Remove this node's files; on rank 0 also the attempt's objects, unless it is complete.

        A save can fail after its manifest was put: the answer is lost, or a rank dies before it is told.
        """
        staged = self._staged.pop(attempt.id, None)
        if staged is not None:
            staged.remove()
        if rank == 0 and not self._is_complete(attempt):
            self._delete_files(attempt)

    def steps(self) -> list[int]:
        """Steps that have a manifest, or anything in its place."""
        matches = (STEP_NAME.fullmatch(name) for name, _ in self._objects.sizes("complete/"))
        return [int(match[1]) for match in matches if match]

    def signed_manifest(self, step: int) -> bytes | None:
        """Read the manifest object."""
        signed = self._objects.get(_manifest_key(step), at_most=LARGEST_MANIFEST_BYTES + 1)
        if signed is not None and len(signed) > LARGEST_MANIFEST_BYTES:
            raise RefusedCheckpointError(
                "too_large", f"its manifest has more than {LARGEST_MANIFEST_BYTES} bytes"
            )
        return signed

    def sizes(self, attempt: Attempt, names: Iterable[str]) -> Mapping[str, int]:
        """List the attempt's objects."""
        wanted = set(names)
        return {name: size for name, size in self._objects.sizes(_files_prefix(attempt)) if name in wanted}

    def open_unverified(self, attempt: Attempt, name: str) -> BinaryIO:
        """Open the object of a file."""
        stream = self._objects.open(_file_key(attempt, name))
        if stream is None:
            raise RefusedCheckpointError("missing_file", f"{name!r} is missing")
        return stream

    @contextmanager
    def reading(self, step: int) -> Iterator[None]:
        """Make sure that the checkpoint is still there.

        Objects have no locks. A reader of one that another process removes meanwhile gets an error, never
        part of it.
        """
        if self._objects.get(_manifest_key(step), at_most=1) is None:
            raise CheckpointGoneError(f"the checkpoint of step {step} was removed from {self.location}")
        yield

    def remove(self, attempt: Attempt) -> str | None:
        """Delete the manifest first, so that no reader finds the checkpoint any more, and then the files."""
        signed = self.signed_manifest(attempt.step)
        if signed is None or parse_verified(signed).attempt != attempt.id:
            return "it was replaced meanwhile"
        self._objects.delete([_manifest_key(attempt.step)])
        self._delete_files(attempt)
        return None

    def remove_stale(self, *, before: int | None) -> list[Stale]:
        """Delete files of attempts at steps so old that they can not become a checkpoint that is kept.

        Nobody can tell a live upload from a dead one without a clock, so newer ones are left until training
        went past them. An upload that is alive all the same finds its files gone when it publishes, and
        fails.
        """
        if before is None:
            return []
        matches = (_ATTEMPT_NAME.fullmatch(name) for name in self._objects.folders("files/"))
        attempts = [Attempt(int(match[1]), match[2]) for match in matches if match]
        old = [attempt for attempt in attempts if attempt.step < before]
        if not old:
            return []
        # What still has a manifest is being loaded or refused, and what was set aside is evidence.
        spared = set(self.steps())
        for name, _ in self._objects.sizes("refused/"):
            match = _ATTEMPT_NAME.fullmatch(name)
            spared.update({int(match[1])} if match else ())
        found = []
        for attempt in old:
            if attempt.step not in spared and self._delete_files(attempt):
                found.append(Stale(attempt.step, True, "removed files of a save that did not end"))
        return found

    def _is_complete(self, attempt: Attempt) -> bool:
        try:
            signed = self.signed_manifest(attempt.step)
            return signed is not None and parse_verified(signed).attempt == attempt.id
        except RefusedCheckpointError:
            # What is no manifest is not the one that this attempt wrote.
            return False

    def _delete_files(self, attempt: Attempt) -> bool:
        some = False

        def keys() -> Iterator[str]:
            nonlocal some
            for name, _ in self._objects.sizes(_files_prefix(attempt)):
                some = True
                yield _file_key(attempt, name)

        self._objects.delete(keys())
        return some


def _manifest_key(step: int) -> str:
    return f"complete/{step_name(step)}"


def _files_prefix(attempt: Attempt) -> str:
    return f"files/{step_name(attempt.step)}-{attempt.id}/"


def _file_key(attempt: Attempt, name: str) -> str:
    return f"{_files_prefix(attempt)}{name}"
