"""A job and the cluster that it is to run on, as users say both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.pod_resources import own_threads_per_core
from hyperpod_model.checks.jobs.on_cluster import ClusterSide, Queues, check_on_cluster
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.cluster_spec.task_governance import sharing_plan_of
from hyperpod_model.faults import Fault
from hyperpod_model.job_spec.job import JobSpec
from hyperpod_model.job_spec.plain_values import plain_values
from hyperpod_model.pod_resources import NodeSetup


def check_job_on_cluster(job: JobSpec, cluster: ClusterSpec) -> list[Fault]:
    """Check a job against the cluster that it is to run on.

    Args:
        job: The job.
        cluster: The cluster.

    Returns:
        Errors, for a job that never starts there or cannot do what it says, and warnings. Paths are those
        of the job.
    """
    return check_values_on_cluster(plain_values(job), cluster)


def check_values_on_cluster(values: Mapping[str, Any], cluster: ClusterSpec) -> list[Fault]:
    """Check what is known of a job without a specification, such as that of a manifest, against a cluster.

    Args:
        values: Every field of a job specification as a plain value, ``UNKNOWN`` where it is not known.
        cluster: The cluster.

    Returns:
        As :func:`check_job_on_cluster`.
    """
    pods = cluster.training_pods
    side = ClusterSide(
        training_pods=None if pods is None else (pods.namespace, pods.service_account),
        durable_interval_steps=_durable_interval(cluster),
        queues=_queues(cluster),
    )
    return check_on_cluster(values, cluster.to_request(), side)


def node_setup_on(cluster: ClusterSpec, type_name: str) -> NodeSetup:
    """How a cluster sets the nodes of an instance type up, as far as pods ask for more or less by it.

    Args:
        cluster: The cluster.
        type_name: Instance type, such as ``ml.p5.48xlarge``. Where several groups have it, pods have to fit
            on each of them.
    """
    own = own_threads_per_core(instance_type(type_name))
    threads = [
        own if group.threads_per_core is None else group.threads_per_core
        for group in cluster.instance_groups
        if type_name in group.named_instance_types
    ]
    tiered = cluster.tiered_checkpointing
    is_on = tiered is not None and tiered.enabled
    return NodeSetup(
        threads_per_core=min(threads, default=None),
        tiered_memory_percentage=tiered.memory_percentage if tiered is not None and is_on else 0,
    )


def _durable_interval(cluster: ClusterSpec) -> int | None:
    tiered, checkpointless = cluster.tiered_checkpointing, cluster.checkpointless
    said = [
        tiered.s3_interval_steps if tiered is not None and tiered.enabled else None,
        None if checkpointless is None else checkpointless.durable_interval_steps,
    ]
    return min((steps for steps in said if steps is not None), default=None)


def _queues(cluster: ClusterSpec) -> Queues | None:
    said = cluster.task_governance
    if said is None:
        return None
    return Queues(
        teams=tuple(team.team for team in said.teams),
        shares=sharing_plan_of(cluster),
        priority_classes=tuple(said.priority_classes),
    )
