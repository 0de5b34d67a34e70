#!/usr/bin/env python3
"""Prints type, DNS name, name on the server and mount path of a file system, a line each.

Usage: file_system.py JSON

Needs nothing but the standard library of the node's own Python.
"""

import json
import re
import sys

_DNS_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_MOUNT_NAME = re.compile(r"[A-Za-z0-9_]+")
_PATH = re.compile(r"(/[A-Za-z0-9_.-]+)+")
_LEGAL = {"dns_name": _DNS_NAME, "mount_name": _MOUNT_NAME, "volume_path": _PATH, "mount_path": _PATH}
_FIELDS = {
    "lustre": ("dns_name", "mount_name", "mount_path"),
    "openzfs": ("dns_name", "volume_path", "mount_path"),
}


def main(text: str) -> int:
    """Print the fields in the order in which the step reads them."""
    given = json.loads(text)
    kind = given.get("type")
    if kind not in _FIELDS:
        print(f"type must be one of {', '.join(_FIELDS)}, got {kind!r}", file=sys.stderr)
        return 1
    values = {"volume_path": "/fsx", **given}
    for name in _FIELDS[kind]:
        value = values.get(name)
        # They end up in /etc/fstab, where a blank or a line end would begin another field or line.
        if not isinstance(value, str) or not _LEGAL[name].fullmatch(value) or ".." in value:
            print(f"{name} of a file system of type {kind} cannot be {value!r}", file=sys.stderr)
            return 1
    print("\n".join([kind, *(values[name] for name in _FIELDS[kind])]))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
