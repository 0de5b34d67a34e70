"""The autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.cluster_rules import autoscaled_instance_count, autoscaling_node_recovery
from hyperpod_model.checks.orchestrators import is_continuous, orchestrator_of
from hyperpod_model.checks.reading import absent, items, number, structures, text
from hyperpod_model.faults import Fault


def check_autoscaling(request: Mapping[str, Any]) -> list[Fault]:
    """Check that the autoscaler has a role to act with, groups to scale, and healthy nodes."""
    if text(request, "AutoScaling", "Mode") != "Enable":
        return []
    faults = []
    if absent(request, "ClusterRole"):
        faults.append(
            Fault(
                ("ClusterRole",), "is required with autoscaling: the role that HyperPod assumes to add nodes"
            )
        )
    recovery = text(request, "NodeRecovery")
    wanted = autoscaling_node_recovery()
    if recovery is not None and recovery != wanted:
        faults.append(Fault(("NodeRecovery",), f"must be {wanted!r} with autoscaling, got {recovery!r}"))
    groups = list(structures(request, "InstanceGroups"))
    least = autoscaled_instance_count()
    counts = [number(group, "InstanceCount") for _, group in groups]
    all_known = len(groups) == len(items(request, "InstanceGroups")) and None not in counts
    works = orchestrator_of(request) == "eks" and is_continuous(request)
    if works and groups and all_known and least not in counts:
        faults.append(
            Fault(
                ("AutoScaling",),
                f"finds no group with instance_count {least}: Karpenter takes over groups that a "
                "HyperPodNodeClass names, and scales down to none those that begin with more; add one",
                severity="warning",
            )
        )
    return faults
