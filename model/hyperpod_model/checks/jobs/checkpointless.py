"""Checkpointless training of a job, and its prerequisites."""

from __future__ import annotations

from hyperpod_model.catalog.jobs import CHECKPOINTLESS_TIERS, LEAST_OPTIMIZER_INSTANCES, PEER_TIER
from hyperpod_model.checks.checkpointless import check_checkpointless
from hyperpod_model.checks.jobs.counts import pods_may_share_nodes
from hyperpod_model.checks.jobs.defaults import Job, fewest_nodes, instance_type_of
from hyperpod_model.checks.reading import at, given, is_unknown, number
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath

_PATHS: dict[str, FaultPath] = {
    "operator_version": ("operator_version",),
    "framework": ("checkpointless", "framework"),
    "data_format": ("checkpointless", "data_format"),
    "image_uri": ("image",),
    "durable_interval_steps": ("checkpoint", "s3_interval_steps"),
    "package_version": ("checkpointless", "package_version"),
}


def check_job_checkpointless(job: Job) -> list[Fault]:
    """Check what checkpointless training asks of a job.

    Args:
        job: The job.
    """
    if not given(job, "checkpointless"):
        return []
    path: FaultPath = ("checkpointless",)
    if at(job, "operator") == "kubeflow":
        return [Fault(path, "is for operator 'hyperpod', which restarts single processes; change operator")]
    return [*_check_prerequisites(job), *_check_tier(job), *_check_nodes(job)]


def _check_prerequisites(job: Job) -> list[Fault]:
    said = at(job, "checkpointless")
    nodes, type_name = fewest_nodes(job), at(job, "instance_type")
    known = nodes is not None and isinstance(type_name, str)
    settings = {
        "operator_version": at(job, "operator_version"),
        "framework": at(said, "framework"),
        "data_format": at(said, "data_format"),
        "image_uri": UNKNOWN,  # judged for every job
        "durable_interval_steps": UNKNOWN,  # judged with the checkpoints
        "package_version": at(said, "package_version"),
    }
    found = check_checkpointless(
        settings,
        orchestrator="eks",
        groups=[{"InstanceType": type_name, "InstanceCount": nodes}] if known else UNKNOWN,
        tiered_checkpointing=_is_tiered(job),
    )
    return [
        fault._replace(
            path=_PATHS[str(fault.path[0])] if fault.path else ("checkpointless",),
            message=fault.message.replace("raise instance_count", "raise nodes"),
        )
        for fault in found
    ]


def _is_tiered(job: Job) -> bool:
    return given(job, "tiered_checkpointing")


def _check_tier(job: Job) -> list[Fault]:
    tier = number(job, "checkpointless", "tier")
    if tier is None:
        return []
    if tier not in CHECKPOINTLESS_TIERS:
        allowed = ", ".join(f"{number} ({words})" for number, words in CHECKPOINTLESS_TIERS.items())
        return [Fault(("checkpointless", "tier"), f"must be one of {allowed}, got {tier}")]
    path: FaultPath = ("checkpointless", "distributed_optimizer_instances")
    said = at(job, "checkpointless", "distributed_optimizer_instances")
    if is_unknown(said):
        return []
    instances = number(job, "checkpointless", "distributed_optimizer_instances")
    if tier >= PEER_TIER and said is None:
        message = (
            f"is required from tier {PEER_TIER} on, {LEAST_OPTIMIZER_INSTANCES} or more: where a "
            "peer's copy is"
        )
        return [Fault(path, message)]
    if instances is not None and instances < (LEAST_OPTIMIZER_INSTANCES if tier >= PEER_TIER else 1):
        message = f"must be {LEAST_OPTIMIZER_INSTANCES} or more: with one there is no copy to restore from"
        return [Fault(path, f"{message}, got {instances}")]
    return []


def _check_nodes(job: Job) -> list[Fault]:
    found = instance_type_of(job)
    faults = []
    if found is not None and (found.accelerator is None or found.accelerator.kind != "gpu"):
        message = f"changes NCCL and CUDA code, so that it needs GPUs, and {found.name} has none"
        faults.append(Fault(("checkpointless",), f"{message}; take a type with GPUs"))
    if pods_may_share_nodes(job):
        message = "leave room for a second pod on a node, where the ports of the host are taken"
        faults.append(Fault(("accelerators",), f"{message}; leave it out for whole nodes"))
    return faults
