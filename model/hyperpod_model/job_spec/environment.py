"""Environment of a job's training processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hyperpod_model.catalog.collectives import collective_environment
from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.jobs import (
    ROOTLESS,
    SEPARATE_STORE,
    SIGNAL_COORDINATION,
    TORCHRUN_SHUTDOWN_VARIABLE,
)
from hyperpod_model.job_spec.launch import shutdown_seconds

if TYPE_CHECKING:
    from hyperpod_model.job_spec.job import JobSpec

CHECKPOINT_PATH: Final = "CHECKPOINT_PATH"
CHECKPOINT_S3_URI: Final = "CHECKPOINT_S3_URI"
CHECKPOINT_S3_INTERVAL_STEPS: Final = "CHECKPOINT_S3_INTERVAL_STEPS"
CHECKPOINT_MEMORY_INTERVAL_STEPS: Final = "CHECKPOINT_MEMORY_INTERVAL_STEPS"
TRAINING_JOB_NAME: Final = "TRAINING_JOB_NAME"
"""Name in the memory tier, read by the examples of the amzn-sagemaker-checkpointing package."""


def environment_of(job: JobSpec) -> dict[str, str]:
    """Work out the environment of a job's training container, in a fixed order and each name once.

    Args:
        job: The job.
    """
    environment = collective_environment(
        instance_type(job.instance_type),
        efa_interfaces=job.resources().efa_interfaces,
        host_network=job.uses_host_network,
    )
    environment["PYTHONUNBUFFERED"] = "1"  # else log monitoring and checks of the log lag behind
    if job.operator == "kubeflow":
        environment[TORCHRUN_SHUTDOWN_VARIABLE] = str(shutdown_seconds(job))
        if job.elastic is not None:
            environment |= [SEPARATE_STORE]
    elif job.elastic is not None:
        environment |= [SIGNAL_COORDINATION]
    if job.checkpointless is not None:
        environment |= [ROOTLESS.value]
    return environment | _checkpoints(job) | job.environment


def _checkpoints(job: JobSpec) -> dict[str, str]:
    said = job.checkpoint
    values: dict[str, str | int | None] = {}
    if said is not None:
        values |= {
            CHECKPOINT_PATH: said.path,
            CHECKPOINT_S3_URI: said.s3_uri,
            CHECKPOINT_S3_INTERVAL_STEPS: said.s3_interval_steps,
        }
    if job.tiered_checkpointing is not None:
        values |= {
            CHECKPOINT_MEMORY_INTERVAL_STEPS: job.tiered_checkpointing.memory_interval_steps,
            TRAINING_JOB_NAME: job.resolved_tiered_namespace,
        }
    return {name: str(value) for name, value in values.items() if value is not None}
