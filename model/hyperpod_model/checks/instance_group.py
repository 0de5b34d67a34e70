"""Everything that can be said about one instance group alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hyperpod_model.catalog import cluster_request
from hyperpod_model.checks.capacity import check_capacity
from hyperpod_model.checks.deep_health_checks import check_deep_health_checks
from hyperpod_model.checks.instance_types import check_instance_types
from hyperpod_model.checks.kubernetes_config import check_kubernetes_config
from hyperpod_model.checks.lifecycle import check_lifecycle
from hyperpod_model.checks.network_interfaces import check_network_interfaces
from hyperpod_model.checks.shape import check_shape
from hyperpod_model.checks.sizes import check_sizes
from hyperpod_model.checks.slurm import check_slurm_group
from hyperpod_model.checks.software_updates import check_software_updates
from hyperpod_model.checks.volumes import check_volumes
from hyperpod_model.faults import Fault


def check_instance_group(
    group: Mapping[str, Any], *, unlisted_instance_types: Collection[str] = ()
) -> list[Fault]:
    """Check one group in the terms of ``InstanceGroups[]`` of a ``CreateCluster`` request.

    Args:
        group: The group. Members that are or hold ``UNKNOWN`` pass; ``None`` counts as absent.
        unlisted_instance_types: Instance types the user vouches for though the catalog does not list them.

    Returns:
        All faults, with paths relative to the group.
    """
    faults = check_rules_of_group(group, unlisted_instance_types=unlisted_instance_types)
    # Where a rule judges a value too, its words are the more precise ones.
    judged = {fault.path for fault in faults if fault.severity == "error"}
    shape = check_shape(group, cluster_request.instance_group())
    return [fault for fault in shape if fault.path not in judged] + faults


def check_rules_of_group(
    group: Mapping[str, Any], *, unlisted_instance_types: Collection[str] = ()
) -> list[Fault]:
    """Check what the service's model does not say about one group, leaving the shape aside."""
    return [
        *check_instance_types(group, unlisted_instance_types=unlisted_instance_types),
        *check_sizes(group),
        *check_capacity(group),
        *check_volumes(group),
        *check_network_interfaces(group),
        *check_lifecycle(group),
        *check_slurm_group(group),
        *check_deep_health_checks(group),
        *check_kubernetes_config(group),
        *check_software_updates(group),
    ]
