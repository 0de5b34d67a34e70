#!/usr/bin/env python3
"""Puts the figures of jobs of a Kubernetes cluster into CloudWatch, once: of all, and of each namespace.

Runs in a container of the user's choice, with python3 and either boto3 or the AWS CLI. A job asks for
accelerators. Those that run are groups of running pods with one owner, such as a PyTorchJob; a pod without
owner is a job by itself. What waits and what was preempted Kueue says, where it is installed; else pods that
nobody has started yet wait, and nobody knows of preemptions. A figure that cannot be found out is not put:
no data is not an idle fleet.

Environment: NAMESPACE, CLUSTER, CLUSTER_DIMENSION, QUEUE_DIMENSION, MINUTES between two checks, AWS_REGION,
and FIGURES: as JSON, name and unit of each metric.
"""

from __future__ import annotations

import json
import os
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import datetime
from typing import Any

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
ACCELERATORS = re.compile(
    r"nvidia\.com/(gpu|mig-.+)|aws\.amazon\.com/neuron(core|device)?|vpc\.amazonaws\.com/efa"
)
PAGE = 500
SECONDS = 30
# CloudWatch takes more in one call, but the AWS CLI gets them as one argument, which Linux limits to 128 KiB.
BATCH = 200

KUEUE = "kueue.x-k8s.io"
WORKLOADS = "workloads"
LOCAL_QUEUES = "localqueues"
ADMITTED = "Admitted"
FINISHED = "Finished"
EVICTED = "Evicted"
PREEMPTED = "Preempted"
REQUEUED = "Requeued"

LONGEST = ("longest_wait", "longest_run")
REFUSED = "CloudWatch takes no figures of jobs: {}; see the role of the service account"
FAULTS = (OSError, KeyError, TypeError, ValueError)


def ask(path: str, query: dict[str, str] | None = None) -> dict[str, Any]:
    """Return what the Kubernetes API answers."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    address = f"https://{f'[{host}]' if ':' in host else host}:{port}{path}"
    if query:
        address += f"?{urllib.parse.urlencode(query)}"
    trusted = ssl.create_default_context(cafile=f"{ACCOUNT}/ca.crt")
    with open(f"{ACCOUNT}/token", encoding="utf-8") as file:
        token = file.read().strip()
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, context=trusted, timeout=SECONDS) as answer:
        said: dict[str, Any] = json.load(answer)
    return said


def every(path: str, **query: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list, of all namespaces."""
    query["limit"] = str(PAGE)
    while True:
        page = ask(path, query)
        yield from page["items"]
        if not page["metadata"].get("continue"):
            return
        query["continue"] = page["metadata"]["continue"]


def kueue_version() -> str | None:
    """Return the version in which workloads and local queues are served; None without Kueue."""
    try:
        group = ask(f"/apis/{KUEUE}")
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise
    for version in group["versions"]:
        found: str = version["groupVersion"]
        if {WORKLOADS, LOCAL_QUEUES} <= {one["name"] for one in ask(f"/apis/{found}")["resources"]}:
            return found
    raise ValueError(f"no version of {KUEUE} has both {WORKLOADS} and {LOCAL_QUEUES}")


def moment(written: str) -> float:
    """Return a time of Kubernetes in seconds since 1970."""
    return datetime.fromisoformat(written.replace("Z", "+00:00")).timestamp()


def asks_for_accelerators(pod: dict[str, Any]) -> bool:
    """Whether the specification of a pod does."""
    asked = {
        name
        for container in pod["containers"]
        for name, quantity in container.get("resources", {}).get("limits", {}).items()
        if str(quantity) != "0"
    }
    return any(ACCELERATORS.fullmatch(name) for name in asked)


def jobs_of(phase: str) -> dict[tuple[str, str], float]:
    """Return when each job began, by namespace and owner, of pods in one phase.

    That is when the first of its pods started, or was made, for those that did not. A pod with scheduling
    gates is held.
    """
    begun: dict[tuple[str, str], float] = {}
    for pod in every("/api/v1/pods", fieldSelector=f"status.phase={phase}"):
        if not asks_for_accelerators(pod["spec"]) or pod["spec"].get("schedulingGates"):
            continue
        about = pod["metadata"]
        owners = [owner["uid"] for owner in about.get("ownerReferences", []) if owner.get("controller")]
        job = about["namespace"], owners[0] if owners else about["name"]
        started = pod["status"].get("startTime") if phase == "Running" else None
        since = moment(about["creationTimestamp"] if started is None else started)
        begun[job] = min(since, begun.get(job, since))
    return begun


