#!/usr/bin/env python3
"""Prints what job_figures.py needs, from this node's facts and the cluster's parameters.

Usage: job_figures_parameters.py NODE_FILE PARAMETERS_FILE

Needs nothing but the standard library of the node's own Python.
"""

import json
import sys


def main(node_file: str, parameters_file: str) -> int:
    """Print the parameters."""
    with open(node_file, encoding="utf-8") as file:
        node = json.load(file)
    with open(parameters_file, encoding="utf-8") as file:
        said = json.load(file)["job_figures"]
    wanted = {
        "cluster": node["cluster_name"],
        "cluster_dimension": said["cluster_dimension"],
        "figures": said["figures"],
        "minutes": said["minutes"],
        "namespace": said["namespace"],
        "other_waits": said["other_waits"],
        "queue_dimension": said["queue_dimension"],
        "region": node["cluster_arn"].split(":")[3],
    }
    print(json.dumps(wanted, indent=2, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
