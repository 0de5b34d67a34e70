"""Checkpoints wherever fsspec reaches: s3fs, gcsfs, adlfs and others."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError
from hyperpod_lifecycle.training.object_store import Objects, ObjectStore


class FsspecStore(ObjectStore):
    """A prefix of a file system of fsspec, laid out as in S3.

    The manifest is written last, in fsspec's mode ``create``. What that promises is the file system's matter:
    s3fs sends ``If-None-Match``, so that of two that save the same step one wins; a file system that only
    looks first leaves a window. A refused manifest is replaced without a condition.

    Args:
        url: Where, such as ``s3://bucket/run42``.
        filesystem: A file system of fsspec. By default the one of the URL, with ``options``.
        staging: Folder on the node where a rank's files wait for their upload. By default that of
            ``tempfile``.
        options: What fsspec gives the file system, such as ``{"profile": "train"}``. None by default.

    Raises:
        ValueError: If the URL has no path of its own.
    """

    def __init__(
        self,
        url: str,
        *,
        filesystem: Any = None,
        staging: str | os.PathLike[str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(_FsspecObjects(url, filesystem, options), staging=staging)


class _FsspecObjects(Objects):
    def __init__(self, url: str, filesystem: Any, options: Mapping[str, Any] | None) -> None:
        import fsspec

        if filesystem is None:
            # A listing remembered from before a save would hide it.
            given = {"use_listings_cache": False, **({} if options is None else options)}
            filesystem, path = fsspec.core.url_to_fs(url, **given)
        else:
            path = filesystem._strip_protocol(url)
        self._root = path.rstrip("/")
        if not self._root:
            raise ValueError(f"checkpoints need a path of their own, got {url!r}")
        self._url = url.rstrip("/")
        self._filesystem = filesystem

    @property
    def location(self) -> str:
        return self._url

    def folders(self, prefix: str) -> Iterable[str]:
        path = self._path(prefix).rstrip("/")
        with self._words("listing", prefix):
            self._filesystem.invalidate_cache()
            try:
                entries = list(self._filesystem.ls(path, detail=True))
            except FileNotFoundError:
                return []
        return [
            str(entry["name"]).rstrip("/").rpartition("/")[2]
            for entry in entries
            if entry["type"] == "directory"
        ]

    def sizes(self, prefix: str) -> Iterable[tuple[str, int]]:
        top = self._path(prefix).rstrip("/")
        with self._words("listing", prefix):
            self._filesystem.invalidate_cache()
            try:
                found = self._filesystem.find(top, detail=True)
            except FileNotFoundError:
                return ()
        return [(name[len(top) + 1 :], int(entry["size"])) for name, entry in found.items()]

    def get(self, key: str, *, at_most: int) -> bytes | None:
        stream = self.open(key)
        if stream is None:
            return None
        with stream:
            return stream.read(at_most)

    def open(self, key: str) -> BinaryIO | None:
        with self._words("reading", key):
            self._filesystem.invalidate_cache()
            try:
                stream = self._filesystem.open(self._path(key), "rb")
            except FileNotFoundError:
                return None
        return io.BufferedReader(_Told(stream, lambda: self._words("reading", key)))

    def put_new(self, key: str, content: bytes) -> bool:
        path = self._path(key)
        with self._words("writing", key):
            self._filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
            try:
                self._filesystem.pipe_file(path, content, mode="create")
            except FileExistsError:
                return False
        return True

    def put_over(self, key: str, content: bytes, *, expected: bytes) -> bool:
        if self.get(key, at_most=len(expected) + 1) != expected:
            return False
        with self._words("writing", key):
            self._filesystem.pipe_file(self._path(key), content)
        return True

    def upload(self, key: str, path: Path) -> None:
        target = self._path(key)
        with self._words("writing", key):
            self._filesystem.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._filesystem.put_file(str(path), target)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            with self._words("deleting", key), suppress(FileNotFoundError):
                self._filesystem.rm_file(self._path(key))

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}"

    @contextmanager
    def _words(self, what: str, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # An outage is no verdict on a checkpoint, and must not look like one.
            raise CheckpointError(f"{what} {key!r} in {self._url} failed: {error}") from error


class _Told(io.RawIOBase):
    """A stream whose failures come in words."""

    def __init__(self, stream: Any, words: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__()
        self._stream = stream
        self._words = words

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._words():
            content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
