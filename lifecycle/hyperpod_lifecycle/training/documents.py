"""Small documents beside checkpoints: counters, notices and records, in a shared folder or in a bucket.

They decide nothing about what is loaded, so they carry no signature: whoever writes them can make a job stop
or lie about its past, and cannot make it load anything.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Any, Protocol

_NAME = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,200}")
_S3_URI = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?", re.DOTALL)


class Documents(Protocol):
    """Where documents are kept, by name."""

    @property
    def location(self) -> str:
        """The place in words that users know: an absolute path or a URI."""

    def read(self, name: str) -> bytes | None:
        """Return a document; None if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Write a document as a whole: readers see the one before or this one, and it outlives a crash."""

    def append(self, name: str, line: bytes) -> None:
        """Add a line. Only one process writes a document."""


def documents(location: str | os.PathLike[str]) -> Documents:
    """Return the place for documents.

    Args:
        location: A folder, or a URI that begins with ``s3://``.

    Raises:
        ValueError: If it is another URI.
    """
    text = os.fspath(location)
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
        """Return the content of a file; None if there is none."""
        try:
            return (self._folder / _checked(name)).read_bytes()
        except FileNotFoundError:
            return None

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
        """Add a line to a file, in one write."""
        self._folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._folder / _checked(name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line + b"\n")
        finally:
            os.close(handle)


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

    @property
    def location(self) -> str:
        """The URI."""
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def read(self, name: str) -> bytes | None:
        """Return the content of an object; None if there is none.

        Raises:
            botocore.exceptions.ClientError: If S3 refuses. Without ``s3:ListBucket`` it refuses what is not
            there.
        """
        client = self._s3()
        try:
            content: bytes = client.get_object(Bucket=self._bucket, Key=f"{self._prefix}{_checked(name)}")[
                "Body"
            ].read()
        except client.exceptions.NoSuchKey:
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write an object: S3 shows the one before or this one, never a part."""
        self._s3().put_object(Bucket=self._bucket, Key=f"{self._prefix}{_checked(name)}", Body=content)

    def append(self, name: str, line: bytes) -> None:
        """Write the object again, with a line more."""
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
