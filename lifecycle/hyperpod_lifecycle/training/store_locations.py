"""Which store a location means."""

from __future__ import annotations

import os
import re

from hyperpod_lifecycle.training.checkpoint_store import CheckpointStore
from hyperpod_lifecycle.training.directory_store import DirectoryStore

_LOST_SLASH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/(?!/)")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


def store_at(location: str | os.PathLike[str]) -> CheckpointStore:
    """Return the store of a location.

    Args:
        location: ``s3://bucket/prefix`` (boto3), another URL that fsspec knows, or a directory.

    Raises:
        ValueError: If a URL lacks bucket, path or a slash.
    """
    text = os.fspath(location)
    refuse_lost_slash(text)
    url = _URL.fullmatch(text)
    if url is None:
        return DirectoryStore(text)
    scheme, rest = url[1].lower(), url[2]
    if scheme == "file":
        return DirectoryStore(rest)
    if scheme == "s3":
        from hyperpod_lifecycle.training.s3_store import S3Store

        bucket, _, prefix = rest.partition("/")
        return S3Store(bucket, prefix)
    from hyperpod_lifecycle.training.fsspec_store import FsspecStore

    return FsspecStore(text)


def refuse_lost_slash(location: str) -> None:
    """Refuse what ``Path("s3://bucket/run")`` makes of a URL: a folder of the node's own disk.

    Raises:
        ValueError: If it is such a one.
    """
    if _LOST_SLASH.match(location):
        raise ValueError(
            f"location must be a directory or a URL such as s3://bucket/run42, got {location!r}; "
            "pathlib.Path takes a slash out of URLs: pass them as text, and such a directory as ./<name>"
        )
