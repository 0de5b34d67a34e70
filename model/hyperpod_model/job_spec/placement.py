"""On which nodes a job's pods run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.labels import (
    DEEP_HEALTH_CHECK_STATUS,
    INSTANCE_TYPE,
    MIG_CONFIG_STATE,
    NETWORK_LAYERS,
    NODE_HEALTH_STATUS,
)
from hyperpod_model.checks.jobs.defaults import accelerator_taint
from hyperpod_model.job_spec.toleration import TolerationSpec

if TYPE_CHECKING:
    from hyperpod_model.job_spec.job import JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where pods may run.

    Attributes:
        node_selector: Labels that a node must have.
        tolerations: Taints that the pods put up with.
        topology_key: Label whose value the nodes of a job share. None for any nodes, and where the queue sees
            to it.
        topology_required: Whether the job waits rather than run on others.
    """

    node_selector: dict[str, str]
    tolerations: tuple[TolerationSpec, ...]
    topology_key: str | None
    topology_required: bool


def placement_of(job: JobSpec) -> Placement:
    """Work out where the pods of a job may run.

    Args:
        job: The job.
    """
    selector = {INSTANCE_TYPE.key: job.instance_type, NODE_HEALTH_STATUS.key: "Schedulable"}
    if job.deep_health_checked:
        selector[DEEP_HEALTH_CHECK_STATUS.key] = "Passed"
    if job.gpu_partition is not None:
        selector[MIG_CONFIG_STATE.key] = "success"
    in_queue = job.topology is None or job.uses_kueue
    return Placement(
        node_selector=selector | job.node_selector,
        tolerations=(*_of_accelerators(job), *job.tolerations),
        topology_key=None if job.topology is None or in_queue else NETWORK_LAYERS[job.topology.layer - 1].key,
        topology_required=job.topology is not None and job.topology.required,
    )


def _of_accelerators(job: JobSpec) -> tuple[TolerationSpec, ...]:
    key = accelerator_taint(instance_type(job.instance_type))
    if key is None or any(said.key == key for said in job.tolerations):
        return ()
    return (TolerationSpec(key=key, operator="Exists", effect="NoSchedule"),)
