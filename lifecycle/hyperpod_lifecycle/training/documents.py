"""Small documents beside checkpoints: counters, notices and records, in a shared folder or in a bucket.

They decide nothing about what is loaded, so they carry no signature: whoever writes them can make a job stop
or lie about its past. It cannot make it load anything, wait for ever, fill its memory, or write into a file
elsewhere: lines that tell of hostile checkpoints, added to a shell's start file behind a link, would be run.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import threading
from pathlib import Path
from typing import Any, Protocol

from hyperpod_lifecycle.training.store_locations import refuse_lost_slash

_NAME = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,200}")
_MOST_BYTES = 16 * 1024 * 1024
# A link, a pipe that nobody reads, a folder.
_NOT_PLAIN = {errno.ELOOP, errno.ENXIO, errno.EISDIR}
_S3_URI = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?", re.DOTALL)


class Documents(Protocol):
    """Where documents are kept, by name."""

    @property
    def location(self) -> str:
        """The place in words that users know: an absolute path or a URI."""

    def read(self, name: str) -> bytes | None:
        """Return a document; None if there is none.

        Raises:
            ValueError: If what is there cannot be one: it has more than 16 MiB, or is no regular file.
        """

    def write(self, name: str, content: bytes) -> None:
        """Write a document as a whole: readers see the one before or this one, and it outlives a crash."""

    def append(self, name: str, line: bytes) -> None:
        """Add a line. Only one process writes a document."""


def documents(location: str | os.PathLike[str]) -> Documents:
    """Return the place for documents.

    Args:
        location: A folder, or a URI that begins with ``s3://``.

    Raises:
        ValueError: If it is another URI, or lacks a slash.
    """
    text = os.fspath(location)
    refuse_lost_slash(text)
    if text.startswith("s3://"):
        return S3Documents(text)
    if "://" in text:
        raise ValueError(f"location must be a folder or begin with s3://, got {text!r}")
    return FolderDocuments(text)


class FolderDocuments:
    """Documents in a folder, made when something is written.

    Args:
        folder: Where.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder).absolute()

    @property
    def location(self) -> str:
        """The folder."""
        return str(self._folder)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none.

        Raises:
            ValueError: If it has more than 16 MiB, or is a link, a pipe or a folder.
        """
        try:
            handle = self._open(name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as stream:
            return _limited(stream.read(_MOST_BYTES + 1), f"{self._folder}/{name}")

    def write(self, name: str, content: bytes) -> None:
        """Write a file under another name, and rename it when it is on disk."""
        self._folder.mkdir(parents=True, exist_ok=True)
        final = self._folder / _checked(name)
        partial = self._folder / f".{name}.{secrets.token_hex(8)}"
        try:
            with partial.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(final)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def append(self, name: str, line: bytes) -> None:
        """Add a line to a file, in one write.

        Raises:
            ValueError: If it is a link, a pipe or a folder, or has another name (hard link).
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        handle = self._open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, line + b"\n")
        finally:
            os.close(handle)

    def _open(self, name: str, flags: int) -> int:
        path = self._folder / _checked(name)
        try:
            # Without O_NONBLOCK a named pipe would hold the job for ever.
            handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        except OSError as error:
            if error.errno in _NOT_PLAIN:
                raise _not_plain(path) from error
            raise
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            os.close(handle)
            raise _not_plain(path)
        return handle


class S3Documents:
    """Documents in a bucket. boto3 is imported when it is needed.

    S3 cannot append: the document is read once, and written as a whole with each line.

    Args:
        uri: ``s3://bucket`` or ``s3://bucket/prefix``.
        client: An S3 client. Default that of boto3's default session.

    Raises:
        ValueError: If the URI is none.
    """

    def __init__(self, uri: str, *, client: Any = None) -> None:
        match = _S3_URI.fullmatch(uri)
        if match is None:
            raise ValueError(f"uri must be s3://bucket or s3://bucket/prefix, got {uri!r}")
        self._bucket = match[1]
        self._prefix = "" if not match[2] else f"{match[2].strip('/')}/"
        self._client = client
        self._appended: dict[str, bytes] = {}
        # A save in the background tells of events while training tells of steps.
        self._appending = threading.Lock()

    @property
    def location(self) -> str:
        """The URI."""
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def read(self, name: str) -> bytes | None:
        """Return the content of an object; None if there is none.

        Raises:
            ValueError: If it has more than 16 MiB.
            botocore.exceptions.ClientError: If S3 refuses. Without ``s3:ListBucket`` it refuses what is not
            there.
        """
        client = self._s3()
        try:
            found = client.get_object(Bucket=self._bucket, Key=f"{self._prefix}{_checked(name)}")
        except client.exceptions.NoSuchKey:
            return None
        with found["Body"] as body:
            return _limited(body.read(_MOST_BYTES + 1), f"{self.location}/{name}")

    def write(self, name: str, content: bytes) -> None:
        """Write an object: S3 shows the one before or this one, never a part."""
        self._s3().put_object(Bucket=self._bucket, Key=f"{self._prefix}{_checked(name)}", Body=content)

    def append(self, name: str, line: bytes) -> None:
        """Write the object again, with a line more."""
        with self._appending:
            before = self._appended.get(name)
            if before is None:
                found = self.read(name)
                before = b"" if found is None else found
            self._appended[name] = before + line + b"\n"
            self.write(name, self._appended[name])

    def _s3(self) -> Any:
        if self._client is None:
            import boto3

            self._client = boto3.client("s3")
        return self._client


def _checked(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"name must be letters, digits and ._- and not begin with a dot, got {name!r}")
    return name


def _limited(content: bytes, where: str) -> bytes:
    if len(content) > _MOST_BYTES:
        raise ValueError(
            f"{where} has more than {_MOST_BYTES} bytes, which no document of a job has; remove it"
        )
    return content


def _not_plain(path: Path) -> ValueError:
    return ValueError(
        f"{path} must be a regular file with one name, and is a link (symbolic or hard), a pipe or a folder; "
        "remove it"
    )
