#!/usr/bin/env python3
"""Prints the CloudWatch agent's configuration for files of this node.

Usage: log_shipping.py NODE_FILE FILES

FILES is JSON: path by name, such as {"slurmd": "/var/log/slurm/slurmd.log"}. They go to the log group that
HyperPod makes for the cluster, into streams NAME/GROUP/INSTANCE beside its own
LifecycleConfig/GROUP/INSTANCE. Needs nothing but the standard library of the node's own Python.
"""

import json
import re
import sys

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def main(node_file: str, files_text: str) -> int:
    """Print the configuration."""
    with open(node_file, encoding="utf-8") as file:
        node = json.load(file)
    files = json.loads(files_text)
    for name, path in files.items():
        if not _NAME.fullmatch(name) or not isinstance(path, str) or not path.startswith("/"):
            print(f"needs names with absolute paths, got {name!r}: {path!r}", file=sys.stderr)
            return 1
    arn = node["cluster_arn"]
    group = f"/aws/sagemaker/Clusters/{node['cluster_name']}/{arn.rpartition('/')[2]}"
    place = f"{node['instance_group']}/{node['instance_id']}"
    configuration = {
        "agent": {"region": arn.split(":")[3]},
        "logs": {
            "logs_collected": {
                "files": {
                    "collect_list": [
                        {
                            "file_path": path,
                            "log_group_name": group,
                            "log_stream_name": f"{name}/{place}",
                            "timezone": "UTC",
                        }
                        for name, path in sorted(files.items())
                    ]
                }
            }
        },
    }
    print(json.dumps(configuration, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
