"""Figures of jobs that a scheduled check of this package puts into CloudWatch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hyperpod_model.catalog._tables import table


class JobFigure(NamedTuple):
    """A metric that the check puts, once for the cluster and once for each queue.

    Attributes:
        name: Name of the metric.
        unit: Its unit, in CloudWatch's words.
    """

    name: str
    unit: str


_TABLE = table("job_figures")
_FIGURES = {name: JobFigure(row["name"], row["unit"]) for name, row in _TABLE["metrics"].items()}

FIGURES_BY_KEY: Mapping[str, JobFigure] = _FIGURES
"""The figures by the words that the programs use that put them."""

RUNNING_JOBS: JobFigure = _FIGURES["running"]

PENDING_JOBS: JobFigure = _FIGURES["pending"]
"""Jobs that wait to be started; those that are held by their owner do not wait."""

PREEMPTED_JOBS: JobFigure = _FIGURES["preempted"]
"""Jobs that gave way to others since the check before."""

LONGEST_WAIT: JobFigure = _FIGURES["longest_wait"]
"""How long the pending job that waits longest has waited; 0 where none waits."""

LONGEST_RUN: JobFigure = _FIGURES["longest_run"]
"""How long the running job that runs longest has run since its last start; 0 where none runs."""

JOB_FIGURES: tuple[JobFigure, ...] = tuple(_FIGURES.values())

CLUSTER_DIMENSION: str = _TABLE["cluster_dimension"]
"""Dimension of all of them: the name of the HyperPod cluster."""

QUEUE_DIMENSION: str = _TABLE["queue_dimension"]
"""Second dimension of the figures of one queue: a partition of Slurm, a namespace of Kubernetes."""

PUT_ACTION: str = _TABLE["action"]
"""What puts them."""

CHECK_MINUTES: int = _TABLE["minutes"]
"""Minutes between two checks."""

SLURM_OTHER_WAITS: tuple[str, ...] = tuple(_TABLE["slurm_other_waits"]["value"])
"""Reasons of Slurm's pending jobs that wait for what their owner named, not for nodes."""
