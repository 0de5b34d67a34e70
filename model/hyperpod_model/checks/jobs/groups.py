"""Which instance groups of a cluster a job's pods fit on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.catalog.labels import MIG_CONFIG
from hyperpod_model.catalog.pod_resources import own_threads_per_core, pod_vcpu
from hyperpod_model.checks.instance_types import named_types
from hyperpod_model.checks.jobs.defaults import Job, accelerator_taint, instance_type_of
from hyperpod_model.checks.reading import absent, at, given, is_unknown, items, number, structures, text
from hyperpod_model.faults import FaultPath
from hyperpod_model.pod_resources import NodeSetup, memory_left_gib, node_accelerators

Request = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMatch:
    """A group of a job's instance type.

    Attributes:
        name: Name of the group.
        count: Its instances. None where that is known only at deployment.
        is_spot: Whether its capacity is Spot. None likewise.
        reason: Why the pods do not fit on it. None if they do.
        path: Field of the job that is in the way.
    """

    name: str
    count: int | None
    is_spot: bool | None
    reason: str | None
    path: FaultPath


def matching_groups(job: Job, request: Request) -> list[GroupMatch]:
    """Find the groups of a job's instance type, and whether its pods fit on them.

    Args:
        job: The job.
        request: The cluster in terms of the ``CreateCluster`` request.
    """
    wanted = text(job, "instance_type")
    matches = []
    for index, group in structures(request, "InstanceGroups"):
        if wanted is None or wanted not in {name for _, name in named_types(group)}:
            continue
        name = text(group, "InstanceGroupName")
        label = f"#{index}" if name is None else name
        path, reason = _in_the_way(job, group, request, label)
        capacity = at(group, "CapacityRequirements")
        matches.append(
            GroupMatch(
                name=label,
                count=number(group, "InstanceCount"),
                is_spot=None if is_unknown(capacity) else at(capacity, "Spot") is not None,
                reason=reason,
                path=path,
            )
        )
    return matches


def room_for_pods(job: Job, groups: Sequence[GroupMatch]) -> int | None:
    """Pods of a job that there is room for, None where that is not known.

    Args:
        job: The job.
        groups: Groups that the pods fit on.
    """
    counts = [group.count for group in groups]
    if any(count is None for count in counts):
        return None
    return pods_on(job, sum(count for count in counts if count is not None))


def pods_on(job: Job, nodes: int) -> int:
    """Pods of a job that fit on so many nodes of its instance type.

    Args:
        job: The job.
        nodes: The nodes.
    """
    found, asked = instance_type_of(job), number(job, "accelerators")
    whole = 0 if found is None else node_accelerators(found)
    if asked is None or asked < 1 or not absent(job, "gpu_partition") or whole == 0:
        return nodes
    return nodes * max(1, whole // asked)


def _in_the_way(
    job: Job, group: Mapping[str, Any], request: Request, name: str
) -> tuple[FaultPath, str | None]:
    for check in (_checks_passed, _partition, _labels, _taints):
        path, reason = check(job, group)
        if reason is not None:
            return path, reason.format(group=repr(name))
    found = instance_type_of(job)
    if found is None:
        return (), None
    path, reason = _size(job, group, request, found)
    return path, None if reason is None else reason.format(group=repr(name))


def _checks_passed(job: Job, group: Mapping[str, Any]) -> tuple[FaultPath, str | None]:
    checks = at(group, "OnStartDeepHealthChecks")
    if at(job, "deep_health_checked") is not True or is_unknown(checks) or checks:
        return (), None
    reason = (
        "selects nodes that passed deep health checks, and group {group} has none; leave it out, or "
        "turn them on"
    )
    return ("deep_health_checked",), reason


def _partition(job: Job, group: Mapping[str, Any]) -> tuple[FaultPath, str | None]:
    profile = text(job, "gpu_partition")
    labels = at(group, "KubernetesConfig", "Labels")
    path: FaultPath = ("gpu_partition",)
    config = None if is_unknown(labels) else at(labels, MIG_CONFIG.key)
    if is_unknown(labels) or is_unknown(config):
        return path, None
    if absent(job, "gpu_partition"):
        if config is None:
            return path, None
        return path, "is required on group {group}, whose GPUs are divided; give it with accelerators"
    if profile is not None and (config is None or profile.removeprefix("mig-") not in str(config)):
        return (
            path,
            f"is {profile!r}, and group {{group}} has not the label {MIG_CONFIG.key} for it; set it there",
        )
    return path, None


def _labels(job: Job, group: Mapping[str, Any]) -> tuple[FaultPath, str | None]:
    wanted, has = at(job, "node_selector"), at(group, "KubernetesConfig", "Labels")
    if not isinstance(wanted, Mapping) or not isinstance(has, Mapping):
        return (), None
    for key, value in wanted.items():
        there = has.get(key)
        if isinstance(value, str) and isinstance(there, str) and there != value:
            return ("node_selector", key), f"is {value!r}, and group {{group}} has {there!r}; correct it"
    return (), None


def _taints(job: Job, group: Mapping[str, Any]) -> tuple[FaultPath, str | None]:
    found = instance_type_of(job)
    own = None if found is None else accelerator_taint(found)
    for taint in items(group, "KubernetesConfig", "Taints"):
        key, effect = text(taint, "Key"), text(taint, "Effect")
        if key is None or effect is None or effect == "PreferNoSchedule" or key == own:
            continue
        if not any(_tolerates(said, taint) for _, said in structures(job, "tolerations")):
            return ("tolerations",), f"lack one for taint {key!r} of group {{group}}; add {{{{key: {key}}}}}"
    return (), None


def _tolerates(said: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if any(is_unknown(value) for value in said.values()):
        return True
    same_value = at(said, "operator") != "Equal" or at(said, "value") == at(taint, "Value")
    same_effect = absent(said, "effect") or at(said, "effect") == at(taint, "Effect")
    return at(said, "key") == at(taint, "Key") and same_value and same_effect


def _size(
    job: Job, group: Mapping[str, Any], request: Request, found: InstanceType
) -> tuple[FaultPath, str | None]:
    threads = at(group, "ThreadsPerCore")
    vcpu = number(job, "vcpu")
    if vcpu is not None and not is_unknown(threads):
        each = own_threads_per_core(found) if threads is None else threads
        most = pod_vcpu(found, threads_per_core=each)
        if vcpu > most:
            how = f" with threads_per_core {each}" if given(group, "ThreadsPerCore") else ""
            return ("vcpu",), f"must be at most {most} on group {{group}}{how}, got {vcpu}"
    memory, tiered = number(job, "memory_gib"), at(request, "TieredStorageConfig", "Mode") == "Enable"
    if memory is not None and tiered:
        percentage = number(request, "TieredStorageConfig", "InstanceMemoryAllocationPercentage")
        left = memory_left_gib(found, node=NodeSetup(tiered_memory_percentage=percentage))
        if memory > left:
            reason = (
                f"must be at most {left} on group {{group}}, where tiered checkpointing takes "
                f"{percentage} percent"
            )
            return ("memory_gib",), f"{reason}, got {memory}"
    return (), None
