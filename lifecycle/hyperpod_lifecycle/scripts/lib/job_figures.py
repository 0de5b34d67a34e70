#!/usr/bin/env python3
"""Puts the figures of Slurm's jobs into CloudWatch, once: of all, and of each partition. A timer runs it.

Usage: job_figures.py PARAMETERS_FILE

A task of an array is a job, whether it runs or waits. A job that waits in several partitions is one of each
of them. Jobs that are held, or that their owner lets wait for something else, do not wait. Preempted jobs
come from accounting; where there is none, nobody knows of them.

Puts with the AWS CLI, else with boto3, whichever the node has, and with the role of the node, whose managed
policy allows this namespace. A figure that Slurm does not tell is not put: no data is not an idle fleet.
"""

from __future__ import annotations

import calendar
import json
import os
import re
import subprocess
import sys
import time
from typing import Any

FIELDS = ("Partition", "State", "PriorityLong", "EligibleTime", "StartTime", "Reason")
SQUEUE = [
    *("squeue", "--noheader", "--all", "--array", "--states=PENDING,RUNNING,COMPLETING"),
    f"--Format={','.join(f'{field}:|' for field in FIELDS)}",
]
SINFO = ["sinfo", "--noheader", "--all", "--format=%R"]
CONFIGURATION = ["scontrol", "show", "config"]
# Of a job that was requeued, accounting has the run that gave way only among the duplicates.
SACCT = [
    *("sacct", "--noheader", "--parsable2", "--allusers", "--allocations", "--duplicates"),
    *("--state=PREEMPTED", "--format=Partition,End"),
]
ACCOUNTED = re.compile(r"^AccountingStorageType\s*=\s*accounting_storage/slurmdbd\s*$", re.MULTILINE)
TIME_FORMAT = "%Y-%m-%dT%H:%M:%S"
# slurmctld tells accounting of an end a moment later.
LATE_SECONDS = 60
SECONDS = 60
# CloudWatch takes more in one call, but the AWS CLI gets them as one argument, which Linux limits to 128 KiB.
BATCH = 200
PLACES = "/opt/slurm/bin:/usr/local/bin:/usr/bin:/bin:/snap/bin"
LONGEST = ("longest_wait", "longest_run")
REFUSED = "CloudWatch takes no figures of jobs: {}; see the role of the nodes, and the way to CloudWatch"


def told(error: OSError | ValueError | subprocess.SubprocessError) -> str:
    """Return why a program told nothing: the last line that it wrote."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {error.timeout:g} seconds"
    if isinstance(error, subprocess.CalledProcessError):
        lines = (error.stderr or error.stdout or "").strip().splitlines()
        return str(lines[-1]) if lines else f"exit code {error.returncode}"
    return str(error)


def run(command: list[str]) -> str:
    """Run a program and return what it wrote, with times in UTC."""
    return subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "TZ": "UTC", "SLURM_TIME_FORMAT": "standard"},
    ).stdout


def moment(written: str) -> float | None:
    """Return a time of Slurm in seconds since 1970; None for one that is not known."""
    if written in ("N/A", "NONE", "None", "Unknown"):
        return None
    return calendar.timegm(time.strptime(written, TIME_FORMAT))


def in_queue(now: float, other_waits: list[str]) -> dict[str, list[tuple[list[str], float]]]:
    """Return partitions and seconds of the jobs that run, and of those that wait."""
    running, waiting = [], []
    for line in run(SQUEUE).splitlines():
        partitions, state, priority, eligible, start, reason = line.split("|", 5)
        since = moment(eligible if state == "PENDING" else start)
        if state != "PENDING":
            running.append((partitions.split(","), 0 if since is None else max(now - since, 0)))
            continue
        held = priority == "0" or reason.rstrip("|") in other_waits
        if since is not None and since <= now and not held:
            waiting.append((partitions.split(","), now - since))
    return {"running": running, "longest_run": running, "pending": waiting, "longest_wait": waiting}


def preempted(now: float, minutes: int) -> list[tuple[list[str], float]] | None:
    """Return partitions and seconds of the jobs that gave way in the last full interval.

    None where nobody knows. Intervals are of the clock, so that two checks never have a job in common and
    none falls between two.
    """
    if not ACCOUNTED.search(run(CONFIGURATION)):
        return None
    end = now - now % (60 * minutes) - LATE_SECONDS
    begin = end - 60 * minutes
    first, last = (time.strftime(TIME_FORMAT, time.gmtime(at)) for at in (begin, end))
    found = []
    for line in run([*SACCT, f"--starttime={first}", f"--endtime={last}"]).splitlines():
        partition, written = line.rsplit("|", 1)
        ended = moment(written)
        if ended is not None and begin <= ended < end:
            found.append((partition.split(","), now - ended))
    return found


def data_of(
    known: dict[str, list[tuple[list[str], float]]], partitions: set[str], said: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return what CloudWatch gets: each figure that is known, of all jobs and of each partition."""
    named = {partition for jobs in known.values() for queues, _ in jobs for partition in queues}
    made = []
    for queue in (None, *sorted(partitions | named)):
        dimensions = [{"Name": said["cluster_dimension"], "Value": said["cluster"]}]
        if queue is not None:
            dimensions.append({"Name": said["queue_dimension"], "Value": queue})
        for figure, jobs in known.items():
            seconds = [seconds for queues, seconds in jobs if queue is None or queue in queues]
            name, unit = said["figures"][figure]
            value = round(max(seconds, default=0)) if figure in LONGEST else len(seconds)
            made.append({"MetricName": name, "Dimensions": dimensions, "Value": value, "Unit": unit})
    return made


