"""Pods of a PyTorchJob, as the Kubeflow training operator makes them."""

from __future__ import annotations

import contextlib
import copy
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

from operator_double.kubelet import Machine, Pod, free_port

Body = dict[str, Any]

_CONTAINER = "pytorch"
_ADDRESS = "127.0.0.1"  # <job>-master-0 and <job>-worker-0, the names of the operator's services
_MOST_SECONDS = 120.0


@contextlib.contextmanager
def kubeflow_pods(
    job: Mapping[str, Any], machine: Machine, *, replicas: int | None = None, port: int | None = None
) -> Iterator[list[Pod]]:
    """Start the pods of a PyTorchJob, and kill at the end what is left of them.

    On a cluster, the name of a service says at which pod the others meet, the first. Here all have one
    address, and the first to come is the one: the others start once it listens, or has ended.

    Args:
        job: The job.
        machine: Where they run.
        replicas: Workers that there is room for. Default all.
        port: Port of the rendezvous. Default a free one.
    """
    meeting = free_port() if port is None else port
    with contextlib.ExitStack() as stack:
        pods = []
        for kind, said in job["spec"]["pytorchReplicaSpecs"].items():
            count = said["replicas"] if replicas is None or kind == "Master" else replicas
            for index in range(count):
                pods.append(stack.enter_context(kubeflow_pod(job, machine, kind, index, port=meeting)))
                if len(pods) == 1:
                    _wait_for_listener(pods[0], meeting)
        yield pods


def kubeflow_pod(job: Mapping[str, Any], machine: Machine, kind: str, index: int, *, port: int) -> Pod:
    """Start one pod of a PyTorchJob.

    Args:
        job: The job.
        machine: Where it runs.
        kind: ``Master`` or ``Worker``.
        index: Its number among those of its kind.
        port: Port of the rendezvous.
    """
    template = copy.deepcopy(job["spec"]["pytorchReplicaSpecs"][kind]["template"])
    variables = [
        {"name": name, "value": value} for name, value in _variables(job, kind, index, port=port).items()
    ]
    for container in template["spec"]["containers"]:
        container.setdefault("env", []).extend(variables)
        assert container["name"] == _CONTAINER, "the operator looks for its port at this container alone"
    return Pod(f"{job['metadata']['name']}-{kind.lower()}-{index}", template, machine)


def _wait_for_listener(pod: Pod, port: int) -> None:
    end = time.monotonic() + _MOST_SECONDS
    while pod.code is None:
        with socket.socket() as caller:
            if caller.connect_ex((_ADDRESS, port)) == 0:
                return
        assert time.monotonic() < end, f"{pod.name} does not listen:\n{pod.log}"
        time.sleep(0.1)


def _variables(job: Mapping[str, Any], kind: str, index: int, *, port: int) -> dict[str, str]:
    spec = job["spec"]
    replicas = spec["pytorchReplicaSpecs"]
    total = sum(said["replicas"] for said in replicas.values())
    processes = spec.get("nprocPerNode", "auto")
    variables = {"PYTHONUNBUFFERED": "1"}
    if "Master" in replicas:
        rank = str(index + (kind == "Worker"))
        variables |= {
            "MASTER_PORT": str(port),
            "PET_MASTER_PORT": str(port),
            "MASTER_ADDR": _ADDRESS,
            "PET_MASTER_ADDR": _ADDRESS,
            "WORLD_SIZE": str(total * (int(processes) if processes.isdecimal() else 1)),
            "RANK": rank,
            "PET_NODE_RANK": rank,
        }
    variables["PET_NPROC_PER_NODE"] = processes
    elastic = spec.get("elasticPolicy")
    if elastic is None:
        return variables | {"PET_NNODES": str(total)}
    return variables | _elastic_variables(elastic, port)


def _elastic_variables(elastic: Mapping[str, Any], port: int) -> dict[str, str]:
    variables = {
        "PET_RDZV_ENDPOINT": f"{elastic.get('rdzvHost', _ADDRESS)}:{elastic.get('rdzvPort', port)}",
        "PET_RDZV_BACKEND": elastic.get("rdzvBackend", "c10d"),
        "PET_NNODES": f"{elastic['minReplicas']}:{elastic['maxReplicas']}",
    }
    for member, name in (("maxRestarts", "PET_MAX_RESTARTS"), ("rdzvId", "PET_RDZV_ID")):
        if member in elastic:
            variables[name] = str(elastic[member])
    settings = ",".join(f"{said['key']}={said['value']}" for said in elastic.get("rdzvConf", ()))
    return variables | ({"PET_RDZV_CONF": settings} if settings else {})
