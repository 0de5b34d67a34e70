"""Pods of a HyperPodPyTorchJob, and the operator's side of the talk with their agents.

A stand-in by the public agent: the operator itself is closed, and its environment is known by what the agent
reads, ``NNODES``.
"""

from __future__ import annotations

import contextlib
import copy
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Self

from operator_double.kubelet import Machine, Pod, free_port

Body = dict[str, Any]

_MOST_SECONDS = 180.0
_PORT_VARIABLE = "OPERATOR_DOUBLE_AGENT_PORT"


class HyperPodOperator:
    """Starts the pods of a job, and has their agents start and stop the training.

    Args:
        job: The HyperPodPyTorchJob.
        machine: Where its pods run.
        replicas: Pods that there is room for. Default all of the first kind of replicas.
    """

    def __init__(self, job: Mapping[str, Any], machine: Machine, *, replicas: int | None = None) -> None:
        self._job, self._machine = job, machine
        self._faults = 0
        self._stack = contextlib.ExitStack()
        self.pods: list[Pod] = []
        self._agents: list[str] = []
        (self._said,) = job["spec"]["replicaSpecs"]
        self._count = self._said["replicas"] if replicas is None else replicas

    def __enter__(self) -> Self:
        for _ in range(self._count):
            self.add_pod()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def add_pod(self) -> Pod:
        """Start one more pod."""
        template = copy.deepcopy(self._said["template"])
        index, port = len(self.pods), free_port()
        own = self._machine.work / f"agent-{index}"
        own.mkdir(exist_ok=True)
        variables = {
            "NNODES": str(self._count),
            _PORT_VARIABLE: str(port),
            # Pods that share a machine share this folder, which is /opt/ml/input/config in each container.
            "PET_RDZV_CONF": f"resource_config_dir={own}",
        }
        for container in template["spec"]["containers"]:
            container.setdefault("env", []).extend(
                {"name": name, "value": value} for name, value in variables.items()
            )
        name = f"{self._job['metadata']['name']}-{self._said['name']}-{index}"
        pod = self._stack.enter_context(Pod(name, template, self._machine))
        self.pods.append(pod)
        self._agents.append(f"http://127.0.0.1:{port}")
        return pod

    def start(self, count: int | None = None) -> None:
        """Have the agents start their processes, once all are ready.

        Args:
            count: Pods that take part, the first ones. Default all.
        """
        members = range(len(self.pods) if count is None else count)
        for index in members:
            self.wait_until(index, "ready")
        port = free_port()
        for index in members:
            self._ask(
                index,
                "start",
                {
                    "rank": index,
                    "nnodes": len(members),
                    "faultCount": self._faults,
                    "master_addr": "127.0.0.1",
                    "master_port": port,
                    "progress": {},
                    "log_monitoring_configuration": self._job["spec"]["runPolicy"].get(
                        "logMonitoringConfiguration"
                    ),
                },
            )

    def stop(self, *, graceful: bool, timeout_seconds: int) -> None:
        """Have all agents that run end their processes.

        Args:
            graceful: Whether the processes are asked to save, as before a change of the job's size.
            timeout_seconds: Seconds until they are killed.
        """
        self._faults += 1
        running = [index for index in range(len(self.pods)) if self.status(index) != "ready"]
        for index in running:
            said = {"restart_mode": "plr", "is_graceful": graceful, "timeout": timeout_seconds}
            self._ask(index, "stop", said)
        for index in running:
            self.wait_until(index, "ready")

    def status(self, index: int) -> str | None:
        """Return what an agent says of itself, None while it does not answer."""
        try:
            status: str = self._said_by(index)["status"]
        except (urllib.error.URLError, ConnectionError):
            return None
        return status

    def reason(self, index: int) -> str | None:
        """Return the reason that an agent gives for its status, None without one.

        Args:
            index: Number of its pod.
        """
        reason: str | None = self._said_by(index).get("reason")
        return reason

    def wait_until(self, index: int, status: str) -> None:
        """Wait for a status of an agent.

        Args:
            index: Number of its pod.
            status: Such as ``ready`` or ``completed``.
        """
        end = time.monotonic() + _MOST_SECONDS
        while (found := self.status(index)) != status:
            log = self.pods[index].log
            assert self.pods[index].code is None, f"ended before {status!r}:\n{log}"
            assert time.monotonic() < end, f"{found!r}, not yet {status!r}:\n{log}"
            time.sleep(0.1)

    def _said_by(self, index: int) -> Body:
        said: Body = json.loads(self._ask(index, "status"))
        return said

    def _ask(self, index: int, verb: str, body: Body | None = None) -> str:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self._agents[index]}/{verb}", data=data, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text: str = answer.read().decode()
            return text
