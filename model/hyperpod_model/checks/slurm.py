"""Slurm: node types, partitions, who configures it, and the accounting database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.behaviours import SLURM_STRATEGY_WHEN_ABSENT
from hyperpod_model.catalog.cluster_rules import (
    accounting_database_names,
    controller_instance_count,
    max_groups_of,
    partitions_per_compute_group,
    reserved_partitions,
)
from hyperpod_model.checks.orchestrators import is_continuous, is_unknown_provisioning, orchestrator_of
from hyperpod_model.checks.reading import absent, at, given, is_unknown, items, number, structures, text
from hyperpod_model.faults import Fault, FaultPath

_PARTITIONS: FaultPath = ("SlurmConfig", "PartitionNames")


def check_slurm_group(group: Mapping[str, Any]) -> list[Fault]:
    """Check the Slurm configuration of one group."""
    node_type = text(group, "SlurmConfig", "NodeType")
    faults = []
    if node_type == "Compute":
        faults += _check_compute_partitions(group)
    elif node_type in ("Controller", "Login") and len(items(group, *_strings(_PARTITIONS))) > 0:
        faults.append(
            Fault(_PARTITIONS, f"go with Compute groups only, got a {node_type} group; leave them out")
        )
    count = number(group, "InstanceCount")
    if node_type == "Controller" and count is not None and count != controller_instance_count():
        faults.append(
            Fault(
                ("InstanceCount",),
                f"must be {controller_instance_count()} for the Controller group, got {count}",
            )
        )
    for index, name in enumerate(items(group, *_strings(_PARTITIONS))):
        reason = reserved_partitions().get(name.lower()) if isinstance(name, str) else None
        if reason is not None:
            faults.append(Fault((*_PARTITIONS, index), f"{name!r} is taken: {reason}; choose another name"))
    return faults


def check_slurm_cluster(request: Mapping[str, Any]) -> list[Fault]:
    """Check what Slurm asks of the whole cluster. Silent where the orchestrator is another."""
    if orchestrator_of(request) != "slurm":
        return []
    groups = list(structures(request, "InstanceGroups"))
    all_known = len(groups) == len(items(request, "InstanceGroups")) and not any(
        is_unknown(at(group, "SlurmConfig")) for _, group in groups
    )
    configured = [(index, group) for index, group in groups if given(group, "SlurmConfig")]
    faults = _check_topology(groups, configured) if all_known else []
    faults += _check_login(configured)
    faults += _check_strategy(request, api_driven=bool(configured))
    faults += _check_accounting(request, configured if all_known else None)
    faults += _check_driver(request, groups, configured) if all_known else []
    return faults


def _strings(path: FaultPath) -> list[str]:
    return [str(step) for step in path]


def _check_compute_partitions(group: Mapping[str, Any]) -> list[Fault]:
    found = at(group, *_strings(_PARTITIONS))
    wanted = partitions_per_compute_group()
    if found is None or (isinstance(found, (list, tuple)) and len(found) != wanted):
        got = 0 if found is None else len(found)
        return [Fault(_PARTITIONS, f"must name exactly {wanted} partition in a Compute group, got {got}")]
    return []


def _check_topology(
    groups: list[tuple[int, Mapping[str, Any]]], configured: list[tuple[int, Mapping[str, Any]]]
) -> list[Fault]:
    if not configured:
        return []
    faults = [
        Fault(
            ("InstanceGroups", index, "SlurmConfig"),
            "is missing, while other groups have it; give slurm_node_type to every group or to none",
        )
        for index, group in groups
        if absent(group, "SlurmConfig")
    ]
    controllers = [
        index for index, group in configured if text(group, "SlurmConfig", "NodeType") == "Controller"
    ]
    # A group without a node type may be the one that is meant to be the controller.
    undecided = bool(faults) or any(
        is_unknown(at(group, "SlurmConfig", "NodeType")) for _, group in configured
    )
    if not controllers and not undecided:
        faults.append(
            Fault(
                ("InstanceGroups",),
                "no group is the Controller; give one group the slurm_node_type Controller",
            )
        )
    for index in controllers[max_groups_of("Controller") :]:
        faults.append(
            Fault(
                ("InstanceGroups", index, "SlurmConfig", "NodeType"),
                f"is a second Controller; a cluster has exactly one, here instance_groups[{controllers[0]}]",
            )
        )
    return faults


def _check_login(configured: list[tuple[int, Mapping[str, Any]]]) -> list[Fault]:
    logins = [index for index, group in configured if text(group, "SlurmConfig", "NodeType") == "Login"]
    return [
        Fault(
            ("InstanceGroups", index, "SlurmConfig", "NodeType"),
            "is a second Login; a cluster has at most one Login group, raise its instance_count instead",
        )
        for index in logins[max_groups_of("Login") :]
    ]


def _check_strategy(request: Mapping[str, Any], *, api_driven: bool) -> list[Fault]:
    path: FaultPath = ("Orchestrator", "Slurm", "SlurmConfigStrategy")
    strategy = text(request, *_strings(path))
    if strategy is not None and is_continuous(request):
        return [
            Fault(
                path,
                f"must be absent with node_provisioning_mode 'Continuous', got {strategy!r}; "
                "leave one of them out",
            )
        ]
    undecided = strategy is None and absent(request, *_strings(path))
    if api_driven and undecided and not is_continuous(request) and not is_unknown_provisioning(request):
        doubt = SLURM_STRATEGY_WHEN_ABSENT.doubt
        return [
            Fault(
                path,
                f"should be chosen, since its default is in doubt ({doubt}): Overwrite, Managed or Merge",
                severity="warning",
            )
        ]
    return []


def _check_accounting(
    request: Mapping[str, Any], configured: list[tuple[int, Mapping[str, Any]]] | None
) -> list[Fault]:
    path: FaultPath = ("Orchestrator", "Slurm", "AccountingDatabase")
    if not given(request, *_strings(path)):
        return []
    faults = []
    if absent(request, *_strings(path), "Name"):
        defaults = ", ".join(f"{source} says {name}" for source, name in accounting_database_names().items())
        faults.append(
            Fault(
                (*path, "Name"),
                f"should be given, since its default is in doubt: {defaults}",
                severity="warning",
            )
        )
    if configured == []:
        faults.append(
            Fault(
                path,
                "needs HyperPod to configure Slurm; give slurm_node_type to the groups, or leave it out",
            )
        )
    return faults


def _check_driver(
    request: Mapping[str, Any],
    groups: list[tuple[int, Mapping[str, Any]]],
    configured: list[tuple[int, Mapping[str, Any]]],
) -> list[Fault]:
    if configured or not groups:
        return []
    faults = [
        Fault(
            ("InstanceGroups", index, "LifeCycleConfig"),
            "is missing, and without slurm_node_type nothing configures Slurm; "
            "give on_create scripts or node types",
            severity="warning",
        )
        for index, group in groups
        if absent(group, "LifeCycleConfig")
    ]
    if is_continuous(request):
        faults.append(
            Fault(
                ("NodeProvisioningMode",),
                "'Continuous' is documented on Slurm only with slurm_node_type on every group, and excludes "
                "provisioning_parameters.json; leave it out where lifecycle scripts configure Slurm",
                severity="warning",
            )
        )
    return faults
