#!/usr/bin/env python3
"""Reads the file of users and prints it again, clean: NAME,UID,HOME a line.

Usage: users.py FILE

Everything wrong with the file goes to standard error. Takes the line ends of any editor, a last line without
one, blank lines, and comments that begin with #. Needs nothing but the standard library of the node's own
Python.
"""

from __future__ import annotations

import re
import sys
from pathlib import PurePosixPath

# useradd's own rule; a name that begins with '-' would be an option.
_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_HOME = re.compile(r"(/[A-Za-z0-9_.-]+){2,}")
# Below are the system's users, above those of containers and the like.
_FIRST_UID, _LAST_UID = 1001, 59999
_COLUMNS = 3
# A user's group has the same name, and these make their members root: by /etc/sudoers of Ubuntu and others,
# or by the daemon that lets them in.
_PRIVILEGED = ("admin", "docker", "lxd", "root", "sudo", "wheel")


def main(path: str) -> int:
    """Print the users, or say what is wrong."""
    faults = []
    users: dict[str, tuple[str, str, str]] = {}
    numbers: dict[str, str] = {}
    homes: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = re.split(r"\r\n|\n|\r", file.read())
    except UnicodeDecodeError as error:
        print(f"it is no text in UTF-8: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(error.strerror, file=sys.stderr)
        return 1
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        columns = [column.strip() for column in text.split(",")]
        if len(columns) != _COLUMNS:
            faults.append(f"line {number} needs NAME,UID,HOME, got {text!r}")
            continue
        name, uid, home = columns
        if not _NAME.fullmatch(name):
            faults.append(f"line {number}: {name!r} is no user name (small letters, digits, '_', '-')")
        elif name in _PRIVILEGED:
            faults.append(
                f"line {number}: {name} is the name of a group that may become root; choose another"
            )
        elif not re.fullmatch(r"[1-9][0-9]{0,8}|0", uid) or not _FIRST_UID <= int(uid) <= _LAST_UID:
            faults.append(
                f"line {number}: the number of {name} must be {_FIRST_UID} to {_LAST_UID}, got {uid!r}"
            )
        elif not _HOME.fullmatch(home) or {".", ".."} & set(home.split("/")):
            faults.append(
                f"line {number}: the home of {name} must be a folder such as /fsx/{name}, got {home!r}"
            )
        elif name in users:
            faults.append(f"line {number}: {name} is there twice")
        elif uid in numbers:
            faults.append(f"line {number}: {name} has the number of {numbers[uid]}, {uid}")
        elif home in homes:
            faults.append(f"line {number}: {name} has the home of {homes[home]}, {home}")
        else:
            users[name] = (name, uid, home)
            numbers[uid] = name
            homes[home] = name
    for home, name in homes.items():
        for above in PurePosixPath(home).parents:
            if str(above) in homes:
                # Who has the one could put a link in the way of the other.
                faults.append(f"the home of {name} lies in that of {homes[str(above)]}, {above}")
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    for user in users.values():
        print(",".join(user))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
