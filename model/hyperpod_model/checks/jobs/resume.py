"""How a job ends, resumes and is cleaned up."""

from __future__ import annotations

from hyperpod_model.catalog.jobs import (
    OPERATORS,
    SHUTDOWN_MARGIN_SECONDS,
    TORCHRUN_SHUTDOWN_FIRST_VERSION,
    TORCHRUN_SHUTDOWN_SECONDS,
)
from hyperpod_model.checks.jobs.bounds import check_at_least
from hyperpod_model.checks.jobs.defaults import Job
from hyperpod_model.checks.jobs.versions import is_before
from hyperpod_model.checks.reading import absent, at, below, given, number, quoted, text
from hyperpod_model.faults import Fault


def check_resume(job: Job) -> list[Fault]:
    """Check restarts, the time to save a last checkpoint, and what is left of a finished job.

    Args:
        job: The job.
    """
    faults = check_at_least(job, ("grace_period_seconds", "active_deadline_seconds"), 1, unit="second")
    faults += check_at_least(job, ("ttl_seconds_after_finished",), 0)
    return [*faults, *_check_auto_resume(job), *_check_grace_period(job), *_check_clean_up(job)]


def _check_auto_resume(job: Job) -> list[Fault]:
    if not given(job, "auto_resume"):
        return []
    said = at(job, "auto_resume")
    faults = check_at_least(said, ("max_retries", "evaluation_period_seconds"), 1)
    faults += check_at_least(said, ("restarts_before_full_restart", "max_full_restarts"), 0)
    faults = below(("auto_resume",), faults)
    if absent(job, "checkpoint"):
        faults.append(
            Fault(
                ("checkpoint",),
                "is not given, so that each restart may begin at step 0; say where checkpoints are, or set "
                "auto_resume to null",
                "warning",
            )
        )
    return faults


def _check_grace_period(job: Job) -> list[Fault]:
    grace, save = number(job, "grace_period_seconds"), number(job, "checkpoint", "save_seconds")
    if grace is None or save is None or grace < 1:
        return []
    needed = save + SHUTDOWN_MARGIN_SECONDS
    if grace < needed:
        message = (
            f"must be {needed} or more, checkpoint.save_seconds and {SHUTDOWN_MARGIN_SECONDS} for the "
            f"launcher, got {grace}: the pod is killed while it saves"
        )
        return [Fault(("grace_period_seconds",), message)]
    return _check_torchrun(job, save)


def _check_torchrun(job: Job, save: int) -> list[Fault]:
    if at(job, "operator") != "kubeflow" or save <= TORCHRUN_SHUTDOWN_SECONDS:
        return []
    reason = (
        f"kills its processes {TORCHRUN_SHUTDOWN_SECONDS} seconds after SIGTERM, whatever the grace "
        "period, and a "
        f"save takes {save}"
    )
    way_out = f"take PyTorch {TORCHRUN_SHUTDOWN_FIRST_VERSION} or later, or save faster"
    if absent(job, "torch_version"):
        message = f"is not given, and torchrun before {TORCHRUN_SHUTDOWN_FIRST_VERSION} {reason}; {way_out}"
        return [Fault(("torch_version",), message, "warning")]
    version = text(job, "torch_version")
    if version is not None and is_before(version, TORCHRUN_SHUTDOWN_FIRST_VERSION):
        return [Fault(("torch_version",), f"is {version!r}, whose torchrun {reason}; {way_out}")]
    return []


def _check_clean_up(job: Job) -> list[Fault]:
    faults = []
    operator = OPERATORS.get(at(job, "operator"))
    policy = text(job, "clean_pod_policy")
    if operator is not None and policy is not None and policy not in operator.clean_pod_policies:
        allowed = quoted(operator.clean_pod_policies)
        message = f"must be one of {allowed} for operator {at(job, 'operator')!r}, got {policy!r}"
        faults.append(Fault(("clean_pod_policy",), message))
    if number(job, "ttl_seconds_after_finished") == 0:
        message = "deletes the job with its log as soon as it is over, failed or not; give it some time"
        faults.append(Fault(("ttl_seconds_after_finished",), message, "warning"))
    return faults
