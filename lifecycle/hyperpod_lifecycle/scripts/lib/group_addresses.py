#!/usr/bin/env python3
"""Prints the addresses of the instances of a group in the VPC, one a line.

Usage: group_addresses.py RESOURCE_CONFIG GROUP

Needs nothing but the standard library of the node's own Python.
"""

import json
import sys


def main(resource_config: str, group: str) -> int:
    """Print the addresses; none for a group without instances."""
    with open(resource_config, encoding="utf-8-sig") as file:
        config = json.load(file)
    for found in config["InstanceGroups"]:
        if found["Name"] == group:
            for instance in found.get("Instances") or ():
                print(instance["CustomerIpAddress"])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
