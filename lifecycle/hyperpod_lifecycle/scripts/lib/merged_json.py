#!/usr/bin/env python3
"""Prints a JSON object with some members set, and all others as they were.

Usage: merged_json.py FILE NAME=VALUE...

FILE may be absent or empty. Needs nothing but the standard library of the node's own Python.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main(path: str, *members: str) -> int:
    """Print the object."""
    found: dict[str, Any] = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
        found = json.loads(text) if text.strip() else {}
    for member in members:
        name, _, value = member.partition("=")
        found[name] = value
    print(json.dumps(found, indent=2, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
