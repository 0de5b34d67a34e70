#!/usr/bin/env python3
"""Prints a value of a JSON file: a list one item a line, an object as JSON, nothing where there is none.

Usage: values.py FILE KEY...

Needs nothing but the standard library of the node's own Python.
"""

import json
import os
import sys


def _in_words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def main(path: str, *keys: str) -> int:
    """Print what is under the keys in turn."""
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8-sig") as file:
        value = json.load(file)
    if not isinstance(value, dict):
        print(f"it is no JSON object but {value!r:.40}", file=sys.stderr)
        return 1
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return 0
    for item in value if isinstance(value, list) else [value]:
        print(_in_words(item))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
