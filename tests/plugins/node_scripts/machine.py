"""What nodes are made of: instances, files, file systems, parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ACCOUNT = "111122223333"
CLUSTER_ARN = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:cluster/abcdefghijkl"

GROUPS: dict[str, tuple[str, dict[str, str]]] = {
    "controller": ("ml.m5.2xlarge", {"controller-1": "10.1.0.10"}),
    "login": ("ml.m5.4xlarge", {"login-1": "10.1.0.20"}),
    "workers": ("ml.p5.48xlarge", {"workers-1": "10.1.1.1", "workers-2": "10.1.1.2"}),
}
"""Instance type, and address of each instance, by group."""

RESOURCE_CONFIG = {
    "ClusterConfig": {"ClusterArn": CLUSTER_ARN, "ClusterName": "llm-train"},
    "InstanceGroups": [
        {
            "Name": group,
            "InstanceType": instance_type,
            "Instances": [
                {
                    "InstanceName": name,
                    "AgentIpAddress": address.replace("10.1.", "172.16."),
                    "CustomerIpAddress": address,
                    "InstanceId": f"i-0{name.replace('-', '')}",
                }
                for name, address in instances.items()
            ],
        }
        for group, (instance_type, instances) in GROUPS.items()
    ],
}

FSX = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
OPENZFS = "fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com"

LUSTRE = {"type": "lustre", "dns_name": FSX, "mount_name": "abcdefgh", "mount_path": "/fsx"}
HOMES = {"type": "openzfs", "dns_name": OPENZFS, "volume_path": "/fsx", "mount_path": "/home"}

USERS = "alice,2001,/fsx/alice\nbob,2002,/fsx/bob\n"


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What is on a node before its first script runs.

    Attributes:
        name: In words.
        entry_point: Script that HyperPod runs there.
        address: The node's address in the VPC.
        parameters: What the cluster's specification renders; None where the cluster renders nothing.
        files: Content by path on the node. What begins with ``#!`` is executable.
        links: Target by path on the node.
        folders: Empty folders of the node.
    """

    name: str
    entry_point: str
    address: str
    parameters: Mapping[str, Any] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ("/tmp", "/sys/class/infiniband", "/opt/sagemaker")


MACHINE = {
    "/opt/ml/config/resource_config.json": json.dumps(RESOURCE_CONFIG),
    "/proc/self/mounts": "/dev/root / ext4 rw 0 0\n",
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\nubuntu:x:1000:1000::/home/ubuntu:/bin/bash\n",
    "/etc/group": "root:x:0:\nubuntu:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    # As it is on Ubuntu: no line end at the end.
    "/etc/fstab": "LABEL=cloudimg-rootfs / ext4 discard,errors=remount-ro 0 1",
    "/etc/skel/.bashrc": "# ~/.bashrc\n",
    "/etc/ssh/ssh_host_ed25519_key.pub": "ssh-ed25519 AAAAC3NzaHost root@node\n",
}
"""What every node has before its first script."""

EFA_CARDS = {f"/sys/class/infiniband/rdmap{number}s0/device/vendor": "0x1d0f\n" for number in range(32)}

MOUNTED_BY_HYPERPOD = {
    "/proc/self/mounts": (
        "/dev/root / ext4 rw 0 0\n"
        "10.1.2.3@tcp:/abcdefgh /fsx lustre rw,noatime,flock 0 0\n"
        f"{OPENZFS}:/fsx /home nfs4 rw 0 0\n"
    ),
    "/fsx/hyperpod/users.csv": USERS,
}

JOB_FIGURES = {
    "group": "controller",
    "minutes": 10,
    "namespace": "/aws/sagemaker/Clusters",
    "figures": {
        "running": ["RunningJobs", "Count"],
        "pending": ["PendingJobs", "Count"],
        "preempted": ["PreemptedJobs", "Count"],
        "longest_wait": ["LongestWait", "Seconds"],
        "longest_run": ["LongestRun", "Seconds"],
    },
    "cluster_dimension": "ClusterName",
    "queue_dimension": "Queue",
    "other_waits": ["BeginTime", "Dependency", "DependencyNeverSatisfied", "JobArrayTaskLimit"],
}

PARAMETERS = {
    "orchestrator": "slurm",
    "required_mounts": {group: ["/fsx", "/home"] for group in GROUPS},
    "efa_interfaces": {"ml.p5.48xlarge": 32},
    "users_file": "/fsx/hyperpod/users.csv",
    "shared_folder": "/fsx/hyperpod",
    "log_shipping": {"files": {"slurmd": "/var/log/slurm/slurmd.log"}},
    "gpus": {"ml.p5.48xlarge": 8},
    "job_figures": JOB_FIGURES,
}

AGENT_CONTROL = "/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl"

CLOUDWATCH_AGENT = {
    AGENT_CONTROL: """#!/bin/sh
# Stand-in for amazon-cloudwatch-agent-ctl: keeps a copy of the configuration that it is given.
set -eu
for argument in "$@"; do
  case $argument in
    file:*) cp "${argument#file:}" "$PROVISION_ROOT/opt/aws/amazon-cloudwatch-agent/taken.json" ;;
  esac
done
""",
}
