"""What the specifications of a cluster and a job say about failures and their cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from hyperpod_lifecycle.goodput.scenario import Scenario
from hyperpod_model.catalog.cluster_rules import deep_health_check_hours
from hyperpod_model.catalog.instances import instance_type, instance_types
from hyperpod_model.cluster_spec import ClusterSpec, InstanceGroupSpec
from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_model.job_spec import JobSpec

Origin = Literal["option", "job", "cluster", "assumption"]

_MINUTES_PER_HOUR: Final = 60
_SECONDS_PER_MINUTE: Final = 60
_FULLY_CHECKPOINTLESS: Final = 4
"""The tier at which processes take their state from peers."""


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A scenario, and where each of its numbers is from.

    Attributes:
        scenario: The run.
        origins: For each field: an ``option`` that the user gave, the ``job``, the ``cluster``, or an
            ``assumption``, which is the field's default.
    """

    scenario: Scenario
    origins: Mapping[str, Origin]


def derived(
    *,
    cluster: ClusterSpec | None = None,
    job: JobSpec | None = None,
    step_seconds: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Derived:
    """Collect what is known of a run.

    What the user says wins over the job, the job over the cluster, and the cluster over assumptions.

    Args:
        cluster: Where it trains. Default: unknown.
        job: What trains. Default: unknown.
        step_seconds: Seconds that a training step takes; jobs count their checkpoint intervals in steps.
            Default: unknown.
        options: Values of fields of ``Scenario``. Default: none.

    Raises:
        InvalidInputError: If the number of nodes is not known, steps cannot be turned into time, or the
            values together cannot be.
    """
    known: dict[str, tuple[Any, Origin]] = {}
    if cluster is not None:
        known.update({name: (value, "cluster") for name, value in _of_cluster(cluster, job).items()})
    if job is not None:
        known.update({name: (value, "job") for name, value in _of_job(job, step_seconds).items()})
    known.update({name: (value, "option") for name, value in ({} if options is None else options).items()})
    if "nodes" not in known:
        raise InvalidInputError(
            [Fault(("nodes",), "is not known; give it, a job, or a cluster with accelerated nodes")]
        )
    scenario = Scenario(**{name: value for name, (value, _) in known.items()})
    origins: dict[str, Origin] = {
        field.name: known[field.name][1] if field.name in known else "assumption"
        for field in fields(Scenario)
    }
    return Derived(scenario=scenario, origins=origins)


def _of_cluster(cluster: ClusterSpec, job: JobSpec | None) -> dict[str, Any]:
    groups = [
        group
        for group in cluster.instance_groups
        if group.is_accelerated and (job is None or job.instance_type in group.named_instance_types)
    ]
    if not groups:
        return {}
    found: dict[str, Any] = {"spare_nodes": cluster.resilience.spare_nodes}
    train = sum(group.instance_count for group in groups) - cluster.resilience.spare_nodes
    if train > 0:
        found["nodes"] = train
    devices = {_accelerators(name) for group in groups for name in group.named_instance_types}
    if len(devices) == 1:
        found["accelerators_per_node"] = devices.pop()
    if any(_checked(cluster, group) for group in groups):
        found["replacement_minutes"] = (
            Scenario.replacement_minutes + deep_health_check_hours() * _MINUTES_PER_HOUR
        )
    return found


def _checked(cluster: ClusterSpec, group: InstanceGroupSpec) -> bool:
    return bool(cluster.deep_health_checks_of(group))


def _accelerators(name: str) -> int:
    listed = instance_types().get(name)
    return 0 if listed is None or listed.accelerator is None else listed.accelerator.count


def _of_job(job: JobSpec, step_seconds: float | None) -> dict[str, Any]:
    accelerator = instance_type(job.instance_type).accelerator
    found: dict[str, Any] = {"nodes": job.max_nodes}
    if accelerator is not None:
        found["accelerators_per_node"] = accelerator.count if job.accelerators is None else job.accelerators
    if job.spares > 0:
        found["spare_nodes"] = job.spares
    if job.checkpointless is not None and job.checkpointless.tier >= _FULLY_CHECKPOINTLESS:
        found["checkpointless"] = True
    if job.checkpoint is not None and job.checkpoint.save_seconds is not None:
        found["save_minutes"] = job.checkpoint.save_seconds / _SECONDS_PER_MINUTE
    durable = None if job.checkpoint is None else job.checkpoint.s3_interval_steps
    memory = None if job.tiered_checkpointing is None else job.tiered_checkpointing.memory_interval_steps
    if step_seconds is None:
        if durable is not None or memory is not None:
            raise InvalidInputError(
                [
                    Fault(
                        ("step_seconds",),
                        f"is needed, since job '{job.name}' counts its checkpoint intervals in steps",
                    )
                ]
            )
        return found
    if durable is not None:
        found["checkpoint_interval_minutes"] = durable * step_seconds / _SECONDS_PER_MINUTE
    if memory is not None:
        found["memory_interval_minutes"] = memory * step_seconds / _SECONDS_PER_MINUTE
    return found
