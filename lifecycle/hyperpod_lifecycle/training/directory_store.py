"""Checkpoints in a directory that all nodes share: FSx for Lustre, FSx for OpenZFS, or a disk."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hyperpod_lifecycle.training.checkpoint_errors import (
    CheckpointError,
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
from hyperpod_lifecycle.training.file_locks import dead_lock_file, is_same_file, lock, new_lock_file
from hyperpod_lifecycle.training.manifest import LARGEST_MANIFEST_BYTES, MANIFEST_NAME
from hyperpod_lifecycle.training.plain_files import (
    open_plain,
    opened_folder,
    size_of_plain,
    sync_file,
    sync_folders,
)
from hyperpod_lifecycle.training.private_folders import PrivateFolder

_SAVING = re.compile(r"\.saving-([0-9]{12})-([0-9a-f]{32})")
_REMOVING = re.compile(r"\.removing-([0-9]{12})-[0-9a-f]{32}")
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}
_NO_FOLDER = {errno.ELOOP, errno.ENOTDIR, errno.ENOENT}
_VISIBLE_SECONDS = 10.0
_LOCK_SECONDS = 60.0
_SYNC_THREADS = 4


class DirectoryStore(CheckpointStore):
    """A directory on a POSIX file system.

    A save lives in ``.saving-<step>-<attempt>`` until all of it is on storage, and becomes ``step-<step>`` by
    a rename, which replaces nothing: the first to publish a step wins. Removal renames first as well. Locks
    that end with their process tell a live save or load from a dead one.

    Args:
        path: The directory; made at the first save, with its parents.
        locks: Whether the file system has ``flock``. On by default; Lustre needs the mount option ``flock``.
            Off, retention can remove what another process is loading (which then fails, and is never loaded
            in part), and what interrupted saves leave has to be removed by hand.
    """

    def __init__(self, path: str | os.PathLike[str], *, locks: bool = True) -> None:
        self._root = Path(os.path.abspath(path))
        self._locks = locks
        self._held: dict[str, int] = {}

    @property
    def location(self) -> str:
        """Absolute path of the directory."""
        return str(self._root)

    def begin(self, attempt: Attempt) -> None:
        """Make the attempt's folder and hold its lock until it is published or discarded."""
        _make_folders(self._root)
        folder = self._folder(attempt)
        if self._locks:
            self._held[attempt.id] = new_lock_file(_lock_of(folder))
        try:
            folder.mkdir()
        except OSError:
            self._let_go(attempt)
            raise

    def join(self, attempt: Attempt, rank: int) -> PrivateFolder:
        """Make this rank's own folder within the attempt's."""
        folder = self._folder(attempt) / _rank_name(rank)
        end = time.monotonic() + _VISIBLE_SECONDS
        while True:
            try:
                return PrivateFolder(folder)
            except FileNotFoundError as error:
                # NFS clients may remember for a while that a folder was not there.
                if time.monotonic() > end:
                    raise SaveError(
                        f"{folder.parent}, which rank 0 made, is not there for rank {rank}; checkpoints need "
                        "a directory that all nodes share"
                    ) from error
                time.sleep(0.1)

    def place(self, attempt: Attempt, rank: int, names: Iterable[str]) -> None:
        """Have this rank's files on storage, and move them beside those of the others."""
        folder = self._folder(attempt)
        own = folder / _rank_name(rank)
        names = list(names)
        with ThreadPoolExecutor(_SYNC_THREADS) as pool:
            list(pool.map(sync_file, [own / name for name in names]))
        with self._opened(attempt) as whole:
            for parent, below in _by_parent(names).items():
                with (
                    opened_folder(whole, f"{own.name}/{parent}".rstrip("/")) as source,
                    opened_folder(whole, parent, make=True) as target,
                ):
                    for name in below:
                        os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
            shutil.rmtree(own.name, dir_fd=whole)
        sync_folders(folder, names)

    def publish(self, attempt: Attempt, signed: bytes, *, replacing: bytes | None, replace: bool) -> bool:
        """Write the manifest and rename the folder."""
        folder, final = self._folder(attempt), self._root / step_name(attempt.step)
        with self._opened(attempt) as whole:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(MANIFEST_NAME, dir_fd=whole)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(MANIFEST_NAME, flags, 0o644, dir_fd=whole), "wb") as stream:
                stream.write(signed)
                stream.flush()
                os.fsync(stream.fileno())
            os.fsync(whole)
        if replace and not self._set_aside(attempt, replacing):
            return False
        try:
            folder.rename(final)
        except OSError as error:
            if error.errno in _TAKEN:
                return False
            raise
        sync_folders(self._root, [])
        self._let_go(attempt)
        return True

    def discard(self, attempt: Attempt, rank: int) -> None:
        """Remove this rank's folder; on rank 0 the attempt's."""
        folder = self._folder(attempt)
        if rank != 0:
            # Somebody else may have removed it, or put a link there: then nothing of it is this rank's.
            with contextlib.suppress(SaveError), self._opened(attempt) as whole:
                shutil.rmtree(_rank_name(rank), ignore_errors=True, dir_fd=whole)
            return
        # Another rank may still write: what it leaves is stale from now on, and a later save removes it.
        shutil.rmtree(folder, ignore_errors=True)
        self._let_go(attempt)

    def steps(self) -> list[int]:
        """Steps of the folders named as checkpoints are."""
        matches = (STEP_NAME.fullmatch(name) for name in self._names())
        return [int(match[1]) for match in matches if match]

    def signed_manifest(self, step: int) -> bytes | None:
        """Read the manifest of a step's folder."""
        name = f"{step_name(step)}/{MANIFEST_NAME}"
        try:
            descriptor = open_plain(self._root, name)
        except RefusedCheckpointError as refused:
            if refused.reason == "missing_file":
                return None
            raise
        with os.fdopen(descriptor, "rb") as stream:
            try:
                signed = stream.read(LARGEST_MANIFEST_BYTES + 1)
            except OSError as error:
                raise RefusedCheckpointError("unreadable", f"its manifest: {error.strerror}") from error
        if len(signed) > LARGEST_MANIFEST_BYTES:
            raise RefusedCheckpointError(
                "too_large", f"its manifest has more than {LARGEST_MANIFEST_BYTES} bytes"
            )
        return signed

    def sizes(self, attempt: Attempt, names: Iterable[str]) -> Mapping[str, int]:
        """Look each file up."""
        folder = step_name(attempt.step)
        found = {name: size_of_plain(self._root, f"{folder}/{name}") for name in names}
        return {name: size for name, size in found.items() if size is not None}

    def open_unverified(self, attempt: Attempt, name: str) -> BinaryIO:
        """Open a file of a step's folder, through no link."""
        return os.fdopen(open_plain(self._root, f"{step_name(attempt.step)}/{name}"), "rb")

    @contextmanager
    def reading(self, step: int) -> Iterator[None]:
        """Share a lock on the manifest, which removal needs for itself."""
        path = self._root / step_name(step) / MANIFEST_NAME
        try:
            descriptor = open_plain(self._root, f"{step_name(step)}/{MANIFEST_NAME}")
        except RefusedCheckpointError as refused:
            raise CheckpointGoneError(
                f"the checkpoint of step {step} was removed from {self._root}"
            ) from refused
        try:
            if self._locks and not lock(descriptor, path, shared=True, wait_seconds=_LOCK_SECONDS):
                raise CheckpointError(f"another process holds the lock of {path}; end it, or try again")
            if not is_same_file(descriptor, path):
                raise CheckpointGoneError(f"the checkpoint of step {step} was removed from {self._root}")
            yield
        finally:
            os.close(descriptor)

    def remove(self, attempt: Attempt) -> str | None:
        """Rename a step's folder out of sight, unless it is being read, and then remove it."""
        folder = self._root / step_name(attempt.step)
        hidden = self._root / f".removing-{attempt.step:012d}-{attempt.id}"
        try:
            descriptor = open_plain(self._root, f"{folder.name}/{MANIFEST_NAME}", writable=True)
        except RefusedCheckpointError as refused:
            return str(refused)
        try:
            if self._locks and not lock(descriptor, folder / MANIFEST_NAME):
                return "it is being loaded"
            if not is_same_file(descriptor, folder / MANIFEST_NAME):
                return "it was replaced meanwhile"
            folder.rename(hidden)
        finally:
            os.close(descriptor)
        sync_folders(self._root, [])
        shutil.rmtree(hidden)
        return None

    def remove_stale(self, *, before: int | None) -> list[Stale]:
        """Remove attempts whose lock nobody holds, and what removals left."""
        del before
        found = []
        for name in self._names():
            removing, saving = _REMOVING.fullmatch(name), _SAVING.fullmatch(name)
            path = self._root / name
            if removing:
                # Another process may be removing it too, which does no harm.
                said = "finished an interrupted removal"
                found.append(_removed(path, int(removing[1]), said))
            elif saving and saving[2] not in self._held:
                found.append(self._remove_attempt(path, int(saving[1])))
            elif name.endswith(".lock") and _SAVING.fullmatch(name.removesuffix(".lock")) and self._locks:
                # A folder or a link in its place is no lock of ours, and keeps nothing else from removal.
                with contextlib.suppress(OSError):
                    self._remove_lone_lock(path)
        return found

    def _remove_attempt(self, folder: Path, step: int) -> Stale:
        if not self._locks:
            return Stale(
                step, False, f"without locks nobody knows whether {folder.name} is alive; remove it by hand"
            )
        path = _lock_of(folder)
        try:
            held = dead_lock_file(path)
        except OSError as error:
            return Stale(
                step,
                False,
                f"{path.name} is no lock that this user can take ({error.strerror}); remove it by hand",
            )
        if held is None and path.exists():
            return Stale(step, False, f"{folder.name} is being saved")
        # The lock is made before the folder and removed after it: a folder without one has no owner.
        try:
            stale = _removed(folder, step, f"removed {folder.name}, which an interrupted save left")
            if stale.removed:
                path.unlink(missing_ok=True)
        finally:
            if held is not None:
                os.close(held)
        return stale

    def _remove_lone_lock(self, path: Path) -> None:
        if Path(str(path).removesuffix(".lock")).exists():
            return
        held = dead_lock_file(path)
        if held is not None:
            path.unlink(missing_ok=True)
            os.close(held)

    def _set_aside(self, attempt: Attempt, replacing: bytes | None) -> bool:
        final = self._root / step_name(attempt.step)
        # Two that replace the same one must not set each other's work aside.
        guard = os.open(self._root / ".replacing.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            path = self._root / ".replacing.lock"
            if self._locks and not lock(guard, path, wait_seconds=_LOCK_SECONDS):
                raise SaveError(f"another process holds the lock of {path}; end it, or try again")
            try:
                current = self.signed_manifest(attempt.step)
            except RefusedCheckpointError:
                current = None
            if current != replacing:
                return False
            with contextlib.suppress(FileNotFoundError):
                final.rename(self._root / f".refused-{final.name}-{secrets.token_hex(8)}")
            return True
        finally:
            os.close(guard)

    def _let_go(self, attempt: Attempt) -> None:
        held = self._held.pop(attempt.id, None)
        if held is not None:
            _lock_of(self._folder(attempt)).unlink(missing_ok=True)
            os.close(held)

    @contextmanager
    def _opened(self, attempt: Attempt) -> Iterator[int]:
        """Open an attempt's folder: whoever can write the directory may put a link to elsewhere there."""
        folder = self._folder(attempt)
        try:
            with opened_folder(self._root, folder.name) as whole:
                yield whole
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise
            raise SaveError(
                f"{folder} must be a folder without links, and is or holds a link, or was removed "
                f"({error.strerror}): somebody else changes {self._root}; let this job's user alone write it"
            ) from error

    def _folder(self, attempt: Attempt) -> Path:
        return self._root / f".saving-{attempt.step:012d}-{attempt.id}"

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self._root))
        except FileNotFoundError:
            return []


def _removed(path: Path, step: int, said: str) -> Stale:
    """Remove a folder, or the link in its place, and say whether it is gone."""
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink()
    if os.path.lexists(path):
        return Stale(step, False, f"{path.name} cannot be removed by this user; remove it by hand")
    return Stale(step, True, said)


def _by_parent(names: Iterable[str]) -> dict[str, list[str]]:
    """Sort paths by the folder that they lie in."""
    found: dict[str, list[str]] = {}
    for name in names:
        parent, _, last = name.rpartition("/")
        found.setdefault(parent, []).append(last)
    return found


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _rank_name(rank: int) -> str:
    return f".rank-{rank:06d}"


def _make_folders(folder: Path) -> None:
    made = []
    while not folder.exists():
        made.append(folder)
        folder = folder.parent
    for missing in reversed(made):
        missing.mkdir(exist_ok=True)
        sync_folders(missing.parent, [])
