"""Which store a location means."""

from __future__ import annotations

import os

from hyperpod_lifecycle.training.checkpoint_store import CheckpointStore
from hyperpod_lifecycle.training.directory_store import DirectoryStore


def store_at(location: str | os.PathLike[str]) -> CheckpointStore:
    """Return the store of a location.

    Args:
        location: ``s3://bucket/prefix``, another URL that fsspec knows, or a directory.
    """
    return DirectoryStore(location)
