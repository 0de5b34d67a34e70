"""Folders of a node's own where files wait for their upload, cleaned up after those who died."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hyperpod_lifecycle.training.file_locks import held_lock_file

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
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._parent))
        self._lock = held_lock_file(_lock_of(self.path), create=True)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            _lock_of(self.path).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None


def _remove_dead(parent: Path) -> None:
    # A folder is made before its lock here: one without a lock may be about to get it, and is left alone.
    for path in parent.glob(f"{_PREFIX}*.lock"):
        folder = path.with_suffix("")
        try:
            if path.lstat().st_uid != os.geteuid():
                continue
            held = held_lock_file(path, create=False)
        except OSError:
            # Somebody else's, or gone meanwhile: the owner's next save removes it.
            continue
        if held is not None:
            shutil.rmtree(folder, ignore_errors=True)
            path.unlink(missing_ok=True)
            os.close(held)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")
