"""What becomes of a job when a process, a node or all of it dies."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_charts.command.explanation.reason import Reason
from hyperpod_model.catalog.jobs import CHECKPOINTLESS_TIERS
from hyperpod_model.job_spec import JobSpec


def recovery(job: JobSpec) -> Iterator[Reason]:
    """Explain how a job goes on after a fault, from where, and what stays of it.

    Args:
        job: The job.
    """
    yield from _restarts(job)
    yield from _state(job)
    for rule in job.log_monitoring:
        yield Reason(f"log monitoring {rule.name}", rule.pattern, "a log that breaks it counts as a fault")
    yield Reason(
        "cleanPodPolicy",
        job.resolved_clean_pod_policy,
        "clean_pod_policy says so" if job.clean_pod_policy is not None else "pods stay for their logs",
    )
    yield Reason(
        "ttlSecondsAfterFinished", str(job.ttl_seconds_after_finished), "how long a finished job is kept"
    )
    if job.active_deadline_seconds is not None:
        yield Reason(
            "activeDeadlineSeconds",
            str(job.active_deadline_seconds),
            "after that the job is ended, done or not",
        )


def _restarts(job: JobSpec) -> Iterator[Reason]:
    resume = job.auto_resume
    if resume is None:
        yield Reason("restarts", "none", "auto_resume is null: the first fault ends the job")
        return
    if job.operator == "kubeflow":
        for key, value in job.annotations_of_job().items():
            yield Reason(
                key, value, "HyperPod replaces the node and starts the job again, as text that it reads"
            )
        yield Reason(
            "backoffLimit",
            str(job.backoff_limit),
            f"{job.max_retries} restarts of each of {job.max_nodes} pods: the operator adds them all up",
        )
        return
    yield Reason(
        "jobMaxRetryCount",
        str(job.max_retries),
        "auto_resume.max_retries: a job that never works ends at last",
    )
    yield Reason(
        "evalPeriodSeconds", str(resume.evaluation_period_seconds), "restarts are counted within this time"
    )
    yield Reason(
        "numRestartBeforeFullJobRestart",
        str(resume.restarts_before_full_restart),
        "restarts of processes alone before all pods are made anew",
    )


def _state(job: JobSpec) -> Iterator[Reason]:
    if job.checkpointless is not None:
        yield Reason(
            "checkpointless",
            f"tier {job.checkpointless.tier}",
            f"{CHECKPOINTLESS_TIERS[job.checkpointless.tier]}, and what the tiers below it do; nothing of it "
            "outlives a stop of all nodes",
        )
    if job.tiered_checkpointing is not None:
        yield Reason(
            "memory tier",
            f"every {job.tiered_checkpointing.memory_interval_steps} steps",
            "the memory of the nodes outlives processes and single nodes, not a stop of all nodes",
        )
    said = job.checkpoint
    if said is None:
        yield Reason("checkpoints", "none known", "checkpoint is not given: a restart may begin at step 0")
        return
    if said.path is not None:
        yield Reason("checkpoints", said.path, "the file system outlives the nodes")
    if said.s3_uri is not None:
        steps = "" if said.s3_interval_steps is None else f" every {said.s3_interval_steps} steps"
        yield Reason("durable checkpoints", f"{said.s3_uri}{steps}", "Amazon S3 outlives everything here")
