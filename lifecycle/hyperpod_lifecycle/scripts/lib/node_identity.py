#!/usr/bin/env python3
"""Says which node of the cluster this is: prints JSON with cluster, group, instance and the mounts it needs.

Usage: node_identity.py RESOURCE_CONFIG PARAMETERS ADDRESS...

PARAMETERS may be absent. Needs nothing but the standard library of the node's own Python.
"""

import json
import os
import sys


def main(resource_config: str, parameters_file: str, *addresses: str) -> int:
    """Print the node whose address is among the given ones."""
    with open(resource_config, encoding="utf-8-sig") as file:
        config = json.load(file)
    required = None
    if os.path.exists(parameters_file):
        with open(parameters_file, encoding="utf-8-sig") as file:
            required = json.load(file).get("required_mounts")
    for group in config["InstanceGroups"]:
        # A group without instances may have null there.
        for instance in group.get("Instances") or ():
            if instance.get("CustomerIpAddress") in addresses:
                node = {
                    "cluster_arn": config["ClusterConfig"]["ClusterArn"],
                    "cluster_name": config["ClusterConfig"]["ClusterName"],
                    "instance_group": group["Name"],
                    "instance_id": instance["InstanceId"],
                    "instance_name": instance.get("InstanceName"),
                    "instance_type": group["InstanceType"],
                    "ip_address": instance["CustomerIpAddress"],
                    "required_mounts": required.get(group["Name"], []) if isinstance(required, dict) else [],
                }
                print(json.dumps(node, indent=2, sort_keys=True))
                return 0
    print("no instance has one of the addresses " + " ".join(addresses), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
