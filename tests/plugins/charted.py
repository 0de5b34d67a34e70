"""Kubernetes objects of cdk8s constructs, as plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cdk8s import App, Chart
from constructs import Construct
from plain_jobs import SPOTLESS

from hyperpod_charts import TrainingPod
from hyperpod_model.job_spec import JobSpec

IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1.4.0"
TOKEN = "${Token[TOKEN.42]}"
"""How the CDK writes a value that exists only at deployment."""

NUMBER_TOKEN = -1.8881545897087503e289
"""How it writes such a number."""


def objects_of(build: Callable[[Construct], Any]) -> list[dict[str, Any]]:
    """Return all objects that a function makes in a chart.

    Args:
        build: Makes constructs in the chart that it gets.
    """
    chart = Chart(App(), "Test", disable_resource_name_hashes=True)
    build(chart)
    found: list[dict[str, Any]] = chart.to_json()
    return found


def object_of(build: Callable[[Construct], Any]) -> dict[str, Any]:
    """Return the one object that a function makes in a chart.

    Args:
        build: Makes one construct in the chart that it gets.
    """
    (found,) = objects_of(build)
    return found


def training_pod(**changes: Any) -> TrainingPod:
    """Return pods of a job.

    Args:
        changes: What differs from pods with one GPU.
    """
    said: dict[str, Any] = {
        "image": IMAGE,
        "command": ["torchrun"],
        "args": ["/workspace/train.py"],
        "resources": {"nvidia.com/gpu": "1", "memory": "16Gi"},
        "termination_grace_period_seconds": 120,
    }
    return TrainingPod(**(said | changes))


def job_spec(**changes: Any) -> JobSpec:
    """Return a job specification.

    Args:
        changes: Fields that differ from those of ``plain_jobs.SPOTLESS``.
    """
    return JobSpec.model_validate(SPOTLESS | changes)
