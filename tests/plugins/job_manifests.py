"""Manifests of training jobs that keep every promise, for tests to break."""

from __future__ import annotations

import copy
from typing import Any

Body = dict[str, Any]

_RESOURCES: Body = {
    "nvidia.com/gpu": 8,
    "vpc.amazonaws.com/efa": 32,
    "hugepages-2Mi": "5120Mi",
    "cpu": "80",
    "memory": "1400Gi",
}


def _pod(container: Body) -> Body:
    return {
        "metadata": {"labels": {"app": "vision"}},
        "spec": {
            "serviceAccountName": "trainer",
            "terminationGracePeriodSeconds": 180,
            "nodeSelector": {
                "node.kubernetes.io/instance-type": "ml.p5.48xlarge",
                "sagemaker.amazonaws.com/node-health-status": "Schedulable",
            },
            "affinity": {
                "podAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 100,
                            "podAffinityTerm": {
                                "labelSelector": {"matchLabels": {"app": "vision"}},
                                "topologyKey": "topology.k8s.aws/network-node-layer-3",
                            },
                        }
                    ]
                }
            },
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [container],
            "volumes": [
                {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "400Gi"}},
                {"name": "lustre", "persistentVolumeClaim": {"claimName": "lustre"}},
            ],
        },
    }


def _container(command: list[str]) -> Body:
    return {
        "name": "pytorch",
        "image": "444455556666.dkr.ecr.us-east-2.amazonaws.com/vision:2.3.1",
        "command": command,
        "args": ["/app/train.py", "--checkpoint-dir", "/lustre/checkpoints/vision"],
        "env": [
            {"name": "FI_PROVIDER", "value": "efa"},
            {"name": "NCCL_SOCKET_IFNAME", "value": "^lo,docker"},
            {"name": "NCCL_DEBUG", "value": "INFO"},
        ],
        "resources": {"limits": dict(_RESOURCES), "requests": dict(_RESOURCES)},
        "volumeMounts": [
            {"name": "shared-memory", "mountPath": "/dev/shm"},
            {"name": "lustre", "mountPath": "/lustre"},
        ],
    }


def kubeflow_job() -> Body:
    """Return a PyTorchJob of three nodes."""
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {
            "name": "vision",
            "namespace": "kubeflow",
            "annotations": {
                "sagemaker.amazonaws.com/enable-job-auto-resume": "true",
                "sagemaker.amazonaws.com/job-max-retry-count": "7",
            },
        },
        "spec": {
            "nprocPerNode": "8",
            "elasticPolicy": {
                "minReplicas": 3,
                "maxReplicas": 3,
                "rdzvBackend": "c10d",
                "rdzvId": "vision",
            },
            "runPolicy": {
                "cleanPodPolicy": "Running",
                "backoffLimit": 21,
                "ttlSecondsAfterFinished": 7200,
            },
            "pytorchReplicaSpecs": {
                "Worker": {
                    "replicas": 3,
                    "restartPolicy": "OnFailure",
                    "template": _pod(_container(["torchrun"])),
                }
            },
        },
    }


def hyperpod_job() -> Body:
    """Return a HyperPodPyTorchJob of four nodes and a spare one, in a team's queue."""
    command = ["hyperpodrun", "--shutdown-signal=SIGTERM", "--shutdown-timeout=160", "--tee=3"]
    container = _container(command)
    container["ports"] = [{"containerPort": 8080}]
    return {
        "apiVersion": "sagemaker.amazonaws.com/v1",
        "kind": "HyperPodPyTorchJob",
        "metadata": {
            "name": "vision",
            "namespace": "hyperpod-ns-vision",
            "labels": {
                "kueue.x-k8s.io/queue-name": "hyperpod-ns-vision-localqueue",
                "kueue.x-k8s.io/priority-class": "training-priority",
            },
        },
        "spec": {
            "nprocPerNode": "8",
            "replicaSpecs": [{"name": "pods", "replicas": 4, "spares": 1, "template": _pod(container)}],
            "runPolicy": {
                "cleanPodPolicy": "None",
                "jobMaxRetryCount": 7,
                "ttlSecondsAfterFinished": 7200,
                "restartPolicy": {
                    "evalPeriodSeconds": 1800,
                    "numRestartBeforeFullJobRestart": 2,
                    "maxFullJobRestarts": 5,
                },
                "logMonitoringConfiguration": [
                    {
                        "name": "hang",
                        "logPattern": r".*step (\d+)",
                        "expectedStartCutOffInSeconds": 900,
                        "expectedRecurringFrequencyInSeconds": 300,
                    },
                    {
                        "name": "slow",
                        "logPattern": r".*tokens a second ([0-9.]+)",
                        "metricThreshold": 4000,
                        "operator": "lt",
                        "metricEvaluationDataPoints": 20,
                    },
                ],
            },
        },
    }


