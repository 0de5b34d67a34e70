"""Restricted instance groups, which train models such as Amazon Nova."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.checks.deep_health_checks import check_deep_health_checks, check_deep_health_checks_under
from hyperpod_model.checks.instance_types import check_instance_types
from hyperpod_model.checks.orchestrators import orchestrator_of
from hyperpod_model.checks.reading import absent, below, given, items, structures
from hyperpod_model.checks.shape import check_shape
from hyperpod_model.checks.sizes import check_sizes
from hyperpod_model.checks.volumes import check_volumes
from hyperpod_model.faults import Fault

_GROUPS = "RestrictedInstanceGroups"
_SHARED = "RestrictedInstanceGroupsConfig"


def check_restricted_group(
    group: Mapping[str, Any], *, unlisted_instance_types: Collection[str] = ()
) -> list[Fault]:
    """Check one group in the terms of ``RestrictedInstanceGroups[]`` of a ``CreateCluster`` request.

    Args:
        group: The group. Members that are or hold ``UNKNOWN`` pass; ``None`` counts as absent.
        unlisted_instance_types: Instance types the user vouches for though the catalog does not list them.

    Returns:
        All faults, with paths relative to the group.
    """
    faults = check_rules_of_restricted_group(group, unlisted_instance_types=unlisted_instance_types)
    judged = {fault.path for fault in faults if fault.severity == "error"}
    model = cluster_request().at(_GROUPS).item
    shape = [] if model is None else check_shape(group, model)
    return [fault for fault in shape if fault.path not in judged] + faults


def check_rules_of_restricted_group(
    group: Mapping[str, Any], *, unlisted_instance_types: Collection[str] = ()
) -> list[Fault]:
    """Check what the service's model does not say about one group, leaving the shape aside."""
    faults = [
        *check_instance_types(group, unlisted_instance_types=unlisted_instance_types),
        *check_sizes(group),
        *check_volumes(group),
        *check_deep_health_checks(group),
    ]
    faults += [
        Fault(
            ("InstanceStorageConfigs", index, "EbsVolumeConfig", "VolumeKmsKeyId"),
            "does not go with restricted groups, whose volumes take no customer managed key; leave it out",
        )
        for index, config in structures(group, "InstanceStorageConfigs")
        if given(config, "EbsVolumeConfig", "VolumeKmsKeyId")
    ]
    return faults


def check_restricted_groups(
    request: Mapping[str, Any], *, unlisted_instance_types: Collection[str] = ()
) -> list[Fault]:
    """Check the restricted groups of a cluster and what they share."""
    faults: list[Fault] = []
    orchestrator = orchestrator_of(request)
    for index, group in structures(request, _GROUPS):
        found = check_rules_of_restricted_group(group, unlisted_instance_types=unlisted_instance_types)
        if orchestrator is not None:
            found += check_deep_health_checks_under(group, orchestrator)
        if absent(group, "EnvironmentConfig") and absent(request, _SHARED):
            found.append(
                Fault(
                    ("EnvironmentConfig",),
                    "is missing, and so is a shared environment: the group has no file system; give "
                    "file_system, or restricted_environment to the cluster",
                    severity="warning",
                )
            )
        faults += below((_GROUPS, index), found)
    if items(request, _GROUPS) and orchestrator == "slurm":
        faults.append(
            Fault(
                (_GROUPS,),
                "are documented with the EKS orchestrator only; leave them out on Slurm",
                severity="warning",
            )
        )
    if given(request, _SHARED) and absent(request, _GROUPS):
        faults.append(
            Fault(
                (_SHARED,),
                "is shared by restricted groups, and there are none; give restricted_instance_groups, or "
                "leave it out",
                severity="warning",
            )
        )
    return faults