def put(data: list[dict[str, Any]], said: dict[str, Any]) -> str | None:
    """Put figures; returns an error in words, or None."""
    batches = [data[begin : begin + BATCH] for begin in range(0, len(data), BATCH)]
    command = ["aws", "cloudwatch", "put-metric-data", "--region", said["region"]]
    command += ["--namespace", said["namespace"], "--metric-data"]
    try:
        for batch in batches:
            run([*command, json.dumps(batch)])
        return None
    except FileNotFoundError:
        pass
    except subprocess.SubprocessError as error:
        return REFUSED.format(told(error))
    return put_with_boto3(batches, said)


def put_with_boto3(batches: list[list[dict[str, Any]]], said: dict[str, Any]) -> str | None:
    """As put, where there is no AWS CLI."""
    try:
        import boto3
    except ImportError:
        return (
            "this node has neither the AWS CLI nor boto3, so that nobody is told of an idle fleet: put one "
            "into the image"
        )
    try:
        client = boto3.client("cloudwatch", region_name=said["region"])
        for batch in batches:
            client.put_metric_data(Namespace=said["namespace"], MetricData=batch)
    except Exception as error:  # boto3 and its errors are not there to be named
        return REFUSED.format(error)
    return None


def main(parameters_file: str) -> int:
    """Measure and put; 1 where any of it could not be done."""
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:{PLACES}".lstrip(":")
    with open(parameters_file, encoding="utf-8") as file:
        said = json.load(file)
    now = time.time()
    try:
        known = in_queue(now, said["other_waits"])
    except FileNotFoundError:
        print(
            "there is no squeue on this node, so that nothing is put: does it run slurmctld?", file=sys.stderr
        )
        return 1
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"squeue does not answer, so that nothing is put: {told(error)}", file=sys.stderr)
        return 1
    partitions: set[str] = set()
    problems = []
    try:
        partitions = set(run(SINFO).split())
    except (OSError, subprocess.SubprocessError) as error:
        problems.append(f"sinfo does not answer, so that idle partitions are not put: {told(error)}")
    try:
        given_way = preempted(now, said["minutes"])
        if given_way is not None:
            known["preempted"] = given_way
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        problems.append(f"accounting does not answer, so that preempted jobs are not put: {told(error)}")
    data = data_of(known, partitions, said)
    refused = put(data, said)
    if refused is not None:
        problems.append(refused)
    if problems:
        print("; ".join(problems), file=sys.stderr)
        return 1
    print(", ".join(f"{one['MetricName']}: {one['Value']}" for one in data if len(one["Dimensions"]) == 1))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
