"""Where a report goes, and in which form."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final, TextIO

from hyperpod_model.command_line.parser import UsageError

_LEAST_COLUMNS: Final = 40


def has_colour(stream: TextIO) -> bool:
    """Tell whether to colour text: on a terminal, unless the user says otherwise (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def columns(stream: TextIO) -> int | None:
    """Return the columns of a terminal; ``None`` where lines are not wrapped, as in a pipe."""
    return max(shutil.get_terminal_size().columns, _LEAST_COLUMNS) if stream.isatty() else None


def emit(text: str) -> None:
    """Write to standard output, whatever characters it takes."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        encoding = "ascii" if sys.stdout.encoding is None else sys.stdout.encoding
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def write(text: str, file: str) -> None:
    """Write a file.

    Raises:
        UsageError: If that is not possible.
    """
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {file} cannot be written: {error.strerror}") from error
