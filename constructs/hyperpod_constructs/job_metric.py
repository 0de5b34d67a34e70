"""A figure of jobs in CloudWatch."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from hyperpod_model.catalog.job_figures import (
    CHECK_MINUTES,
    CLUSTER_DIMENSION,
    PREEMPTED_JOBS,
    QUEUE_DIMENSION,
    JobFigure,
)
from hyperpod_model.catalog.logs import METRIC_NAMESPACE


def job_statistic(figure: JobFigure) -> str:
    """Return by what values of several checks become one: jobs that gave way add up, others do not.

    Args:
        figure: The figure.
    """
    return cloudwatch.Stats.SUM if figure == PREEMPTED_JOBS else cloudwatch.Stats.MAXIMUM


def job_metric(
    figure: JobFigure, *, cluster_name: str, queue: str | None = None, label: str | None = None
) -> cloudwatch.Metric:
    """Return a figure that the check of jobs puts, one value a check.

    Args:
        figure: The figure.
        cluster_name: Name of the HyperPod cluster.
        queue: Partition of Slurm or namespace of Kubernetes. Default: the whole cluster.
        label: What a graph calls it. Default: its name.
    """
    dimensions = {CLUSTER_DIMENSION: cluster_name}
    if queue is not None:
        dimensions[QUEUE_DIMENSION] = queue
    return cloudwatch.Metric(
        namespace=METRIC_NAMESPACE,
        metric_name=figure.name,
        dimensions_map=dimensions,
        statistic=job_statistic(figure),
        period=Duration.minutes(CHECK_MINUTES),
        label=label,
    )


def job_search(figure: JobFigure, *, cluster_name: str) -> cloudwatch.SearchExpression:
    """Return a figure of whatever queues have had it within two weeks, for graphs; alarms take no search.

    Source: CloudWatch user guide, search-expression-syntax.

    Args:
        figure: The figure.
        cluster_name: Name of the HyperPod cluster.
    """
    schema = f'{{"{METRIC_NAMESPACE}",{CLUSTER_DIMENSION},{QUEUE_DIMENSION}}}'
    terms = f'MetricName="{figure.name}" {CLUSTER_DIMENSION}="{cluster_name}"'
    return cloudwatch.SearchExpression(
        expression=f"SEARCH('{schema} {terms}', '{job_statistic(figure)}')",
        label=f"${{PROP('Dim.{QUEUE_DIMENSION}')}}",
        period=Duration.minutes(CHECK_MINUTES),
    )
