"""A folder that nobody else can put files into, also where others may write around it.

What lies in it when a checkpoint is committed is signed. Whoever can write the directory of the checkpoints,
and has no key, must not be able to have its own files signed by putting a folder in the place of a rank's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hyperpod_lifecycle.training.checkpoint_errors import SaveError
from hyperpod_lifecycle.training.file_digests import Digest, digest_of
from hyperpod_lifecycle.training.file_locks import is_same_file
from hyperpod_lifecycle.training.manifest import check_name

_PROBE = ".whose"


class PrivateFolder:
    """A folder of this user, held open from its making on.

    Args:
        path: Where to make it; its parent must exist.

    Raises:
        FileNotFoundError: If the parent is not there.
        SaveError: If somebody else's folder took its place at once.
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(mode=0o700)
        self.path = path
        self._descriptor: int | None = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            self._check_owner(self._descriptor)
        except BaseException:
            self.close()
            raise

    def digests(self, *, threads: int) -> Mapping[str, Digest]:
        """Return size and SHA-256 of all files, by their sorted names.

        Args:
            threads: How many files are read at a time. Hashing runs outside Python's lock.

        Raises:
            SaveError: If the folder is not the one that was made, or a file has a name that not every store
                can keep, or is a link, a hard link or no file: such a file could change after its digest was
                taken.
        """
        descriptor = self._descriptor
        if descriptor is None or not is_same_file(descriptor, self.path):
            raise SaveError(f"{self.path} was removed, or another folder was put in its place")
        names = sorted(_names_in(descriptor))
        with ThreadPoolExecutor(threads) as pool:
            digests = pool.map(lambda name: _digest(descriptor, name), names)
            return dict(zip(names, digests, strict=True))

    def close(self) -> None:
        """Let go of it; what is in it stays."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _check_owner(self, descriptor: int) -> None:
        # Not the user id of this process: a server may map it to another, as with root squashing.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        probe = os.open(_PROBE, flags, 0o600, dir_fd=descriptor)
        try:
            mine = os.fstat(probe).st_uid
        finally:
            os.close(probe)
            os.unlink(_PROBE, dir_fd=descriptor)
        status = os.fstat(descriptor)
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid != mine or mode & 0o022:
            raise SaveError(
                f"{self.path} belongs to user id {status.st_uid} with mode {mode:04o}, and was made by this "
                "process with mode 0700: somebody else put a folder in its place, or the file system ignores "
                "owners and modes"
            )


def _names_in(descriptor: int) -> list[str]:
    found = []
    for parent, folders, files, folder in os.fwalk(".", dir_fd=descriptor):
        for entry in [*folders, *files]:
            name = Path(parent, entry).as_posix()
            status = os.stat(entry, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                continue
            _check_plain(name, status)
            wrong = check_name(name)
            if wrong is not None:
                raise SaveError(f"the file name {name!r} {wrong}")
            found.append(name)
    return found


def _digest(descriptor: int, name: str) -> Digest:
    opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor)
    with os.fdopen(opened, "rb") as stream:
        _check_plain(name, os.fstat(opened))
        return digest_of(stream)


def _check_plain(name: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SaveError(f"{name!r} is no regular file; checkpoints keep files, not links or pipes")
    if status.st_nlink != 1:
        raise SaveError(f"{name!r} has another name (hard link) it could be changed by; copy it")
