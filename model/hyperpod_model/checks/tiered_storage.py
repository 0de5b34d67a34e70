"""Managed tiered checkpointing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_model.checks.instance_types import listed_type, named_types
from hyperpod_model.checks.orchestrators import orchestrator_of
from hyperpod_model.checks.reading import at, is_unknown, number, quoted, structures, text
from hyperpod_model.faults import Fault, FaultPath


def check_tiered_storage(request: Mapping[str, Any]) -> list[Fault]:
    """Check the share of memory for tiered storage, and that the nodes can reach each other's memory."""
    path = ("TieredStorageConfig", "InstanceMemoryAllocationPercentage")
    percentage = number(request, *path)
    field = cluster_request().at(*path)
    faults = []
    least, most = TIERED_MEMORY_PERCENTAGE.value
    if percentage is not None and field.min is not None and field.min <= percentage < least:
        faults.append(Fault(path, f"must be {least} to {most}, got {percentage}"))
    if text(request, "TieredStorageConfig", "Mode") == "Enable" and orchestrator_of(request) == "eks":
        faults += _check_one_subnet(request)
    return faults


def check_tiered_checkpointing(*, memory_percentage: Any, s3_interval_steps: Any) -> list[Fault]:
    """Check how checkpoints are tiered. ``UNKNOWN`` passes.

    Args:
        memory_percentage: Share of each node's memory that keeps checkpoints.
        s3_interval_steps: Steps between two checkpoints that also go to the bucket.

    Returns:
        Faults with the paths ``memory_percentage`` and ``s3_interval_steps``.
    """
    faults = []
    least, most = TIERED_MEMORY_PERCENTAGE.value
    values = {"memory_percentage": memory_percentage, "s3_interval_steps": s3_interval_steps}
    percentage, steps = number(values, "memory_percentage"), number(values, "s3_interval_steps")
    if memory_percentage is None:
        faults.append(
            Fault(
                ("memory_percentage",),
                f"is required, {least} to {most}: what the service takes by default is undocumented, and "
                "pods can ask only for the memory that is left",
            )
        )
    elif not is_unknown(memory_percentage) and (percentage is None or not least <= percentage <= most):
        faults.append(
            Fault(
                ("memory_percentage",),
                f"must be {least} to {most}, a whole percentage of each node's memory, "
                f"got {memory_percentage!r}",
            )
        )
    if s3_interval_steps is None:
        faults.append(
            Fault(
                ("s3_interval_steps",),
                "is required: the memory tier does not outlive a stop of the whole cluster, so every so many "
                "steps a checkpoint has to go to the bucket",
            )
        )
    elif not is_unknown(s3_interval_steps) and (steps is None or steps < 1):
        faults.append(Fault(("s3_interval_steps",), f"must be 1 or more steps, got {s3_interval_steps!r}"))
    return faults


def _check_one_subnet(request: Mapping[str, Any]) -> list[Fault]:
    common = _subnets(request, "VpcConfig")
    seen: dict[str, str] = {}
    for index, group in accelerated_groups(request):
        overridden = at(group, "OverrideVpcConfig") is not None
        subnets = _subnets(group, "OverrideVpcConfig") if overridden else common
        if subnets is None:
            continue
        path: FaultPath = ("InstanceGroups", index, "OverrideVpcConfig") if overridden else ("VpcConfig",)
        name = text(group, "InstanceGroupName")
        label = f"#{index}" if name is None else repr(name)
        for subnet in subnets:
            seen.setdefault(subnet, label)
        if len(seen) > 1:
            return [
                Fault(
                    path,
                    "must be the one subnet that all accelerated groups share where tiered checkpointing is "
                    f"on, got {quoted(seen)} for {', '.join(dict.fromkeys([*seen.values(), label]))}: nodes "
                    "keep copies in each other's memory, on ports that are closed to other subnets; give "
                    "them one subnet, or turn tiered checkpointing off",
                )
            ]
    return []


def accelerated_groups(request: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the groups of a request with accelerators, each with its index."""
    for index, group in structures(request, "InstanceGroups"):
        types = [listed_type(name) for _, name in named_types(group)]
        if any(found is not None and found.is_accelerated for found in types):
            yield index, group


def _subnets(owner: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    subnets = at(owner, name, "Subnets")
    if not isinstance(subnets, (list, tuple)) or not all(isinstance(subnet, str) for subnet in subnets):
        return None
    return tuple(dict.fromkeys(subnets))
