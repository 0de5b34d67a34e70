"""How the time of a synthesis grows with the instance groups of a cluster: 5, 20 and 100 of them.

    .venv/bin/python benchmarks/groups.py

Each measurement is a whole process of ``app.py`` with a cluster that is written for it, on Slurm and on an
EKS cluster that exists. The figures to trust are the ratios: what one more group costs between 20 and 100,
against what it costs between 5 and 20, measured in the same run. 1 is linear. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

import yaml
from synth import BUILD, ROOT, synthesize

from hyperpod_constructs.bundled_node import prefer_bundled_node

COUNTS = (5, 20, 100)


def slurm_cluster(groups: int) -> dict[str, object]:
    """A cluster with a controller and some groups of one small instance."""
    controller = {
        "name": "controller",
        "node_type": "Controller",
        "instance_type": "ml.m5.2xlarge",
        "instance_count": 1,
    }
    workers = [
        {
            "name": f"workers-{number}",
            "node_type": "Compute",
            "partition_names": [f"part{number}"],
            "instance_type": "ml.c5.xlarge",
            "instance_count": 1,
        }
        for number in range(1, groups)
    ]
    return {
        "name": "groups",
        "region": "us-west-2",
        "network": {"availability_zone_id": "usw2-az2"},
        "instance_groups": [controller, *workers],
    }


def eks_cluster(groups: int) -> dict[str, object]:
    """A cluster on an existing EKS cluster with some groups of one small instance."""
    workers = [
        {"name": f"workers-{number}", "instance_type": "ml.c5.xlarge", "instance_count": 1}
        for number in range(groups)
    ]
    return {
        "name": "groups",
        "region": "us-west-2",
        "orchestrator": "eks",
        "eks": {
            "cluster_arn": "arn:aws:eks:us-west-2:111122223333:cluster/training",
            "dependency_chart": {"installed": True},
        },
        "network": {
            "vpc_id": "vpc-0123456789abcdef0",
            "subnet_ids": ["subnet-0123456789abcdef0"],
            "security_group_ids": ["sg-0123456789abcdef0"],
        },
        "file_system": None,
        "instance_groups": workers,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each cluster (default: 5)")
    arguments = parser.parse_args()
    prefer_bundled_node()
    BUILD.mkdir(parents=True, exist_ok=True)
    clusters = {"slurm": slurm_cluster, "eks": eks_cluster}
    seconds: dict[tuple[str, int], list[float]] = {}
    for _ in range(arguments.repetitions):
        for kind, cluster in clusters.items():
            for count in COUNTS:
                seconds.setdefault((kind, count), []).append(run(kind, count, cluster(count)))
    print(f"{arguments.repetitions} runs each, medians of whole processes")
    for kind in clusters:
        few, more, many = (statistics.median(seconds[kind, count]) for count in COUNTS)
        early = (more - few) / (COUNTS[1] - COUNTS[0])
        late = (many - more) / (COUNTS[2] - COUNTS[1])
        times = ", ".join(
            f"{count} groups {median:.2f}s" for count, median in zip(COUNTS, (few, more, many), strict=True)
        )
        print(f"{kind:6} {times}; one more group: {early * 1000:.1f} ms, then {late * 1000:.1f} ms")
        print(f"       100 groups / 5 groups = {many / few:.2f}")
    return 0


def run(kind: str, count: int, cluster: dict[str, object]) -> float:
    """Synthesize a cluster and return the seconds it took."""
    file = BUILD / f"{kind}-{count}.yaml"
    file.write_text(yaml.safe_dump(cluster))
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "CDK_VALIDATION": "false",
        "CDK_CONTEXT_JSON": json.dumps({"cluster": str(file)}),
    }
    return synthesize(Path(ROOT / "app.py"), environment).clock


if __name__ == "__main__":
    sys.exit(main())
