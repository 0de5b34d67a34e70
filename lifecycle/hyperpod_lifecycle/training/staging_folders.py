"""Folders of a node's own where files wait for their upload, cleaned up after those who died."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path

from hyperpod_lifecycle.training.file_locks import dead_lock_file, new_lock_file
from hyperpod_lifecycle.training.private_folders import PrivateFolder

_PREFIX = "hyperpod-saving-"


class StagingFolder:
    """A private folder, held by a lock that ends with this process.

    Args:
        parent: Where to make it. By default the folder of ``tempfile``.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = Path(tempfile.gettempdir()) if parent is None else parent
        self._parent.mkdir(parents=True, exist_ok=True)
        _remove_dead(self._parent)
        self.path = self._parent / f"{_PREFIX}{secrets.token_hex(16)}"
        self._lock: int | None = new_lock_file(_lock_of(self.path))
        self.private = PrivateFolder(self.path)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self.private.close()
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            _lock_of(self.path).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None


def _remove_dead(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*.lock"):
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
