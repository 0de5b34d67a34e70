#!/usr/bin/env python3
"""Prints as JSON what the steps found out on this node.

Usage: health_summary.py FOLDER NODE_FILE

Needs nothing but the standard library of the node's own Python.
"""

import json
import os
import sys


def main(folder: str, node_file: str) -> int:
    """Print the findings by name."""
    node = {}
    if os.path.exists(node_file):
        with open(node_file, encoding="utf-8") as file:
            node = json.load(file)
    findings = {}
    for name in sorted(os.listdir(folder)):
        if ".hyperpod-new." in name:
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            state, _, words = file.read().rstrip("\n").partition(" ")
        findings[name] = {"state": state, "words": words}
    summary = {"instance_id": node.get("instance_id"), "findings": findings}
    print(json.dumps(summary, indent=2, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
