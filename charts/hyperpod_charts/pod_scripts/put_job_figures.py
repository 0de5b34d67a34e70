#!/usr/bin/env python3
"""Puts the number of running jobs of a Kubernetes cluster into CloudWatch, once.

Runs in a container of the user's choice, with python3 and either boto3 or the AWS CLI. A job is a group of
running pods that ask for accelerators and have one owner, such as a PyTorchJob; one without owner is a job by
itself. Where that cannot be found out, nothing is put: no data is not an idle fleet.

Environment: NAMESPACE, METRIC, DIMENSION, CLUSTER, AWS_REGION.
"""

from __future__ import annotations

import json
import os
import re
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
ACCELERATORS = re.compile(
    r"nvidia\.com/(gpu|mig-.+)|aws\.amazon\.com/neuron(core|device)?|vpc\.amazonaws\.com/efa"
)
PAGE = 500
SECONDS = 30
REFUSED = "CloudWatch takes no number of jobs: {}; see the role of the service account"


def running_pods() -> Iterator[dict[str, Any]]:
    """Yield the running pods of all namespaces."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    address = f"https://{f'[{host}]' if ':' in host else host}:{port}/api/v1/pods"
    trusted = ssl.create_default_context(cafile=f"{ACCOUNT}/ca.crt")
    with open(f"{ACCOUNT}/token", encoding="utf-8") as file:
        token = file.read().strip()
    query = {"fieldSelector": "status.phase=Running", "limit": str(PAGE)}
    while True:
        request = urllib.request.Request(
            f"{address}?{urllib.parse.urlencode(query)}", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request, context=trusted, timeout=SECONDS) as answer:
            page = json.load(answer)
        yield from page["items"]
        if not page["metadata"].get("continue"):
            return
        query["continue"] = page["metadata"]["continue"]


def job_of(pod: dict[str, Any]) -> tuple[str, str] | None:
    """Return what the pods of one job have in common, or None for a pod that asks for no accelerator."""
    asked = {
        name
        for container in pod["spec"]["containers"]
        for name, quantity in container.get("resources", {}).get("limits", {}).items()
        if str(quantity) != "0"
    }
    if not any(ACCELERATORS.fullmatch(name) for name in asked):
        return None
    about = pod["metadata"]
    owners = [owner["uid"] for owner in about.get("ownerReferences", []) if owner.get("controller")]
    return about["namespace"], owners[0] if owners else about["name"]


def put(jobs: int) -> None:
    """Put the number of jobs, with what the image has."""
    namespace, metric, dimension, cluster = (
        os.environ[name] for name in ("NAMESPACE", "METRIC", "DIMENSION", "CLUSTER")
    )
    region = os.environ["AWS_REGION"]
    try:
        import boto3
    except ImportError:
        command = ["aws", "cloudwatch", "put-metric-data", "--region", region, "--namespace", namespace]
        command += ["--metric-name", metric, "--dimensions", f"{dimension}={cluster}"]
        command += ["--value", str(jobs), "--unit", "Count"]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=2 * SECONDS)
        return
    data = {
        "MetricName": metric,
        "Dimensions": [{"Name": dimension, "Value": cluster}],
        "Value": jobs,
        "Unit": "Count",
    }
    boto3.client("cloudwatch", region_name=region).put_metric_data(Namespace=namespace, MetricData=[data])


def main() -> int:
    """Count and put; 1 where nothing could be put."""
    try:
        jobs = len({job for pod in running_pods() if (job := job_of(pod)) is not None})
    except (OSError, KeyError, ValueError) as error:
        print(f"cannot count running jobs, nothing is put: {error!r}; may the service account list pods?")
        return 1
    try:
        put(jobs)
    except FileNotFoundError:
        print("the image has neither boto3 nor the AWS CLI, nothing is put: choose one that has")
        return 1
    except subprocess.CalledProcessError as error:
        print(
            f"CloudWatch takes no number of jobs: {error.stderr.strip()}; see the role of the service account"
        )
        return 1
    except Exception as error:  # boto3 and its errors are not there to be named
        print(REFUSED.format(repr(error)))
        return 1
    print(f"running jobs: {jobs}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
