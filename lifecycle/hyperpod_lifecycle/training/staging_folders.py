"""Folders of a node's own where files wait for their upload or are read, cleaned up after those who died."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError
from hyperpod_lifecycle.training.file_locks import dead_lock_file, new_lock_file
from hyperpod_lifecycle.training.private_folders import PrivateFolder

_log = logging.getLogger("hyperpod_lifecycle.training")
_SAVING = "hyperpod-saving-"
_READING = "hyperpod-checkpoint-"


class StagingFolder:
    """A private folder, held by a lock that ends with this process.

    Args:
        parent: Where to make it. By default the folder of ``tempfile``.
        prefix: What its name begins with. Those of dead processes with the same are removed.
    """

    def __init__(self, parent: Path | None = None, *, prefix: str = _SAVING) -> None:
        self._parent = Path(tempfile.gettempdir()) if parent is None else parent
        self._parent.mkdir(parents=True, exist_ok=True)
        _remove_dead(self._parent, prefix)
        self.path = self._parent / f"{prefix}{secrets.token_hex(16)}"
        self._lock: int | None = None
        try:
            self._lock = new_lock_file(_lock_of(self.path))
            self.private = PrivateFolder(self.path)
        except BaseException:
            _lock_of(self.path).unlink(missing_ok=True)
            if self._lock is not None:
                os.close(self._lock)
            raise

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self.private.close()
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            _lock_of(self.path).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None


@contextmanager
def folder_of_copies(parent: Path | None) -> Iterator[Path]:
    """Make a private folder for verified copies, and remove it at the end.

    A load that is killed leaves copies as large as the checkpoint, and the next one on the node removes them:
    else some kills would fill the disk, and nothing could be loaded there any more.

    Args:
        parent: Where to make it. None: the folder of ``tempfile``.
    """
    try:
        staged = StagingFolder(parent, prefix=_READING)
    except CheckpointError as error:
        _log.warning("copies that a load leaves when it is killed have to be removed by hand: %s", error)
        with tempfile.TemporaryDirectory(prefix=_READING, dir=parent) as folder:
            yield Path(folder)
        return
    try:
        yield staged.path
    finally:
        staged.remove()


def _remove_dead(parent: Path, prefix: str) -> None:
    for path in parent.glob(f"{prefix}*.lock"):
        folder = path.with_suffix("")
        try:
            if path.lstat().st_uid != os.geteuid():
                continue
            held = dead_lock_file(path)
        except OSError:
            # Somebody else's, or gone meanwhile: the owner's next save removes it.
            continue
        if held is not None:
            shutil.rmtree(folder, ignore_errors=True)
            path.unlink(missing_ok=True)
            os.close(held)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")
