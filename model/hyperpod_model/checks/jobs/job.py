"""All checks of a job by itself."""

from __future__ import annotations

from hyperpod_model.checks.images import check_image
from hyperpod_model.checks.jobs.bounds import check_largest
from hyperpod_model.checks.jobs.checkpointless import check_job_checkpointless
from hyperpod_model.checks.jobs.checkpoints import check_checkpoints
from hyperpod_model.checks.jobs.counts import check_counts
from hyperpod_model.checks.jobs.defaults import Job
from hyperpod_model.checks.jobs.environment import check_environment
from hyperpod_model.checks.jobs.launch import check_launch
from hyperpod_model.checks.jobs.log_monitoring import check_log_monitoring
from hyperpod_model.checks.jobs.mounts import check_mounts
from hyperpod_model.checks.jobs.names import check_names
from hyperpod_model.checks.jobs.pairs import check_pairs
from hyperpod_model.checks.jobs.pod_size import check_pod_size
from hyperpod_model.checks.jobs.resume import check_resume
from hyperpod_model.checks.jobs.scheduling import check_scheduling
from hyperpod_model.checks.jobs.text import check_text
from hyperpod_model.checks.jobs.versions import check_versions
from hyperpod_model.faults import Fault


def check_job(job: Job) -> list[Fault]:
    """Check a job by itself.

    Args:
        job: The job as plain values, in the terms of its specification, each field given. ``UNKNOWN`` passes.

    Returns:
        Errors, for what is refused or never works, and warnings, for what is probably not meant.
    """
    faults = [
        *check_names(job),
        *check_image(job["image"], ("image",)),
        *check_counts(job),
        *check_pod_size(job),
        *check_launch(job),
        *check_environment(job),
        *check_resume(job),
        *check_log_monitoring(job),
        *check_mounts(job),
        *check_checkpoints(job),
        *check_job_checkpointless(job),
        *check_pairs(job),
        *check_scheduling(job),
        *check_versions(job),
        *check_largest(job),
        *check_text(job),
    ]
    return list(dict.fromkeys(faults))
