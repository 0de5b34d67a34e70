"""Reading a checkpoint: only bytes whose digest the signed manifest states."""

from __future__ import annotations

import errno
import hmac
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError, RefusedCheckpointError
from hyperpod_lifecycle.training.checkpoint_store import Attempt, CheckpointStore
from hyperpod_lifecycle.training.file_digests import Digest, digest_of
from hyperpod_lifecycle.training.manifest import Manifest, SavedFile

_LARGEST_IN_MEMORY_BYTES = 16 * 1024 * 1024
# What a client of Lustre or NFS says until it is connected again, and a broken disk for good.
_MAY_PASS = {errno.EIO, errno.ESTALE, errno.ESHUTDOWN, errno.ENOTCONN, errno.ETIMEDOUT}
_PAUSES_SECONDS = (1.0, 5.0)


class VerifiedCheckpoint:
    """A checkpoint whose files are copied while they are hashed, so that what was verified is what is read.

    The place it came from may change at any time; the copies are this process's own. Each file costs one read
    of the store and, above 16 MiB, one copy in the scratch folder until the checkpoint is left; smaller ones
    that are only opened are held in memory while they are open. A rank pays for the files it reads, no
    others.
    """

    def __init__(self, store: CheckpointStore, manifest: Manifest, *, scratch: Path, threads: int) -> None:
        self._store = store
        self._manifest = manifest
        self._files = {file.name: file for file in manifest.files}
        self._scratch = scratch
        self._threads = threads
        self._copied: set[str] = set()
        # Readers with threads may ask for a file at the same time.
        self._locks = {name: threading.Lock() for name in self._files}

    @property
    def step(self) -> int:
        """Training step."""
        return self._manifest.step

    @property
    def world_size(self) -> int:
        """Number of ranks that saved."""
        return self._manifest.world_size

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the job gave when it saved."""
        return self._manifest.metadata

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all files, sorted."""
        return tuple(self._files)

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading, after all of it was verified.

        Raises:
            KeyError: If the checkpoint has no such file, whatever lies at its place.
            RefusedCheckpointError: If its bytes are not those that were saved.
        """
        file = self._known(name)
        if name not in self._copied and file.size <= _LARGEST_IN_MEMORY_BYTES:
            content = BytesIO()
            self._copy(file, content)
            content.seek(0)
            return content
        return self.path(name).open("rb")

    def path(self, name: str) -> Path:
        """Return the path of a verified copy of a file, for readers that want one; made once.

        Raises:
            KeyError: If the checkpoint has no such file.
            RefusedCheckpointError: If its bytes are not those that were saved.
            CheckpointError: If the scratch folder has no room for it.
        """
        file = self._known(name)
        path = self._scratch / name
        with self._locks[name]:
            if name not in self._copied:
                self._copy_to(path, file)
                self._copied.add(name)
        return path

    def directory(self, names: Iterable[str] | None = None) -> Path:
        """Return a folder of verified copies, laid out as saved, that is there until the checkpoint is left.

        Args:
            names: Which files. By default all, which costs every rank the whole checkpoint: name what it
                reads.

        Raises:
            KeyError: If the checkpoint has no such file.
            RefusedCheckpointError: If the bytes of one are not those that were saved.
            CheckpointError: If the scratch folder has no room.
        """
        wanted = self.names if names is None else tuple(dict.fromkeys(names))
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(self.path, wanted))
        return self._scratch

    def _known(self, name: str) -> SavedFile:
        try:
            return self._files[name]
        except KeyError:
            raise KeyError(
                f"the checkpoint of step {self.step} has no file {name!r}; its manifest lists "
                f"{len(self._files)}"
            ) from None

    def _copy_to(self, path: Path, file: SavedFile) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("xb") as stream:
                self._copy(file, stream)
        except BaseException as error:
            path.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise CheckpointError(
                    f"no room for the verified copy of {file.name!r} ({file.size} bytes) in {self._scratch}; "
                    "give Checkpoints(scratch=...) a folder on a larger disk"
                ) from error
            raise

    def _copy(self, file: SavedFile, target: BinaryIO) -> None:
        check_file(self._store, attempt_of(self._manifest), file, copy_to=target)


def attempt_of(manifest: Manifest) -> Attempt:
    """Return the attempt that a manifest is of."""
    return Attempt(manifest.step, manifest.attempt)


def check_file(
    store: CheckpointStore, attempt: Attempt, file: SavedFile, *, copy_to: BinaryIO | None = None
) -> None:
    """Read a file to its end and compare it with the manifest.

    Raises:
        RefusedCheckpointError: If it differs, or cannot be read, not even a few seconds later. What
            ``copy_to`` got must then be thrown away.
    """
    got = _digest_of(store, attempt, file, copy_to)
    if got.size != file.size:
        more = "more than " if got.size > file.size else ""
        raise RefusedCheckpointError(
            "size", f"{file.name!r} has {more}{min(got.size, file.size)} bytes, and {file.size} were saved"
        )
    if not hmac.compare_digest(got.sha256, file.sha256):
        raise RefusedCheckpointError("digest", f"the bytes of {file.name!r} are not those that were saved")


def _digest_of(store: CheckpointStore, attempt: Attempt, file: SavedFile, copy_to: BinaryIO | None) -> Digest:
    pauses = iter(_PAUSES_SECONDS)
    while True:
        try:
            with store.open_unverified(attempt, file.name) as stream, _reads(file.name):
                return digest_of(stream, copy_to=copy_to, at_most=file.size)
        except RefusedCheckpointError as refused:
            cause = refused.__cause__
            pause = next(pauses, None)
            if pause is None or not isinstance(cause, OSError) or cause.errno not in _MAY_PASS:
                raise
        # Refused, a checkpoint costs the steps since the one before: this may cost seconds alone.
        time.sleep(pause)
        if copy_to is not None:
            copy_to.seek(0)
            copy_to.truncate()


@contextmanager
def _reads(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # A full scratch folder is no fault of the checkpoint.
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        words = error.strerror if error.errno is None else os.strerror(error.errno)
        raise RefusedCheckpointError("unreadable", f"{name!r} cannot be read: {words}") from error
