"""Locks that end with their process, so that nobody needs a clock to tell who is alive."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError, SaveError

_UNSUPPORTED = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL}
_POLL_SECONDS = 0.05
_NEW_LOCK_SECONDS = 60.0
_LOCK_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
_HELD = {errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN}


def lock(descriptor: int, path: Path, *, shared: bool = False, wait_seconds: float = 0.0) -> bool:
    """Lock an open file for as long as it is open. The kernel lets go when its process or node dies.

    Args:
        descriptor: The open file.
        path: Its path, for words.
        shared: Let others share the lock. Off by default.
        wait_seconds: How long to wait for others. 0 by default. There is an end to it, since whoever can open
            the file can hold its lock.

    Returns:
        Whether it is locked.

    Raises:
        CheckpointError: If the file system has no locks.
    """
    import fcntl

    operation = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    end = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(descriptor, operation)
        except OSError as error:
            if error.errno not in _HELD:
                if error.errno in _UNSUPPORTED:
                    raise _without_locks(path, error) from error
                raise
        else:
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(_POLL_SECONDS)


def _without_locks(path: Path, error: OSError) -> CheckpointError:
    return CheckpointError(
        f"the file system of {path} has no locks ({error.strerror}), by which live saves and loads are told "
        "from dead ones; mount Lustre with -o flock, or say DirectoryStore(..., locks=False)"
    )


def is_same_file(descriptor: int, path: Path) -> bool:
    """Say whether a path still leads to an open file."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return os.path.samestat(os.fstat(descriptor), status)


def new_lock_file(path: Path) -> int:
    """Make a lock file of a name that nobody else uses, and hold it.

    Who cleans up may take it for a dead one's before it is locked: then it is made again. So lock
    first, and only then make what the lock stands for.

    Args:
        path: The lock file.

    Returns:
        Its descriptor, which holds the lock until it is closed.

    Raises:
        SaveError: If somebody else holds it for a minute: whoever can open a file can lock it.
    """
    end = time.monotonic() + _NEW_LOCK_SECONDS
    while True:
        descriptor = os.open(path, _LOCK_FLAGS | os.O_CREAT, 0o644)
        try:
            if lock(descriptor, path) and is_same_file(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if time.monotonic() > end:
            raise SaveError(f"another process holds the lock of {path}, which is new; end it, or try again")
        time.sleep(_POLL_SECONDS)


def dead_lock_file(path: Path) -> int | None:
    """Open and lock a lock file whose owner is dead.

    Args:
        path: The lock file.

    Returns:
        Its descriptor; None if somebody alive holds it, or it is gone.
    """
    try:
        descriptor = os.open(path, _LOCK_FLAGS)
    except FileNotFoundError:
        return None
    try:
        if lock(descriptor, path) and is_same_file(descriptor, path):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
