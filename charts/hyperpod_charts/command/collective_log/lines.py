"""The lines of a log that tell how the processes of a job talk to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, NamedTuple

from hyperpod_model.catalog.collective_logs import ERRORS, LogError

MAX_LINE_BYTES: Final = 64 * 1024
"""What is longer is read in parts, so that a log without line ends takes no memory."""

_COLOURS: Final = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_MARK: Final = re.compile(rb"\b(NCCL|CCOM) (INFO|WARN|TRACE|ABORT|VERSION) ")
_SOURCE: Final = re.compile(rb"(?:(?<![\w.-])([A-Za-z0-9][\w.-]*):)?(\d+):(\d+) \[(\d+)\]")
_POD: Final = re.compile(rb"^\[pod/([^/\]]+)/[^\]]+\]")
_END_OF_JSON_TEXT: Final = re.compile(rb'(?:\\[rn])*(?<!\\)".*')
_VERSION: Final = re.compile(rb"\bNCCL version (\S+)")
_WORDS: Final[dict[bytes, LogError]] = {words.encode(): error for error in ERRORS for words in error.says}
_ERROR: Final = re.compile(b"|".join(map(re.escape, _WORDS)))


class LogLine(NamedTuple):
    """One line that tells something.

    Attributes:
        file: The log.
        number: Which of its lines it is, from 1.
        node: Pod or host of the process; empty where the line does not tell.
        process: Its process id; None where the line does not tell.
        device: Its accelerator, from 0; None where the line does not tell.
        library: ``NCCL``, or ``CCOM`` for Neuron; None for words of libfabric.
        level: Such as ``INFO``; empty for words of libfabric.
        text: What is said, without what stands before it.
        error: The known error that it is; None for none.
    """

    file: str
    number: int
    node: str
    process: int | None
    device: int | None
    library: str | None
    level: str
    text: str
    error: LogError | None


def telling_lines(stream: BinaryIO, *, file: str) -> Iterator[LogLine]:
    """Yield the lines of NCCL, Neuron's collective communication and libfabric, and pass over all others.

    What ``kubectl logs --prefix`` or ``--timestamps``, stern, torchrun or mpirun put before a line does not
    matter.

    Args:
        stream: A log of any size; it is read once.
        file: Its name, for reports.
    """
    for number, line in _numbered(stream):
        if b"NCCL" not in line and b"CCOM" not in line and _ERROR.search(line) is None:
            continue
        plain = _COLOURS.sub(b"", line).rstrip()
        mark = _MARK.search(plain)
        error = _ERROR.search(plain)
        version = _VERSION.search(plain)
        if mark is None and error is None and version is None:
            continue
        yield _line(file, number, plain, mark, None if error is None else _WORDS[error[0]])


def _numbered(stream: BinaryIO) -> Iterable[tuple[int, bytes]]:
    number, begins = 0, True
    while line := stream.readline(MAX_LINE_BYTES):
        number += begins
        begins = line.endswith(b"\n")
        yield number, line


def _line(
    file: str, number: int, plain: bytes, mark: re.Match[bytes] | None, error: LogError | None
) -> LogLine:
    pod = _POD.match(plain)
    source = None if mark is None else _SOURCE.search(plain, 0, mark.start())
    host = source[1] if source is not None else None
    node = host if host is not None else (b"" if pod is None else pod[1])
    return LogLine(
        file=file,
        number=number,
        node=_text(node),
        process=None if source is None else int(source[2]),
        device=None if source is None else int(source[4]),
        library=None if mark is None else _text(mark[1]),
        level="" if mark is None else _text(mark[2]),
        text=_said(plain, 0 if mark is None else mark.end()),
        error=error,
    )


def _said(plain: bytes, start: int) -> str:
    said = plain[start:]
    # A container runtime's or a collector's own form: the line is a text in a JSON object.
    return _text(_END_OF_JSON_TEXT.sub(b"", said, count=1) if plain.startswith(b"{") else said)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
