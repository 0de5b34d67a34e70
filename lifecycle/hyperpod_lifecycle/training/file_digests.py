"""SHA-256 of files larger than memory."""

from __future__ import annotations

import hashlib
from typing import BinaryIO, NamedTuple

_CHUNK_BYTES = 4 * 1024 * 1024


class Digest(NamedTuple):
    """Size in bytes and SHA-256 in hexadecimal digits of some bytes."""

    size: int
    sha256: str


def digest_of(stream: BinaryIO, *, copy_to: BinaryIO | None = None, at_most: int | None = None) -> Digest:
    """Read a stream to its end, holding 4 MiB of it at a time.

    Args:
        stream: Open for reading.
        copy_to: Also write there what is read: the very bytes that the digest is of. None by default.
        at_most: Stop after more than so many bytes, since they cannot be the expected ones any more. No limit
            by default.
    """
    hasher, size = hashlib.sha256(), 0
    while chunk := stream.read(_CHUNK_BYTES):
        size += len(chunk)
        if at_most is not None and size > at_most:
            break
        hasher.update(chunk)
        if copy_to is not None:
            copy_to.write(chunk)
    return Digest(size, hasher.hexdigest())
