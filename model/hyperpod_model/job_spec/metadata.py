"""Labels and annotations of a job and its pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_model.catalog.jobs import (
    AUTO_RESUME_ANNOTATION,
    PREFERRED_TOPOLOGY_ANNOTATION,
    PRIORITY_LABEL,
    QUEUE_LABEL,
    REQUIRED_TOPOLOGY_ANNOTATION,
    RETRIES_ANNOTATION,
    team_queue,
    workload_priority,
)
from hyperpod_model.catalog.labels import NETWORK_LAYERS

if TYPE_CHECKING:
    from hyperpod_model.job_spec.job import JobSpec


def job_labels(job: JobSpec) -> dict[str, str]:
    """Labels of a job: its own, and those of its queue.

    Args:
        job: The job.
    """
    labels = dict(job.labels)
    if job.team is not None:
        labels[QUEUE_LABEL] = team_queue(job.team)
    if job.priority_class is not None:
        labels[PRIORITY_LABEL] = workload_priority(job.priority_class)
    return labels


def job_annotations(job: JobSpec) -> dict[str, str]:
    """Annotations by which HyperPod resumes a Kubeflow job. The HyperPod operator resumes by itself.

    Args:
        job: The job.
    """
    if job.operator != "kubeflow" or job.auto_resume is None:
        return {}
    return {AUTO_RESUME_ANNOTATION: "true", RETRIES_ANNOTATION: str(job.max_retries)}


def pod_annotations(job: JobSpec) -> dict[str, str]:
    """Annotations by which the queue places pods near each other.

    Args:
        job: The job.
    """
    if job.topology is None or not job.uses_kueue:
        return {}
    name = REQUIRED_TOPOLOGY_ANNOTATION if job.topology.required else PREFERRED_TOPOLOGY_ANNOTATION
    return {name: NETWORK_LAYERS[job.topology.layer - 1].key}
