"""What each pod of a job runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_model.catalog.jobs import (
    AGENT_GRACEFUL_SIGNAL,
    AGENT_SIGNAL_FLAG,
    AGENT_TIMEOUT_FLAG,
    IN_PROCESS_RESTART_FLAG,
    IN_PROCESS_TIER,
    OPERATORS,
    SHUTDOWN_MARGIN_SECONDS,
)
from hyperpod_model.launcher_options import LauncherOptions
from hyperpod_model.monitored_output import MONITORED_OUTPUT_FLAG, keeps_output

if TYPE_CHECKING:
    from hyperpod_model.job_spec.job import JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The command of a training container, in exec form: no shell stands between it and SIGTERM.

    Attributes:
        command: Program, and its options where the operator does not say them by environment.
        args: The script and its arguments.
        nproc_per_node: Processes a node, as the text that both operators take.
    """

    command: tuple[str, ...]
    args: tuple[str, ...]
    nproc_per_node: str


def launch_of(job: JobSpec) -> Launch:
    """Work out the command of a job.

    Args:
        job: The job.
    """
    processes = str(job.resolved_processes_per_node)
    if job.script is None:
        return Launch(command=job.command, args=(), nproc_per_node=processes)
    launcher = OPERATORS[job.operator].launcher
    options = _agent_options(job, processes) if job.operator == "hyperpod" else ()
    return Launch(command=(launcher, *options), args=(job.script, *job.script_args), nproc_per_node=processes)


def shutdown_seconds(job: JobSpec) -> int:
    """Seconds that the launcher waits for its processes after SIGTERM, within the pod's grace period.

    Args:
        job: The job.
    """
    return max(1, job.grace_period_seconds - SHUTDOWN_MARGIN_SECONDS)


def _agent_options(job: JobSpec, processes: str) -> tuple[str, ...]:
    options: tuple[str, ...] = (
        f"--nproc-per-node={processes}",
        f"{AGENT_SIGNAL_FLAG}={AGENT_GRACEFUL_SIGNAL}",
        f"{AGENT_TIMEOUT_FLAG}={shutdown_seconds(job)}",
    )
    if job.log_monitoring and not keeps_output(LauncherOptions({}), job.environment):
        options = (*options, MONITORED_OUTPUT_FLAG)
    in_process = job.checkpointless is not None and job.checkpointless.tier >= IN_PROCESS_TIER
    return (*options, IN_PROCESS_RESTART_FLAG) if in_process else options
