#!/usr/bin/env python3
"""Copies records of jobs into a folder of root's, once: what was added since. A timer runs it.

Usage: gather_records.py FILE COPIES

FILE names the folder of records on its first line. The CloudWatch agent runs as root and follows links: in a
folder where users write, it would send whatever file of root's a user points at. So it reads copies, and here
a link, a pipe and a file that has another name elsewhere are left out. Copies of records that are gone go
too, and neither many nor large ones fill the volume. Needs nothing but the standard library of the node's own
Python.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from typing import BinaryIO

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\.jsonl")
MOST_BYTES_OF_A_FILE = 16 << 20
MOST_BYTES = 256 << 20
_AT_ONCE = 1 << 20


def main(said: str, copies: str) -> int:
    """Copy what is new; 1 where something was left out, in words."""
    with open(said, encoding="utf-8") as file:
        folder = file.readline().rstrip("\n")
    try:
        source = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        # The first job makes it.
        return 0
    left_out = []
    kept = set()
    room = MOST_BYTES
    # Names begin with the time of their start: the newest first.
    for name in sorted(os.listdir(source), reverse=True):
        if not name.endswith(".jsonl"):
            continue
        if not _NAME.fullmatch(name):
            left_out.append(f"{name!r} is no name of records")
        elif room <= 0:
            left_out.append(f"{name} and older ones: the newer ones have {MOST_BYTES >> 20} MiB")
            break
        else:
            try:
                descriptor = _opened(source, name)
            except OSError as error:
                left_out.append(f"{name}: {error.strerror}")
                continue
            kept.add(name)
            with os.fdopen(descriptor, "rb") as records:
                size = _copy(records, os.path.join(copies, name))
                if os.fstat(descriptor).st_size > MOST_BYTES_OF_A_FILE:
                    left_out.append(f"what {name} has beyond {MOST_BYTES_OF_A_FILE >> 20} MiB")
            room -= size
    os.close(source)
    for name in set(os.listdir(copies)) - kept:
        os.unlink(os.path.join(copies, name))
    if left_out:
        print("left out: " + "; ".join(left_out), file=sys.stderr)
    return 1 if left_out else 0


def _opened(source: int, name: str) -> int:
    # Without waiting: it may be a pipe that nobody writes.
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=source)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no file, or one with several names")
    return descriptor


def _copy(records: BinaryIO, copy: str) -> int:
    """Bring a copy up to date and return its size."""
    wanted = min(os.fstat(records.fileno()).st_size, MOST_BYTES_OF_A_FILE)
    with open(copy, "ab") as file:
        size = os.fstat(file.fileno()).st_size
        if size > wanted:
            file.truncate(0)
            size = 0
        records.seek(size)
        while size < wanted and (part := records.read(min(_AT_ONCE, wanted - size))):
            file.write(part)
            size += len(part)
    return size


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
