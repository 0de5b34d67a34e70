"""How the pods of one job are told from all others."""

from __future__ import annotations

from typing import Final

JOB_LABEL: Final = "app.kubernetes.io/instance"
COMPONENT_LABEL: Final = "app.kubernetes.io/component"
COMPONENT: Final = "training"

TRAINING_PODS: Final = {COMPONENT_LABEL: COMPONENT}
"""Labels of the pods of all jobs. Operators have labels of their own, each others: these are on all."""


def member_labels(job_name: str) -> dict[str, str]:
    """Labels that the pods of a job have, and no others of its namespace.

    Args:
        job_name: Name of the job.
    """
    return {JOB_LABEL: job_name, **TRAINING_PODS}
