"""Environment variables of a job, and those that undo what the job needs."""

from __future__ import annotations

from hyperpod_model.catalog.collectives import (
    DEBUG,
    DEBUG_LEVELS,
    DEVICE_RDMA,
    PROVIDER,
    UNSAFE_VARIABLES,
    aborts_with_device_rdma,
)
from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.catalog.jobs import (
    ENVIRONMENT_VARIABLE,
    KUBEFLOW_VARIABLES,
    OUTPUT_VALUE,
    OUTPUT_VARIABLES,
    ROOTLESS,
    SIGNAL_COORDINATION,
    TORCHRUN_VARIABLE_PREFIX,
)
from hyperpod_model.checks.jobs.defaults import Job, instance_type_of
from hyperpod_model.checks.reading import absent, at, given, number, text
from hyperpod_model.faults import Fault, FaultPath, Severity


def check_environment(job: Job) -> list[Fault]:
    """Check the environment variables that a job gives besides its own.

    Args:
        job: The job.
    """
    variables = at(job, "environment")
    if not isinstance(variables, dict):
        return []
    faults = [
        Fault(("environment", name), f"must have as name {ENVIRONMENT_VARIABLE.in_words}, got {name!r}")
        for name in variables
        if not ENVIRONMENT_VARIABLE.matches(name)
    ]
    for name, value in variables.items():
        found = _judge(job, name, value)
        if found is not None:
            message, severity = found
            path: FaultPath = ("environment", name)
            faults.append(Fault(path, message, severity))
    return faults


def _judge(job: Job, name: str, value: object) -> tuple[str, Severity] | None:
    if name in UNSAFE_VARIABLES:
        return UNSAFE_VARIABLES[name], "warning"
    if name in OUTPUT_VARIABLES.values():
        return _judge_output(value)
    if name.startswith(TORCHRUN_VARIABLE_PREFIX):
        return "is set by the operator from nodes, elastic and processes_per_node; leave it out", "error"
    if name in KUBEFLOW_VARIABLES:
        return "is set by the launcher for each process; leave it out", "error"
    if not isinstance(value, str):
        return None
    if name == DEBUG[0] and value.upper() not in DEBUG_LEVELS:
        return f"must be one of {', '.join(DEBUG_LEVELS)}, got {value!r}", "error"
    if name == SIGNAL_COORDINATION[0] and given(job, "elastic") and value != SIGNAL_COORDINATION[1]:
        message = f"must be {SIGNAL_COORDINATION[1]!r} for an elastic job, which else sees no change, got"
        return f"{message} {value!r}; leave it out", "error"
    if name == ROOTLESS.value[0] and given(job, "checkpointless") and value != ROOTLESS.value[1]:
        return f"must be {ROOTLESS.value[1]!r} for checkpointless, got {value!r}; leave it out", "error"
    found = instance_type_of(job)
    return None if found is None else _judge_efa(job, found, name, value)


def _judge_output(value: object) -> tuple[str, Severity] | None:
    if not isinstance(value, str) or OUTPUT_VALUE.matches(value):
        return None
    return f"must be {OUTPUT_VALUE.in_words}, else the launcher ends at once, got {value!r}", "error"


def _judge_efa(job: Job, found: InstanceType, name: str, value: str) -> tuple[str, Severity] | None:
    interfaces = _efa_asked(job, found)
    if (name, value) == PROVIDER and interfaces == 0:
        return (
            "lets libfabric take EFA alone, and the pods ask for no EFA interface, so that no process "
            "finds a "
            f"network on {found.name}; leave it out, or take a type with EFA",
            "error",
        )
    if name == PROVIDER[0] and value != PROVIDER[1] and interfaces is not None and interfaces > 0:
        return (
            f"keeps the {interfaces} EFA interfaces of the pods idle, got {value!r}; leave it out",
            "warning",
        )
    if (name, value) == DEVICE_RDMA and aborts_with_device_rdma(found):
        return f"aborts every process on {found.name}, whose EFA has no RDMA read; leave it out", "error"
    return None


def _efa_asked(job: Job, found: InstanceType) -> int | None:
    """EFA interfaces of a pod, None where that is not known."""
    if not absent(job, "efa_interfaces"):
        return number(job, "efa_interfaces")
    if not absent(job, "gpu_partition"):
        return None if text(job, "gpu_partition") is None else 0
    return found.efa_interfaces.if_certain(0)
