"""A job in words: what each value of its manifests is, and why."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_charts.command.explanation.pods import pods
from hyperpod_charts.command.explanation.processes import processes
from hyperpod_charts.command.explanation.reason import Reason
from hyperpod_charts.command.explanation.recovery import recovery
from hyperpod_charts.command.explanation.resources import resources
from hyperpod_charts.command.explanation.variables import variables
from hyperpod_model.job_spec import JobSpec, NodeSetup

__all__ = ["Reason", "explained"]


def explained(job: JobSpec, node: NodeSetup | None) -> Iterator[tuple[str, tuple[Reason, ...]]]:
    """Explain a job, topic by topic.

    Args:
        job: The job.
        node: How the cluster sets its nodes up; None where no cluster was given.
    """
    yield "pods", tuple(pods(job))
    yield "resources of a pod", tuple(resources(job, node))
    yield "processes", tuple(processes(job))
    yield "environment", tuple(variables(job))
    yield "recovery", tuple(recovery(job))
