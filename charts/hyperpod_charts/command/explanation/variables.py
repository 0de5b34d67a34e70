"""Why each environment variable of a job is set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hyperpod_charts.command.explanation.reason import Reason
from hyperpod_model.catalog.collectives import (
    DEBUG,
    DEVICE_RDMA,
    FORK_SAFE,
    NEURON_SOCKET_INTERFACE,
    PROVIDER,
    SOCKET_INTERFACES,
    aborts_with_device_rdma,
)
from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.jobs import (
    ROOTLESS,
    SEPARATE_STORE,
    SIGNAL_COORDINATION,
    TORCHRUN_SHUTDOWN_VARIABLE,
)
from hyperpod_model.job_spec import JobSpec
from hyperpod_model.job_spec.environment import (
    CHECKPOINT_MEMORY_INTERVAL_STEPS,
    CHECKPOINT_PATH,
    CHECKPOINT_S3_INTERVAL_STEPS,
    CHECKPOINT_S3_URI,
    TRAINING_JOB_NAME,
)

_WHY: Final[Mapping[str, str]] = MappingProxyType(
    {
        PROVIDER[0]: "libfabric fails where it finds no EFA, in place of falling back to TCP",
        DEVICE_RDMA[0]: "old libfabric needs it for RDMA, which this instance type has",
        FORK_SAFE[0]: "data loaders fork while EFA is in use",
        NEURON_SOCKET_INTERFACE[0]: "Neuron's processes find each other by the pod's interface",
        SOCKET_INTERFACES: "NCCL's processes find each other by any other interface than these",
        DEBUG[0]: "the log tells which transport NCCL took, for hyperpod-jobs check-logs",
        "PYTHONUNBUFFERED": "the log is up to date, for log monitoring and for you",
        TORCHRUN_SHUTDOWN_VARIABLE: "torchrun leaves its processes the grace period, less a margin",
        SEPARATE_STORE[0]: "without it a pod that joins later waits in vain for where the processes meet",
        SIGNAL_COORDINATION[0]: "without it the training code never hears that the job is to grow or shrink",
        ROOTLESS.value[0]: "checkpointless training connects without a root process",
        CHECKPOINT_PATH: "checkpoint.path, for the training script",
        CHECKPOINT_S3_URI: "checkpoint.s3_uri, for the training script",
        CHECKPOINT_S3_INTERVAL_STEPS: "checkpoint.s3_interval_steps: how often a checkpoint must last",
        CHECKPOINT_MEMORY_INTERVAL_STEPS: "tiered_checkpointing.memory_interval_steps, for the script",
        TRAINING_JOB_NAME: "the job's name in the memory tier",
    }
)


def variables(job: JobSpec) -> Iterator[Reason]:
    """Explain the environment, and what is left out of it.

    Args:
        job: The job.
    """
    said = job.environment_variables()
    for name, value in said.items():
        yield Reason(name, value, "environment says so" if name in job.environment else _WHY[name])
    if job.resources().efa_interfaces and DEVICE_RDMA[0] not in said:
        found = instance_type(job.instance_type)
        if aborts_with_device_rdma(found):
            yield Reason(
                DEVICE_RDMA[0],
                "left out",
                f"EFA of {found.name} has no RDMA read, and the variable aborts there",
            )
