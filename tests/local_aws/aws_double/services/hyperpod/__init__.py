"""HyperPod of the double: clusters with nodes that have ids and states. Nothing runs on the nodes."""

from aws_double.services.hyperpod import (
    batches,
    clusters,
    events,
    governance,
    health_checks,
    nodes,
    software,
    tags,
)
from aws_double.services.hyperpod.api import API, take_over

__all__ = [
    "API",
    "batches",
    "clusters",
    "events",
    "governance",
    "health_checks",
    "install",
    "nodes",
    "software",
    "tags",
]


def install() -> None:
    """Put the double's HyperPod before moto's SageMaker; once is enough, twice does no harm."""
    take_over()
