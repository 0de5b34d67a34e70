"""Manifests of the example jobs, and of jobs like them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from hyperpod_charts import render
from hyperpod_model.job_spec import JobSpec, load_job
from hyperpod_model.job_spec.plain_values import plain_values

EXAMPLES = Path(__file__).parents[2] / "examples" / "jobs"

Body = dict[str, Any]


def examples() -> list[str]:
    """Return the names of the example jobs."""
    return sorted(path.stem for path in EXAMPLES.glob("*.yaml"))


def example(name: str, **changes: Any) -> JobSpec:
    """Return an example job.

    Args:
        name: Name of its file without the suffix.
        changes: Fields that differ.
    """
    job = load_job(EXAMPLES / f"{name}.yaml")
    return JobSpec.model_validate(plain_values(job) | changes) if changes else job


def objects_of(job: JobSpec) -> list[Body]:
    """Return the objects that are rendered for a job, as a server reads them.

    Args:
        job: The job.
    """
    return list(yaml.safe_load_all(render(job)))


def manifest_of(job: JobSpec) -> Body:
    """Return the rendered job alone.

    Args:
        job: The job.
    """
    (found,) = (body for body in objects_of(job) if body["kind"].endswith("Job"))
    return found
