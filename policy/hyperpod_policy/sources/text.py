"""Files and standard input as text, within limits."""

from __future__ import annotations

import codecs
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from hyperpod_policy.sources.unusable import UnusableInputError

STANDARD_INPUT: Final = "-"
"""Names standard input among the paths to review."""

STANDARD_INPUT_NAME: Final = "<stdin>"
"""What reports call standard input."""

MAX_BYTES: Final = 10 * 2**20
"""Many times what any template has, and room for a large set of manifests."""

_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_KINDS: Final = (
    (stat.S_ISFIFO, f"is a named pipe; pass {STANDARD_INPUT} and pipe the template in"),
    (stat.S_ISDIR, "is a directory where a file is needed"),
    (stat.S_ISSOCK, "is a socket, not a file"),
    (stat.S_ISCHR, "is a device, not a file"),
    (stat.S_ISBLK, "is a device, not a file"),
)


def is_file(path: Path) -> bool:
    """Tell whether a path leads to a regular file; one that nobody can look at does not."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Tell whether a path leads to a folder; one that nobody can look at does not."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read_bytes(file: Path) -> bytes:
    """Read a file.

    Args:
        file: A regular file, or a link to one.

    Raises:
        UnusableInputError: If there is no such file, or it is larger than any input may be.
    """
    try:
        status = file.stat()
        for is_kind, problem in _KINDS:
            if is_kind(status.st_mode):
                raise UnusableInputError(problem, file=str(file))
        if status.st_size > MAX_BYTES:
            raise _too_large(str(file), f"{status.st_size / 2**20:.0f} MiB")
        with file.open("rb") as stream:
            return _within_limit(stream, str(file))
    except FileNotFoundError as error:
        raise UnusableInputError(_missing(file), file=str(file)) from error
    except OSError as error:
        raise UnusableInputError(f"cannot be read: {error.strerror}", file=str(file)) from error
    except UnusableInputError:
        raise
    except ValueError as error:  # a name that no file can have
        raise UnusableInputError(f"is no name of a file: {error}", file=str(file)) from error


def read_standard_input(stream: BinaryIO | None = None) -> bytes:
    """Read standard input to its end.

    Args:
        stream: Where to read instead. By default the process's standard input.

    Raises:
        UnusableInputError: If it is larger than any input may be.
    """
    return _within_limit(sys.stdin.buffer if stream is None else stream, STANDARD_INPUT_NAME)


def decoded_text(content: bytes, *, file: str) -> str:
    """Decode a file's content, in UTF-8 or, with a byte order mark, UTF-16.

    Args:
        content: What was read.
        file: Name of the input.

    Raises:
        UnusableInputError: If it is no text.
    """
    encoding = "utf-16" if content.startswith(_UTF16_MARKS) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if b"\0" in content:
            raise _binary(file) from error
        line = content.count(b"\n", 0, error.start) + 1
        raise UnusableInputError("is not in UTF-8; save it as UTF-8", file=file, line=line) from error
    if "\0" in text:
        raise _binary(file)
    return text


def _within_limit(stream: BinaryIO, file: str) -> bytes:
    content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise _too_large(file, f"more than {MAX_BYTES // 2**20} MiB")
    return content


def _too_large(file: str, size: str) -> UnusableInputError:
    return UnusableInputError(
        f"is too large to be a template ({size}, at most {MAX_BYTES // 2**20} MiB are read); "
        "name the template itself, or split a file of manifests",
        file=file,
    )


def _binary(file: str) -> UnusableInputError:
    return UnusableInputError("is a binary file; name a template or manifest in JSON or YAML", file=file)


def _missing(file: Path) -> str:
    with suppress(OSError):
        if file.is_symlink():
            return f"is a link to {file.readlink()}, which is not there"
    return "is not there"
