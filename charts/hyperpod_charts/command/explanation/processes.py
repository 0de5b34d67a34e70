"""What runs in a pod, and how the processes of a job find each other."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hyperpod_charts.command.explanation.reason import Reason
from hyperpod_model.catalog.jobs import (
    AGENT_SIGNAL_FLAG,
    DEFAULT_MASTER_PORT,
    IN_PROCESS_RESTART_FLAG,
    OPERATORS,
)
from hyperpod_model.catalog.ports import OPERATOR_AGENT
from hyperpod_model.job_spec import JobSpec


def processes(job: JobSpec) -> Iterator[Reason]:
    """Explain what each pod runs.

    Args:
        job: The job.
    """
    launch, operator = job.launch(), OPERATORS[job.operator]
    yield Reason(
        "command",
        shlex.join([*launch.command, *launch.args]),
        "command says so, and no shell stands before it"
        if job.script is None
        else f"{operator.launcher} starts the processes; no shell keeps SIGTERM from it",
    )
    yield Reason(
        "nprocPerNode",
        launch.nproc_per_node,
        "processes_per_node says so" if job.processes_per_node is not None else _default(job),
    )
    if job.operator == "hyperpod":
        yield from _agent(job)
    elif job.rendezvous == "master":
        yield Reason(
            "rendezvous",
            "master",
            f"the first pod is Master; the operator tells the others its address; port {DEFAULT_MASTER_PORT}",
        )
    else:
        yield Reason(
            "rendezvous",
            f"c10d, id {job.resolved_rendezvous_id}",
            "elasticPolicy has the operator set PET_* variables, so that torchrun needs no option: an option "
            "would win over them",
        )
    yield Reason(
        "terminationGracePeriodSeconds",
        str(job.grace_period_seconds),
        "time from SIGTERM until the pod is killed, for a last checkpoint",
    )


def _default(job: JobSpec) -> str:
    if job.gpu_partition is not None:
        return "one for each partition of a GPU"
    return (
        "one for each GPU or logical Neuron core of the pod"
        if job.resources().accelerators
        else "one: no accelerator"
    )


def _agent(job: JobSpec) -> Iterator[Reason]:
    (port,) = OPERATOR_AGENT
    yield Reason("containerPort", str(port.first), "the operator talks to the agent in each pod there")
    if job.script is None:
        return
    yield Reason(AGENT_SIGNAL_FLAG, "SIGTERM", "without it, the agent kills processes before they can save")
    if IN_PROCESS_RESTART_FLAG in job.launch().command:
        yield Reason(
            IN_PROCESS_RESTART_FLAG,
            "given",
            "checkpointless training restarts within the processes that live",
        )
