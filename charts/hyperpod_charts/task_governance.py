"""Labels by which a job waits in a queue of HyperPod task governance."""

from __future__ import annotations

from hyperpod_charts.checked_arguments import check_given, check_name, refuse_arguments
from hyperpod_model.catalog.jobs import (
    PRIORITY_LABEL,
    QUEUE_LABEL,
    TEAM,
    team_namespace,
    team_queue,
    workload_priority,
)

__all__ = ["queue_labels", "team_namespace"]


def queue_labels(*, team: str, priority_class: str | None = None) -> dict[str, str]:
    """Labels of a job, which belongs into :func:`team_namespace` of the same team.

    Args:
        team: Team that has a quota, as in the console of task governance.
        priority_class: Priority class without the ending ``-priority``. Default the lowest.

    Raises:
        InvalidInputError: If a name is none that task governance can have.
    """
    refuse_arguments(
        "queue labels",
        [
            *check_given("team", team),
            *check_name("team", team, TEAM),
            *check_name("priority_class", priority_class, TEAM),
        ],
    )
    labels = {QUEUE_LABEL: team_queue(team)}
    if priority_class is not None:
        labels[PRIORITY_LABEL] = workload_priority(priority_class)
    return labels
