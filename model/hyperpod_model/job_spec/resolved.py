"""Values that a job leaves to its defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.pod_resources import processes_per_device
from hyperpod_model.checks.jobs.bounds import LARGEST_COUNT
from hyperpod_model.pod_resources import NodeSetup, PodResources, pod_resources

if TYPE_CHECKING:
    from hyperpod_model.job_spec.job import JobSpec


def processes_per_node_of(job: JobSpec) -> int:
    """Processes a node with the default applied.

    Args:
        job: The job.
    """
    if job.processes_per_node is not None:
        return job.processes_per_node
    accelerators = resources_of(job, None).accelerators
    if accelerators == 0 or job.gpu_partition is not None:
        return max(1, accelerators)
    return accelerators * processes_per_device(instance_type(job.instance_type))


def backoff_limit_of(job: JobSpec) -> int:
    """Most restarts of containers over all pods.

    The Kubeflow operator adds up the restarts of all pods of a job, and a fault on one node ends the
    processes of every node. Source: kubeflow/training-operator, ``PastBackoffLimit``.

    Args:
        job: The job.
    """
    return min(job.max_retries * job.max_nodes, LARGEST_COUNT)


def resources_of(job: JobSpec, node: NodeSetup | None) -> PodResources:
    """What each pod of a job asks for.

    Args:
        job: The job.
        node: How the cluster sets the nodes up. None for the instance type's own way.
    """
    setup = NodeSetup() if node is None else node
    if setup.tiered_memory_percentage is None and job.tiered_checkpointing is not None:
        setup = NodeSetup(
            threads_per_core=setup.threads_per_core,
            tiered_memory_percentage=job.tiered_checkpointing.memory_percentage,
        )
    return pod_resources(
        instance_type(job.instance_type),
        accelerators=job.accelerators,
        gpu_partition=job.gpu_partition,
        efa_interfaces=job.efa_interfaces,
        huge_pages_mib=job.huge_pages_mib,
        vcpu=job.vcpu,
        memory_gib=job.memory_gib,
        shared_memory_gib=job.shared_memory_gib,
        node=setup,
    )
