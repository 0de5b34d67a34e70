#!/usr/bin/env python3
"""Prints the CloudWatch agent's configuration for files of this node.

Usage: log_shipping.py NODE_FILE FILES [RECORDS_FOLDER]

FILES is JSON: path by name, such as {"slurmd": "/var/log/slurm/slurmd.log"}; RECORDS_FOLDER has copies of the
resume library's records, see gather_records.py. Files go to the log group that HyperPod makes for the
cluster, into streams NAME/GROUP/INSTANCE beside its own LifecycleConfig/GROUP/INSTANCE. Each start of a job
writes a file of records: all of them go, each into a stream whose name begins with recovery/GROUP/INSTANCE.
Needs nothing but the standard library of the node's own Python.
"""

import json
import re
import sys

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def main(node_file: str, files_text: str, records_folder: str = "") -> int:
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
    collected = [
        {
            "file_path": path,
            "log_group_name": group,
            "log_stream_name": f"{name}/{place}",
            "timezone": "UTC",
        }
        for name, path in sorted(files.items())
    ]
    if records_folder:
        if not records_folder.startswith("/"):
            print(f"needs an absolute folder of records, got {records_folder!r}", file=sys.stderr)
            return 1
        collected.append(
            {
                "file_path": f"{records_folder.rstrip('/')}/*.jsonl",
                "log_group_name": group,
                "log_stream_name": f"recovery/{place}",
                # Without it the agent sends the file alone that was changed last.
                "publish_multi_logs": True,
                "timezone": "UTC",
            }
        )
    configuration = {
        "agent": {"region": arn.split(":")[3]},
        "logs": {"logs_collected": {"files": {"collect_list": collected}}},
    }
    print(json.dumps(configuration, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
