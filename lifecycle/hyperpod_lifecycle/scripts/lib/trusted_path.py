#!/usr/bin/env python3
"""Tells whether root alone decides what a path leads to; says what is in the way, and ends with 1, where not.

Usage: trusted_path.py TOP PATH

Follows PATH, which lies below TOP, name by name and link by link. Each name must be root's. Nobody else may
write a folder on the way, but for a sticky one, where nobody replaces what is another's; nor may anybody else
write what PATH leads to. What is not there yet ends the way. Needs nothing but the standard library of the
node's own Python.
"""

from __future__ import annotations

import os
import stat
import sys

_MOST_LINKS = 40
_NOBODY = 65534


def fault_of(top: str, path: str) -> str | None:
    """Say which place is not root's alone, or None."""
    place = top or "/"
    names = path.split("/")
    links = 0
    while names:
        name = names.pop(0)
        if name in ("", "."):
            continue
        if name == "..":
            place = os.path.dirname(place)
            continue
        here = os.path.join(place, name)
        try:
            status = os.lstat(here)
        except FileNotFoundError:
            return None
        shown = here.removeprefix(top)
        if status.st_uid == _NOBODY:
            return (
                f"{shown} belongs to nobody (user {_NOBODY}), as where a file system squashes root: export "
                "it with no_root_squash, then make this root's (chown root)"
            )
        if status.st_uid not in (0, os.geteuid()):
            return f"{shown} belongs to user {status.st_uid}: make it root's (chown root)"
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > _MOST_LINKS:
                return f"{shown} is a link in a circle"
            target = os.readlink(here)
            place = "/" if target.startswith("/") else place
            names = [*target.split("/"), *names]
            continue
        is_sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not (is_sticky and any(names)):
            way = "chmod +t" if any(names) else "chmod go-w"
            return f"{shown} can be written by others than root: run {way} on it"
        place = here
    return None


def main(top: str, path: str) -> int:
    """Print what is in the way."""
    fault = fault_of(top, path.removeprefix(top))
    if fault is not None:
        print(fault)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
