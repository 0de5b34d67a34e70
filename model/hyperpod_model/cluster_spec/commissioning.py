"""The step that is due with the deep health checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_model.catalog.cluster_rules import deep_health_check_hours
from hyperpod_model.cluster_spec.deep_health_checks import checks_run, takes_deep_health_checks

if TYPE_CHECKING:
    from hyperpod_model.cluster_spec.cluster import ClusterSpec


def steps_due(spec: ClusterSpec) -> tuple[str, ...]:
    """Return what the user has to do next, or should know, where the checks do not run throughout.

    Args:
        spec: A specification without errors.
    """
    situation = spec.resilience
    chosen = [
        group.name
        for group in spec.instance_groups
        if group.deep_health_checks is None and takes_deep_health_checks(group, spec.orchestrator)
    ]
    if not chosen or situation.spare_nodes > 0 or situation.replacement_wait == "tolerable":
        return ()
    where = ", ".join(chosen)
    hours = deep_health_check_hours()
    if situation.replacement_wait == "intolerable":
        return (
            f"resilience: deep health checks are off for {where}, since replacement_wait is 'intolerable' "
            "and there are no spare_nodes; faulty hardware is found by jobs",
        )
    if checks_run(situation):
        return (
            f"resilience: deep health checks run on {where} while the cluster is created; the step that is "
            "due once every node has passed: set resilience.commissioned to true and deploy again, else a "
            f"replacement node waits about {hours} hours",
        )
    return (
        f"resilience: deep health checks are off for {where}, since the cluster is commissioned; "
        "replacement nodes join unchecked. Set resilience.commissioned to false before you add nodes that "
        "shall be checked",
    )
