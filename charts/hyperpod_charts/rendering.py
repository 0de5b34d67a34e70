"""Job specifications as YAML for ``kubectl apply``."""

from __future__ import annotations

from cdk8s import App

from hyperpod_charts.job_chart import JobChart
from hyperpod_model.job_spec import JobSpec, NodeSetup


def render(job: JobSpec, *, node: NodeSetup | None = None, network_policy: bool = True) -> str:
    """Write all objects of a job as YAML documents, the same text for the same job.

    Each call has an app of its own, so that the thousandth costs what the first does.

    Args:
        job: The job.
        node: How the cluster sets the nodes up, see :class:`JobChart`. Default so that the pods fit any
            cluster.
        network_policy: Whether the network policy is made, see :class:`JobChart`. Default True.
    """
    app = App()
    JobChart(app, job.name, job=job, node=node, network_policy=network_policy)
    text: str = app.synth_yaml()
    return text