def conditions(workload: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Conditions of a workload by type."""
    return {one["type"]: one for one in workload.get("status", {}).get("conditions", [])}


def holds(condition: dict[str, Any] | None) -> bool:
    """Whether there is such a condition, and it is true."""
    return condition is not None and condition["status"] == "True"


def waiting_since(workload: dict[str, Any]) -> float | None:
    """Return since when a workload waits for its admission; None for one that does not.

    One that its owner deactivated does not wait. Kueue says that a workload is not admitted only once it has
    lost its admission, and that it was requeued once it may be admitted again: its wait begins anew then.
    """
    said = conditions(workload)
    if (
        workload["spec"].get("active", True) is False
        or holds(said.get(FINISHED))
        or holds(said.get(ADMITTED))
    ):
        return None
    begins = [workload["metadata"]["creationTimestamp"]]
    begins += [said[ADMITTED]["lastTransitionTime"]] if ADMITTED in said else []
    begins += [said[REQUEUED]["lastTransitionTime"]] if holds(said.get(REQUEUED)) else []
    return max(moment(begin) for begin in begins)


def preempted_at(workload: dict[str, Any]) -> float | None:
    """Return when a workload was preempted last; None where that is not known, or never happened.

    Once it has quota again, Kueue clears the conditions that say so; that it was requeued stays.
    """
    said = conditions(workload)
    marks = [said.get(PREEMPTED), said.get(EVICTED)]
    if not holds(said.get(EVICTED)):
        marks.append(said.get(REQUEUED))
    for mark in marks:
        if mark is not None and holds(mark) and (mark["type"] == PREEMPTED or mark["reason"] == PREEMPTED):
            return moment(mark["lastTransitionTime"])
    return None


def in_seconds(jobs: dict[tuple[str, str], float], now: float) -> list[tuple[str, float]]:
    """Return namespace and seconds of each job that began at a time."""
    return [(namespace, max(now - begun, 0)) for (namespace, _), begun in jobs.items()]


def from_kueue(version: str, now: float, minutes: int) -> tuple[dict[str, list[tuple[str, float]]], set[str]]:
    """Return jobs by what Kueue says of them, and the namespaces of its queues.

    Preemptions are those of the last full interval of the clock, so that two checks never have one in common
    and none falls between two, however late a check starts within its interval.
    """
    end = now - now % (60 * minutes)
    waiting, preempted = [], []
    for workload in every(f"/apis/{version}/{WORKLOADS}"):
        if not any(
            asks_for_accelerators(one["template"]["spec"]) for one in workload["spec"].get("podSets", ())
        ):
            continue
        namespace = workload["metadata"]["namespace"]
        since, last = waiting_since(workload), preempted_at(workload)
        if since is not None:
            waiting.append((namespace, max(now - since, 0)))
        if last is not None and end - 60 * minutes <= last < end:
            preempted.append((namespace, now - last))
    queues = {queue["metadata"]["namespace"] for queue in every(f"/apis/{version}/{LOCAL_QUEUES}")}
    return {"pending": waiting, "longest_wait": waiting, "preempted": preempted}, queues


def from_pods(running: set[tuple[str, str]], now: float) -> dict[str, list[tuple[str, float]]]:
    """Return jobs none of whose pods runs yet, where there is no Kueue."""
    jobs = {job: begun for job, begun in jobs_of("Pending").items() if job not in running}
    waiting = in_seconds(jobs, now)
    return {"pending": waiting, "longest_wait": waiting}


def data_of(known: dict[str, list[tuple[str, float]]], queues: set[str]) -> list[dict[str, Any]]:
    """Return what CloudWatch gets: each figure that is known, of all jobs and of each queue."""
    figures = json.loads(os.environ["FIGURES"])
    cluster = {"Name": os.environ["CLUSTER_DIMENSION"], "Value": os.environ["CLUSTER"]}
    made = []
    for queue in (None, *sorted(queues.union(*({of for of, _ in jobs} for jobs in known.values())))):
        dimensions = [cluster]
        if queue is not None:
            dimensions.append({"Name": os.environ["QUEUE_DIMENSION"], "Value": queue})
        for figure, jobs in known.items():
            seconds = [seconds for of, seconds in jobs if queue in (None, of)]
            name, unit = figures[figure]
            value = round(max(seconds, default=0)) if figure in LONGEST else len(seconds)
            made.append({"MetricName": name, "Dimensions": dimensions, "Value": value, "Unit": unit})
    return made


def put(data: list[dict[str, Any]]) -> None:
    """Put figures, with what the image has."""
    namespace, region = os.environ["NAMESPACE"], os.environ["AWS_REGION"]
    batches = [data[begin : begin + BATCH] for begin in range(0, len(data), BATCH)]
    try:
        import boto3
    except ImportError:
        command = ["aws", "cloudwatch", "put-metric-data", "--region", region, "--namespace", namespace]
        for batch in batches:
            subprocess.run(
                [*command, "--metric-data", json.dumps(batch)],
                check=True,
                capture_output=True,
                text=True,
                timeout=2 * SECONDS,
            )
        return
    client = boto3.client("cloudwatch", region_name=region)
    for batch in batches:
        client.put_metric_data(Namespace=namespace, MetricData=batch)


def main() -> int:
    """Measure and put; 1 where any of it could not be done."""
    now = time.time()
    try:
        running = jobs_of("Running")
    except FAULTS as error:
        print(f"cannot count running jobs, nothing is put: {error!r}; may the service account list pods?")
        return 1
    known = dict.fromkeys(("running", "longest_run"), in_seconds(running, now))
    queues: set[str] = set()
    problem = None
    try:
        version = kueue_version()
        if version is None:
            known.update(from_pods(set(running), now))
        else:
            found, queues = from_kueue(version, now, int(os.environ["MINUTES"]))
            known.update(found)
    except FAULTS as error:
        problem = (
            f"cannot tell which jobs wait, only those that run are put: {error!r}; may the service account "
            f"list pods, and {WORKLOADS} and {LOCAL_QUEUES} of {KUEUE}?"
        )
    data = data_of(known, queues)
    try:
        put(data)
    except FileNotFoundError:
        problem = "the image has neither boto3 nor the AWS CLI, nothing is put: choose one that has"
    except subprocess.CalledProcessError as error:
        problem = REFUSED.format(error.stderr.strip())
    except subprocess.TimeoutExpired as error:
        problem = REFUSED.format(f"no answer within {error.timeout:g} seconds")
    except Exception as error:  # boto3 and its errors are not there to be named
        problem = REFUSED.format(repr(error))
    if problem is not None:
        print(problem)
        return 1
    print(", ".join(f"{one['MetricName']}: {one['Value']}" for one in data if len(one["Dimensions"]) == 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
