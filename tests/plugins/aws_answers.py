"""A stand-in for AWS's endpoints: answers what a test says, over HTTP, and keeps what was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = Mapping[str, Any]
Answer = Mapping[str, Any] | Callable[[Request], Mapping[str, Any]]

REGION = "us-west-2"
CLUSTER_ARN = f"arn:aws:sagemaker:{REGION}:111122223333:cluster/abcdefgh1234"
LAUNCHED = datetime(2026, 11, 30, 3, 0, tzinfo=UTC).timestamp()


@dataclass
class AwsAnswers:
    """What is answered, and what was asked.

    Attributes:
        answers: By operation; of a list one after the other, the last one again and again.
        asked: Operation and request, in order.
        endpoint: The address.
    """

    answers: dict[str, Answer | list[Answer]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    endpoint: str = ""

    def requests(self, operation: str) -> list[dict[str, Any]]:
        return [request for name, request in self.asked if name == operation]

    def answer(self, operation: str, request: dict[str, Any]) -> Mapping[str, Any]:
        self.asked.append((operation, request))
        found = self.answers[operation]
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        return found(request) if callable(found) else found


def error(code: str, message: str = "said the test", status: int = 400) -> Answer:
    return {"__type": code, "message": message, "__status": status}


def cluster(**members: Any) -> dict[str, Any]:
    """Return what DescribeCluster says of a Slurm cluster with a controller and two workers."""
    return {
        "ClusterArn": CLUSTER_ARN,
        "ClusterName": "llm-train",
        "ClusterStatus": "InService",
        "NodeRecovery": "Automatic",
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Slurm": {}},
        "InstanceGroups": [
            group("controller", 1, "ml.m5.2xlarge", SlurmConfig={"NodeType": "Controller"}),
            group("workers", 2, SlurmConfig={"NodeType": "Compute"}),
        ],
        **members,
    }


def group(name: str, count: int, instance_type: str = "ml.p5.48xlarge", **members: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "CurrentCount": count,
        "TargetCount": count,
        "Status": "InService",
        **members,
    }


def instance_id(group: str, number: int) -> str:
    """Return the id of an instance: the same for the same name, and another one for another."""
    return f"i-{sum(map(ord, group)):08x}{number:09x}"


def node(group: str, number: int, status: str = "Running", **members: Any) -> dict[str, Any]:
    """Return what ListClusterNodes says of a node."""
    return {
        "InstanceGroupName": group,
        "InstanceId": instance_id(group, number),
        "InstanceType": "ml.m5.2xlarge" if group == "controller" else "ml.p5.48xlarge",
        "LaunchTime": LAUNCHED + number,
        "InstanceStatus": {"Status": status, "Message": ""},
        "PrivateDnsHostname": f"ip-10-{len(group)}-0-{number}.us-west-2.compute.internal",
        "NodeLogicalId": f"node-{group}{number}",
        **members,
    }


def usual() -> dict[str, Answer | list[Answer]]:
    """Return the answers of a healthy cluster."""
    nodes = [node("controller", 1), node("workers", 1), node("workers", 2)]
    return {
        "DescribeCluster": cluster(),
        "ListClusterNodes": {"ClusterNodeSummaries": nodes},
        "FilterLogEvents": {"events": []},
    }


@contextmanager
def answering(answers: dict[str, Answer | list[Answer]]) -> Iterator[AwsAnswers]:
    """Answer, until the block ends."""
    kept = AwsAnswers(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            self._send(kept.answer(operation, json.loads(body)))

        def do_GET(self) -> None:
            self._send(kept.answer(f"GET {self.path}", {}))

        def _send(self, told: Mapping[str, Any]) -> None:
            body = json.dumps({key: value for key, value in told.items() if key != "__status"}).encode()
            self.send_response(told.get("__status", 200))
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    kept.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def environment(endpoint: str) -> dict[str, str]:
    """Return the environment variables with which clients ask the stand-in, once."""
    return {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
