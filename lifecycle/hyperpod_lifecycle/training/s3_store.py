"""Checkpoints in S3, through boto3."""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from hyperpod_lifecycle.training.checkpoint_errors import CheckpointError, RefusedCheckpointError
from hyperpod_lifecycle.training.object_store import Objects, ObjectStore

_RANGE_BYTES = 16 * 1024 * 1024
_RANGES_AHEAD = 4
_READ_TRIES = 4
# What one DeleteObjects request takes. Source: Amazon S3 API reference, DeleteObjects.
_MOST_DELETED = 1000
_ATTEMPTS = 10
_MISSING = {"404", "NoSuchKey", "NotFound"}
# 412: there is one; 409: another conditional write of the same key was under way, and won or will.
_CONDITION_FAILED = {"PreconditionFailed", "ConditionalRequestConflict"}


class S3Store(ObjectStore):
    """A prefix of an S3 bucket.

    S3 has no rename: files go to a prefix of the attempt, where no reader looks, and the manifest is written
    last with ``If-None-Match: *``, whole or not at all. Of two that save the same step, one wins. S3 answers
    reads and lists with the latest write, so what is published is found at once.

    Args:
        bucket: Name of the bucket.
        prefix: Prefix of the run's checkpoints, with or without a slash at its end.
        client: An S3 client of boto3. By default one is made at first use, with 10 attempts a request.
        staging: Folder on the node where a rank's files wait for their upload: as large as what a rank saves.
            By default that of ``tempfile``.

    Raises:
        ValueError: If bucket or prefix is empty.
    """

    def __init__(
        self,
        bucket: str,
        prefix: str,
        *,
        client: Any = None,
        staging: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(_S3Objects(bucket, prefix.strip("/"), client), staging=staging)


class _S3Objects(Objects):
    def __init__(self, bucket: str, prefix: str, client: Any) -> None:
        if not bucket or not prefix:
            raise ValueError(
                f"checkpoints need a bucket and a prefix of their own, got s3://{bucket}/{prefix}; name the "
                "run, as in s3://bucket/run42"
            )
        self._bucket = bucket
        self._prefix = prefix
        self._known_client = client

    @property
    def location(self) -> str:
        return f"s3://{self._bucket}/{self._prefix}"

    def folders(self, prefix: str) -> Iterable[str]:
        start = len(self._key(prefix))
        for page in self._pages(prefix, Delimiter="/"):
            for common in page.get("CommonPrefixes", ()):
                yield common["Prefix"][start:].rstrip("/")

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        start = len(self._key(prefix))
        for page in self._pages(prefix):
            for entry in page.get("Contents", ()):
                yield entry["Key"][start:], int(entry["Size"])

    def get(self, key: str, *, at_most: int) -> bytes | None:
        found = self._get(key, at_most=at_most)
        return None if found is None else found[0]

    def open(self, key: str) -> BinaryIO | None:
        with self._words("HeadObject", key):
            try:
                head = self._client.head_object(Bucket=self._bucket, Key=self._key(key))
            except self._client.exceptions.ClientError as error:
                if _code(error) in _MISSING:
                    return None
                raise
        ranges = _Ranges(self, key, int(head["ContentLength"]), head["ETag"])
        return io.BufferedReader(ranges, _RANGE_BYTES)

    def read_range(self, key: str, start: int, end: int, etag: str) -> bytes:
        """Read some bytes of one version of an object, again if the connection breaks."""
        from botocore.exceptions import BotoCoreError

        for attempt in range(1, _READ_TRIES + 1):
            with self._words("GetObject", key):
                try:
                    answer = self._client.get_object(
                        Bucket=self._bucket,
                        Key=self._key(key),
                        Range=f"bytes={start}-{end - 1}",
                        IfMatch=etag,
                    )
                    return bytes(answer["Body"].read())
                except self._client.exceptions.ClientError as error:
                    if _code(error) in {*_MISSING, "PreconditionFailed", "InvalidRange"}:
                        raise RefusedCheckpointError(
                            "unreadable", f"{key!r} was changed or removed while it was read"
                        ) from error
                    raise
                except BotoCoreError:
                    # botocore repeats requests, but not the reading of an answer that broke off.
                    if attempt == _READ_TRIES:
                        raise
        raise AssertionError("unreachable")

    def put_new(self, key: str, content: bytes) -> bool:
        return self._put(key, content, IfNoneMatch="*")

    def put_over(self, key: str, content: bytes, *, expected: bytes) -> bool:
        found = self._get(key, at_most=len(expected) + 1)
        if found is None or found[0] != expected:
            return False
        return self._put(key, content, IfMatch=found[1])

    def upload(self, key: str, path: Path) -> None:
        from boto3.exceptions import S3UploadFailedError

        with self._words("PutObject", key):
            try:
                self._client.upload_file(str(path), self._bucket, self._key(key))
            except S3UploadFailedError as error:
                raise CheckpointError(f"could not upload {key!r} to {self.location}: {error}") from error

    def delete(self, keys: Iterable[str]) -> None:
        left = iter(keys)
        while some := [{"Key": self._key(key)} for key in islice(left, _MOST_DELETED)]:
            with self._words("DeleteObjects", some[0]["Key"]):
                answer = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": some, "Quiet": True}
                )
            for fault in answer.get("Errors", ())[:1]:
                raise CheckpointError(
                    f"could not delete {len(answer['Errors'])} objects of {self.location}, such as "
                    f"{fault.get('Key')!r}: {fault.get('Code')} {fault.get('Message')}"
                )

    def _put(self, key: str, content: bytes, **condition: str) -> bool:
        with self._words("PutObject", key):
            try:
                self._client.put_object(Bucket=self._bucket, Key=self._key(key), Body=content, **condition)
            except self._client.exceptions.ClientError as error:
                if _code(error) not in _CONDITION_FAILED:
                    raise
                # botocore repeats a request whose answer was lost, and then meets its own object.
                found = self._get(key, at_most=len(content) + 1)
                return found is not None and found[0] == content
        return True

    def _get(self, key: str, *, at_most: int) -> tuple[bytes, str] | None:
        with self._words("GetObject", key):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=self._key(key))
            except self._client.exceptions.ClientError as error:
                if _code(error) in _MISSING:
                    return None
                raise
            with answer["Body"] as body:
                return bytes(body.read(at_most)), str(answer["ETag"])

    def _pages(self, prefix: str, **request: str) -> Iterator[Any]:
        with self._words("ListObjectsV2", prefix):
            paginator = self._client.get_paginator("list_objects_v2")
            yield from paginator.paginate(Bucket=self._bucket, Prefix=self._key(prefix), **request)

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{key}"

    @property
    def _client(self) -> Any:
        if self._known_client is None:
            import boto3
            from botocore.config import Config

            retries: Any = {"mode": "standard", "total_max_attempts": _ATTEMPTS}
            self._known_client = boto3.client("s3", config=Config(retries=retries, max_pool_connections=64))
        return self._known_client

    @contextmanager
    def _words(self, operation: str, key: str) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (BotoCoreError, ClientError) as error:
            raise CheckpointError(
                f"S3 refused or did not answer {operation} of {key!r} in {self.location}: {error}"
            ) from error


class _Ranges(io.RawIOBase):
    """One version of an object, some ranges of it fetched ahead, side by side."""

    def __init__(self, objects: _S3Objects, key: str, size: int, etag: str) -> None:
        super().__init__()
        self._pool = ThreadPoolExecutor(_RANGES_AHEAD)
        self._starts = deque(range(0, size, _RANGE_BYTES))
        self._fetch = lambda start: objects.read_range(key, start, min(start + _RANGE_BYTES, size), etag)
        self._ahead: deque[Future[bytes]] = deque()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            while self._starts and len(self._ahead) < _RANGES_AHEAD:
                self._ahead.append(self._pool.submit(self._fetch, self._starts.popleft()))
            if not self._ahead:
                return 0
            self._rest = memoryview(self._ahead.popleft().result())
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self._pool.shutdown(wait=False, cancel_futures=True)
        super().close()


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
