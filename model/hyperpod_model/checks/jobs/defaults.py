"""What a job means by what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.catalog.jobs import ACCELERATOR_TAINTS, AUTO_RESUME_NAMESPACE, team_namespace
from hyperpod_model.checks.instance_types import listed_type
from hyperpod_model.checks.reading import absent, at, number, text

Job = Mapping[str, Any]
"""A job as plain values, in the terms of its specification. Any of them may be ``UNKNOWN``."""

MEMBER_LABEL_KEYS: Final = ("app.kubernetes.io/instance", "app.kubernetes.io/component")
"""Labels by which the pods of a job are told from all others: the first is its name, the second its kind."""


def namespace_of(job: Job) -> str | None:
    """Namespace of a job with the default applied. None where there is none, or it is not known.

    Args:
        job: The job.
    """
    if not absent(job, "namespace"):
        return text(job, "namespace")
    if not absent(job, "team"):
        team = text(job, "team")
        return None if team is None else team_namespace(team)
    return AUTO_RESUME_NAMESPACE if at(job, "operator") == "kubeflow" else None


def most_nodes(job: Job) -> int | None:
    """Most nodes that a job runs on. None where that is not known.

    Args:
        job: The job.
    """
    return number(job, "nodes") if absent(job, "elastic") else number(job, "elastic", "max_nodes")


def fewest_nodes(job: Job) -> int | None:
    """Fewest nodes that a job runs on. None where that is not known.

    Args:
        job: The job.
    """
    return number(job, "nodes") if absent(job, "elastic") else number(job, "elastic", "min_nodes")


def instance_type_of(job: Job) -> InstanceType | None:
    """What the catalog knows of a job's instance type. None where it does not list it.

    Args:
        job: The job.
    """
    return listed_type(at(job, "instance_type"))


def accelerator_taint(instance_type: InstanceType) -> str | None:
    """Key of the taint that nodes with accelerators commonly have. None without accelerators.

    Args:
        instance_type: Type of the nodes.
    """
    return None if instance_type.accelerator is None else ACCELERATOR_TAINTS[instance_type.accelerator.kind]