def elastic_hyperpod_job() -> Body:
    """Return a HyperPodPyTorchJob that may have two to six nodes."""
    body = hyperpod_job()
    body["spec"]["elasticPolicy"] = {"minReplicas": 2, "maxReplicas": 6, "replicaIncrementStep": 2}
    set_variable(body, "HYPERPOD_SIGNAL_COORDINATION", "distributed")
    return body


def tiered_job() -> Body:
    """Return a HyperPodPyTorchJob that writes checkpoints to the memory of the nodes and to S3."""
    body = hyperpod_job()
    set_variable(body, "CHECKPOINT_MEMORY_INTERVAL_STEPS", "25")
    set_variable(body, "CHECKPOINT_S3_INTERVAL_STEPS", "500")
    set_variable(body, "CHECKPOINTS", "s3://sagemaker-vision/checkpoints")
    return body


def checkpointless_job() -> Body:
    """Return a HyperPodPyTorchJob that recovers from peers."""
    body = hyperpod_job()
    set_variable(body, "HPCT_USE_ROOTLESS", "1")
    set_variable(body, "CHECKPOINT_S3_INTERVAL_STEPS", "500")
    set_variable(body, "NCCL_SOCKET_IFNAME", "^lo,docker,veth,eni")
    spec, container = pod_spec(body), container_of(body)
    spec["hostNetwork"] = True
    spec["dnsPolicy"] = "ClusterFirstWithHostNet"
    spec["initContainers"] = [
        {
            "name": "ports",
            "image": container["image"],
            "command": ["sysctl", "-w", "net.ipv4.ip_local_port_range=20000 65535"],
            "securityContext": {"privileged": True},
        }
    ]
    container["command"].append("--inprocess-restart")
    container["ports"] = [{"containerPort": port} for port in (8080, *range(9000, 9006))]
    return body


def master_job() -> Body:
    """Return a PyTorchJob with a master and two workers, whose address the operator tells."""
    body = kubeflow_job()
    del body["spec"]["elasticPolicy"]
    replicas = body["spec"]["pytorchReplicaSpecs"]
    replicas["Worker"]["replicas"] = 2
    replicas["Master"] = {**copy.deepcopy(replicas["Worker"]), "replicas": 1}
    return body


def network_policy() -> Body:
    """Return a NetworkPolicy for the pods of the jobs above."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "members-only", "namespace": "hyperpod-ns-vision"},
        "spec": {"podSelector": {"matchLabels": {"app": "vision"}}, "policyTypes": ["Ingress"]},
    }


def replicas_of(body: Body) -> Body:
    """Return the replicas of a job that train."""
    spec = body["spec"]
    found: Body = (
        spec["pytorchReplicaSpecs"]["Worker"] if "pytorchReplicaSpecs" in spec else spec["replicaSpecs"][0]
    )
    return found


def pod_spec(body: Body) -> Body:
    """Return the spec of a job's pods."""
    found: Body = replicas_of(body)["template"]["spec"]
    return found


def container_of(body: Body) -> Body:
    """Return the container of a job that trains."""
    found: Body = pod_spec(body)["containers"][0]
    return found


def set_variable(body: Body, name: str, value: Any) -> None:
    """Set an environment variable of the container that trains; ``None`` removes it."""
    container = container_of(body)
    container["env"] = [entry for entry in container["env"] if entry["name"] != name]
    if value is not None:
        container["env"].append({"name": name, "value": value})


def set_resource(body: Body, name: str, amount: Any) -> None:
    """Set requests and limits of a resource; ``None`` removes it."""
    for kind in ("limits", "requests"):
        amounts = container_of(body)["resources"][kind]
        amounts.pop(name, None)
        if amount is not None:
            amounts[name] = amount


def put(target: Any, path: str, value: Any) -> Any:
    """Set a value within a job and return the whole; ``...`` removes it.

    Args:
        target: What to change.
        path: Keys and positions with ``/`` between them; ``~`` stands for a ``/`` within a key. One that
            begins with ``pod:`` is below the spec of the pods, one with ``container:`` below the container
            that trains, one with ``replicas:`` below the replicas.
        value: What to put there.
    """
    start, colon, rest = path.partition(":")
    holder: Any = target
    if colon:
        holder = {"pod": pod_spec, "container": container_of, "replicas": replicas_of}[start](target)
    steps = [step.replace("~", "/") for step in (rest if colon else path).split("/")]
    for step in steps[:-1]:
        holder = holder[int(step)] if isinstance(holder, list) else holder.setdefault(step, {})
    last = steps[-1]
    if value is ...:
        del holder[int(last) if isinstance(holder, list) else last]
    elif isinstance(holder, list) and int(last) == len(holder):
        holder.append(value)
    else:
        holder[int(last) if isinstance(holder, list) else last] = value
    return target
