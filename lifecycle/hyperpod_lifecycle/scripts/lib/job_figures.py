#!/usr/bin/env python3
"""Puts the number of running Slurm jobs into CloudWatch, once. A timer of the controller runs it.

Usage: job_figures.py PARAMETERS_FILE

With the AWS CLI, else with boto3, whichever the node has, and with the role of the node, whose managed
policy allows this namespace. Where squeue does not answer, nothing is put: no data is not an idle fleet.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

SQUEUE = ["squeue", "--noheader", "--states=RUNNING,COMPLETING", "--format=%i"]
SECONDS = 60
PLACES = "/opt/slurm/bin:/usr/local/bin:/usr/bin:/bin:/snap/bin"
REFUSED = "CloudWatch takes no number of jobs: {}; see the role of the nodes, and the way to CloudWatch"


def told(error: subprocess.CalledProcessError | subprocess.TimeoutExpired) -> str:
    """Return the last line that a failed program wrote."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {error.timeout:g} seconds"
    lines = (error.stderr or error.stdout or "").strip().splitlines()
    return str(lines[-1]) if lines else f"exit code {error.returncode}"


def run(command: list[str]) -> str:
    """Run a program and return what it wrote."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS).stdout


def put(jobs: int, said: dict[str, str]) -> str | None:
    """Put the number; returns an error in words, or None."""
    command = ["aws", "cloudwatch", "put-metric-data", "--region", said["region"]]
    command += ["--namespace", said["namespace"], "--metric-name", said["metric"]]
    command += ["--dimensions", f"{said['dimension']}={said['cluster']}"]
    command += ["--value", str(jobs), "--unit", "Count"]
    try:
        run(command)
        return None
    except FileNotFoundError:
        pass
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return REFUSED.format(told(error))
    return put_with_boto3(jobs, said)


def put_with_boto3(jobs: int, said: dict[str, str]) -> str | None:
    """As put, where there is no AWS CLI."""
    try:
        import boto3
    except ImportError:
        return (
            "this node has neither the AWS CLI nor boto3, so that nobody is told of an idle fleet: put one "
            "into the image"
        )
    data: dict[str, Any] = {
        "MetricName": said["metric"],
        "Dimensions": [{"Name": said["dimension"], "Value": said["cluster"]}],
        "Value": jobs,
        "Unit": "Count",
    }
    try:
        client = boto3.client("cloudwatch", region_name=said["region"])
        client.put_metric_data(Namespace=said["namespace"], MetricData=[data])
    except Exception as error:  # boto3 and its errors are not there to be named
        return REFUSED.format(error)
    return None


def main(parameters_file: str) -> int:
    """Count and put; 1 where nothing could be put."""
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:{PLACES}".lstrip(":")
    with open(parameters_file, encoding="utf-8") as file:
        said = json.load(file)
    problem: str | None = None
    jobs = 0
    try:
        jobs = len(set(run(SQUEUE).split()))
    except FileNotFoundError:
        problem = "there is no squeue on this node, so that nothing is put: does it run slurmctld?"
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        problem = f"squeue does not answer, so that nothing is put: {told(error)}"
    if problem is None:
        problem = put(jobs, said)
    if problem is not None:
        print(problem, file=sys.stderr)
        return 1
    print(f"running jobs: {jobs}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
