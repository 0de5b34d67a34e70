"""Slurm that the package's own scripts configure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hyperpod_model.catalog.cluster_rules import controller_instance_count, partitions_per_compute_group
from hyperpod_model.catalog.nodes import PROVISIONING_PARAMETERS_FILE
from hyperpod_model.checks.slurm_settings import check_slurm_settings
from hyperpod_model.faults import Fault
from hyperpod_model.spec_files.known import known

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec

_OF_OUR_SCRIPTS = ("accounting", "settings")


def check_scripted_slurm(spec: ClusterSpec, *, uploads_own_scripts: bool) -> list[Fault]:
    """Check what the package's own scripts need to configure Slurm, and that nobody else is asked to.

    Args:
        spec: A specification with Slurm whose mode and groups are known.
        uploads_own_scripts: Whether some group runs the package's own scripts.
    """
    slurm: Any = spec.slurm
    if slurm.mode != "lifecycle" or not uploads_own_scripts:
        return [
            Fault(
                ("slurm", field),
                "is set up by the package's own scripts in mode 'lifecycle'; leave it out, or let them",
            )
            for field in _OF_OUR_SCRIPTS
            if known(getattr(slurm, field)) and getattr(slurm, field)
        ]
    if spec.lifecycle_scripts is None:
        message = (
            "'lifecycle' needs scripts that configure Slurm, and lifecycle_scripts is null; leave one out or "
            "give each group scripts of its own"
        )
        return [Fault(("slurm", "mode"), message)]
    return [*_check_mode(spec), *_check_roles(spec), *_check_runs(spec), *_check_settings(slurm)]


def _check_mode(spec: ClusterSpec) -> list[Fault]:
    if spec.node_provisioning_mode != "Continuous":
        return []
    message = (
        f"must be null where the package's scripts configure Slurm: continuous provisioning does not read "
        f"{PROVISIONING_PARAMETERS_FILE}, of which HyperPod makes slurm.conf; write null, or leave "
        "slurm.mode out"
    )
    return [Fault(("node_provisioning_mode",), message)]


def _check_runs(spec: ClusterSpec) -> list[Fault]:
    return [
        Fault(
            ("instance_groups", index, "runs_lifecycle_scripts"),
            "is false, and the scripts are what starts Slurm on a node; leave it out",
        )
        for index, group in enumerate(spec.instance_groups)
        if known(group) and group.runs_lifecycle_scripts is False
    ]


def _check_roles(spec: ClusterSpec) -> list[Fault]:
    groups: list[Any] = list(spec.instance_groups)
    if not known(*groups) or not known(*(group.node_type for group in groups)):
        return []
    faults = [
        Fault(
            ("instance_groups", index, "node_type"),
            "is required where the package's scripts configure Slurm: one of Controller, Login, Compute; or "
            "give scripts of your own in lifecycle_scripts",
        )
        for index, group in enumerate(groups)
        if group.node_type is None
    ]
    for node_type, most in (("Controller", 1), ("Login", 1)):
        indexes = [index for index, group in enumerate(groups) if group.node_type == node_type]
        faults += [
            Fault(
                ("instance_groups", index, "node_type"),
                f"is a second {node_type}; the package's scripts take one, instance_groups[{indexes[0]}]",
            )
            for index in indexes[most:]
        ]
    if not faults:
        faults += [
            Fault(("instance_groups",), f"no group is {words}; give one the node_type {node_type}")
            for node_type, words in (("Controller", "the Controller"), ("Compute", "for jobs"))
            if all(group.node_type != node_type for group in groups)
        ]
    return [*faults, *(fault for index, group in enumerate(groups) for fault in _check_group(index, group))]


def _check_group(index: int, group: Any) -> list[Fault]:
    where = ("instance_groups", index)
    faults = []
    if (
        group.node_type == "Controller"
        and known(group.instance_count)
        and group.instance_count != controller_instance_count()
    ):
        message = (
            f"must be {controller_instance_count()} for the Controller group, got {group.instance_count}"
        )
        faults.append(Fault((*where, "instance_count"), message))
    if not known(group.partition_names):
        return faults
    wanted = partitions_per_compute_group() if group.node_type == "Compute" else 0
    got = len(group.partition_names)
    if group.node_type is not None and got != wanted:
        said = f"exactly {wanted} partition" if wanted else "none, since only Compute groups run jobs"
        message = f"must be {said}, got {got} in a {group.node_type} group"
        faults.append(Fault((*where, "partition_names"), message))
    return faults


def _check_settings(slurm: Any) -> list[Fault]:
    if not known(slurm.settings, slurm.accounting):
        return []
    found = check_slurm_settings(slurm.settings, accounting=slurm.accounting)
    return [fault._replace(path=("slurm", "settings", *fault.path)) for fault in found]
