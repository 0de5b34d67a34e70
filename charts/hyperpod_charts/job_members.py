"""How the pods of one job are told from all others."""

from __future__ import annotations

from typing import Final

from hyperpod_model.checks.jobs.defaults import MEMBER_LABEL_KEYS

JOB_LABEL, COMPONENT_LABEL = MEMBER_LABEL_KEYS
COMPONENT: Final = "training"

TRAINING_PODS: Final = {COMPONENT_LABEL: COMPONENT}
"""Labels of the pods of all jobs. Operators have labels of their own, each others: these are on all."""


def member_labels(job_name: str) -> dict[str, str]:
    """Labels that the pods of a job have, and no others of its namespace.

    Args:
        job_name: Name of the job.
    """
    return {JOB_LABEL: job_name, **TRAINING_PODS}
