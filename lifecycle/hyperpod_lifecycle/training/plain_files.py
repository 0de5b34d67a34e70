"""Files below a folder that others may write to, opened without following where they would lead."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hyperpod_lifecycle.training.checkpoint_errors import RefusedCheckpointError

# A link, or a link or a file where a folder was expected.
_NOT_PLAIN = {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO}


def open_plain(root: Path, name: str, *, writable: bool = False) -> int:
    """Open a regular file below a folder, through no symbolic link below it.

    Args:
        root: The folder; links that lead to it are the user's own.
        name: Path below it, with forward slashes.
        writable: Open for changing, which some locks ask for. Off by default.

    Returns:
        A file descriptor.

    Raises:
        RefusedCheckpointError: If it is missing, no regular file or unreadable.
    """
    *folders, last = name.split("/")
    try:
        with opened_folder(root, "/".join(folders)) as folder:
            # Without O_NONBLOCK a named pipe would hold the reader for ever.
            flags = (os.O_RDWR if writable else os.O_RDONLY) | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(last, flags, dir_fd=folder)
    except OSError as error:
        raise _refusal(name, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RefusedCheckpointError("not_a_file", f"{name!r} is no regular file")
    return descriptor


def size_of_plain(root: Path, name: str) -> int | None:
    """Return the bytes of a regular file below a folder; None if it is missing.

    Raises:
        RefusedCheckpointError: If it is no regular file or unreadable.
    """
    try:
        descriptor = open_plain(root, name)
    except RefusedCheckpointError as refused:
        if refused.reason == "missing_file":
            return None
        raise
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


@contextmanager
def opened_folder(above: Path | int, name: str, *, make: bool = False) -> Iterator[int]:
    """Open a folder below another one, through no symbolic link below that.

    Args:
        above: The other folder, or a file descriptor of it; links that lead to it are the user's own.
        name: Path below it, with forward slashes; empty for the folder itself.
        make: Make what of it is missing. Off by default.

    Yields:
        A file descriptor.

    Raises:
        OSError: If it is missing, a link or no folder.
    """
    folder = os.dup(above) if isinstance(above, int) else os.open(above, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in name.split("/") if name else ():
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def sync_file(path: Path) -> None:
    """Have a file's bytes on storage before going on, through no link and waiting for no pipe."""
    _sync(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def sync_folders(root: Path, names: Iterable[str]) -> None:
    """Have the entries of a folder, and of the folders below it that names lie in, on storage."""
    folders = {root}
    for name in names:
        folders.update(root / parent for parent in Path(name).parents)
    for folder in sorted(folders, reverse=True):
        _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refusal(name: str, error: OSError) -> RefusedCheckpointError:
    if error.errno == errno.ENOENT:
        return RefusedCheckpointError("missing_file", f"{name!r} is missing")
    if error.errno in _NOT_PLAIN:
        return RefusedCheckpointError("not_a_file", f"{name!r} is no regular file, or lies behind a link")
    return RefusedCheckpointError("unreadable", f"{name!r} cannot be read: {error.strerror}")
