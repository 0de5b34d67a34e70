"""Which deep health checks nodes pass: the developer guide's three cases."""

from __future__ import annotations

from typing import Any, Literal

from hyperpod_model.catalog.cluster_rules import deep_health_check_accelerators
from hyperpod_model.checks.resilience import deep_health_checks, runs_deep_health_checks
from hyperpod_model.cluster_spec.instance_group import InstanceGroupSpec
from hyperpod_model.cluster_spec.resilience import ResilienceSpec
from hyperpod_model.faults import UNKNOWN
from hyperpod_model.spec_files.known import known


def takes_deep_health_checks(group: InstanceGroupSpec, orchestrator: Literal["slurm", "eks"]) -> bool:
    """Whether a cluster can check the nodes of a group, whatever type they get.

    Args:
        group: The group; with an instance type that the catalog lacks, nothing is known and the answer is no.
        orchestrator: Slurm clusters check GPUs only.
    """
    found = group.known_instance_types
    kinds = deep_health_check_accelerators(orchestrator)
    return bool(found) and all(
        entry.accelerator is not None and entry.accelerator.kind in kinds for entry in found
    )


def deep_health_checks_of(group: InstanceGroupSpec, resilience: Any, orchestrator: Any) -> Any:
    """Deep health checks of a group: its own, else what the situation asks for.

    Args:
        group: The group.
        resilience: The situation. If it is or holds ``UNKNOWN``, so is the answer where it depends on that.
        orchestrator: ``slurm`` or ``eks``; may be ``UNKNOWN``.
    """
    if group.deep_health_checks is not None:
        return group.deep_health_checks
    if orchestrator is UNKNOWN:
        return UNKNOWN
    if not takes_deep_health_checks(group, orchestrator):
        return ()
    if resilience is UNKNOWN or not known(
        resilience.spare_nodes, resilience.replacement_wait, resilience.commissioned
    ):
        return UNKNOWN
    return deep_health_checks() if checks_run(resilience) else ()


def checks_run(resilience: ResilienceSpec) -> bool:
    """Whether deep health checks run in a situation.

    Args:
        resilience: The situation.
    """
    return runs_deep_health_checks(
        spare_nodes=resilience.spare_nodes,
        replacement_wait=resilience.replacement_wait,
        commissioned=resilience.commissioned,
    )
