"""Everything that can be said about a whole ``CreateCluster`` request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.checks.autoscaling import check_autoscaling
from hyperpod_model.checks.deep_health_checks import check_deep_health_checks_under
from hyperpod_model.checks.group_names import check_group_names
from hyperpod_model.checks.instance_group import check_rules_of_group
from hyperpod_model.checks.networks import check_networks
from hyperpod_model.checks.node_recovery import check_node_recovery
from hyperpod_model.checks.orchestrators import check_orchestrator, orchestrator_of
from hyperpod_model.checks.provisioning import check_provisioning
from hyperpod_model.checks.reading import below, structures
from hyperpod_model.checks.regions import check_region
from hyperpod_model.checks.restricted_groups import check_restricted_groups
from hyperpod_model.checks.shape import check_shape
from hyperpod_model.checks.sizes import check_empty_groups
from hyperpod_model.checks.slurm import check_slurm_cluster
from hyperpod_model.checks.software_updates import check_software_updates_under
from hyperpod_model.checks.tags import check_tags
from hyperpod_model.checks.tiered_storage import check_tiered_storage
from hyperpod_model.faults import Fault


def check_cluster(
    request: Mapping[str, Any], *, region: str | None = None, unlisted_instance_types: Collection[str] = ()
) -> list[Fault]:
    """Check a ``CreateCluster`` request, which has the same terms as ``AWS::SageMaker::Cluster``.

    Args:
        request: The request. Members that are or hold ``UNKNOWN`` pass; ``None`` counts as absent.
        region: Region of the cluster. Default: no check of region and offer.
        unlisted_instance_types: Instance types the user vouches for: they exist, and the region has them.

    Returns:
        All faults, errors and warnings, in the order of the request's concerns.
    """
    faults = check_group_names(request)
    for index, group in structures(request, "InstanceGroups"):
        found = check_rules_of_group(group, unlisted_instance_types=unlisted_instance_types)
        orchestrator = orchestrator_of(request)
        if orchestrator is not None:
            found += check_deep_health_checks_under(group, orchestrator)
            found += check_software_updates_under(group, orchestrator)
        faults += below(("InstanceGroups", index), found)
    faults += check_restricted_groups(request, unlisted_instance_types=unlisted_instance_types)
    faults += check_empty_groups(request)
    faults += check_orchestrator(request)
    faults += check_slurm_cluster(request)
    faults += check_provisioning(request)
    faults += check_networks(request)
    faults += check_node_recovery(request)
    faults += check_tiered_storage(request)
    faults += check_autoscaling(request)
    faults += check_tags(request)
    if region is not None:
        faults += check_region(request, region, unlisted_instance_types=unlisted_instance_types)
    # Where a rule judges a value too, its words are the more precise ones.
    judged = {fault.path for fault in faults if fault.severity == "error"}
    shape = [fault for fault in check_shape(request, cluster_request()) if fault.path not in judged]
    return shape + faults
