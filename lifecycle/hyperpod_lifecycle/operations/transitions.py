"""What a node that neither runs nor failed goes through, and where to look if it takes long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_logs import read_log
from hyperpod_lifecycle.operations.spans import span
from hyperpod_model.catalog.cluster_rules import deep_health_check_hours
from hyperpod_model.catalog.repairs import REPAIRABLE_STATUSES

_SHOWN: Final = 3
_LOOKED_AT: Final = 100
_MEANINGS: Final[Mapping[str, str]] = {
    "Pending": "HyperPod brings it up, new or after a reboot: it takes no jobs before its lifecycle scripts "
    "have ended",
    "ShuttingDown": "HyperPod takes it away, for a replacement, a smaller group or a deletion",
    "SystemUpdating": "HyperPod images it anew: it comes back with a new root volume and runs its lifecycle "
    "scripts again",
    "DeepHealthCheckInProgress": f"it is being checked, which takes about {deep_health_check_hours()} hours",
    "NotFound": "HyperPod does not find its instance any more",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvent:
    """Something that HyperPod did, or could not do.

    Attributes:
        time: When.
        level: ``Info``, ``Warn`` or ``Error``; empty where it is not told.
        text: In words.
    """

    time: datetime
    level: str
    text: str

    @property
    def line(self) -> str:
        """All of it in one line."""
        return f"{self.time:%Y-%m-%d %H:%M} UTC {self.level} {' '.join(self.text.split())}".replace("  ", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """What a node goes through.

    Attributes:
        means: What its status means.
        launched_seconds: Since its launch; the API does not tell since when it has the status.
        scripts_said: Last line of its lifecycle scripts; None if they wrote nothing, or are not known.
        scripts_seconds: Since then.
        events: The newest of the node and its group, the newest first.
        look: What to look at, as commands.
        unknown: What could not be asked, and why.
    """

    means: str
    launched_seconds: float
    scripts_said: str | None
    scripts_seconds: float | None
    events: tuple[ClusterEvent, ...]
    look: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """What is known, and what to look at, line by line."""
        lines = [
            f"since its launch {span(self.launched_seconds)} ago at the longest; the API tells no nearer time"
        ]
        if self.scripts_said is not None and self.scripts_seconds is not None:
            lines.append(
                f"its lifecycle scripts wrote last {span(self.scripts_seconds)} ago: {self.scripts_said}"
            )
        elif not any("lifecycle log" in what for what in self.unknown):
            lines.append("its lifecycle scripts wrote nothing: they have not started, or may not write logs")
        lines += [f"event: {event.line}" for event in self.events]
        return [*lines, *self.unknown, *(f"look at: {command}" for command in self.look)]


def transition_of(
    aws: Aws, cluster: Cluster, node: Node, *, now: datetime | None = None
) -> Transition | None:
    """Say what a node goes through.

    Args:
        aws: Clients.
        cluster: The cluster.
        node: The node.
        now: This moment. Default: by the clock.

    Returns:
        What it is; None for a node that runs or failed.
    """
    if node.status in REPAIRABLE_STATUSES:
        return None
    now = datetime.now(UTC) if now is None else now
    unknown: list[str] = []
    said: str | None = None
    said_seconds: float | None = None
    try:
        last = read_log(aws, cluster, node, "lifecycle", most=1)
    except OperationError as error:
        unknown.append(f"its lifecycle log is not known: {error}")
    else:
        if last:
            said = last[-1].text
            said_seconds = max(0.0, now.timestamp() - last[-1].milliseconds / 1000)
    events, why = events_of(aws, cluster, node.group, instance=node.id)
    return Transition(
        means=_MEANINGS.get(node.status, "HyperPod changes it"),
        launched_seconds=max(0.0, (now - node.launched).total_seconds()),
        scripts_said=said,
        scripts_seconds=said_seconds,
        events=events,
        look=tuple(_look(cluster, node)),
        unknown=(*unknown, *([] if why is None else [why])),
    )


def events_of(
    aws: Aws, cluster: Cluster, group: str, *, instance: str | None = None
) -> tuple[tuple[ClusterEvent, ...], str | None]:
    """Return the newest events of a group, among them those about missing capacity.

    Args:
        aws: Clients.
        cluster: The cluster.
        group: Name of the group.
        instance: Leave out events of other instances than this. Default: events of all.

    Returns:
        The events, the newest first, and why there are none where they cannot be had.
    """
    if not cluster.continuous:
        # ListClusterEvents: "only supported when the NodeProvisioningMode is set to Continuous".
        why = "the API keeps no events of this cluster, since its nodes are not provisioned continuously"
        return (), f"{why}; the cluster's own status has failures: {cluster.failure or 'none'}"
    try:
        rows = aws.pages(
            "sagemaker", "ListClusterEvents", "Events", ClusterName=cluster.arn, InstanceGroupName=group,
            SortBy="EventTime", SortOrder="Descending",
        )  # fmt: skip
        wanted = (row for row in islice(rows, _LOOKED_AT) if _is_about(row, instance))
        return tuple(_event(row) for row in islice(wanted, _SHOWN)), None
    except OperationError as error:
        return (), f"the events of group {group} are not known: {error}"


def events_command(cluster: Cluster, group: str) -> str:
    """Return the command that shows all events of a group."""
    return (
        f"aws sagemaker list-cluster-events --cluster-name {cluster.name} --instance-group-name {group} "
        f"{cluster.where}"
    )


def _is_about(row: Mapping[str, Any], instance: str | None) -> bool:
    return instance is None or row.get("InstanceId") in (None, instance)


def _event(row: Mapping[str, Any]) -> ClusterEvent:
    return ClusterEvent(
        time=row["EventTime"].astimezone(UTC),
        level=row.get("EventLevel", ""),
        text=row.get("Description", ""),
    )


def _look(cluster: Cluster, node: Node) -> Sequence[str]:
    own = f"{cluster.name} {node.id}"
    kind = " --of deep-checks" if node.status == "DeepHealthCheckInProgress" else ""
    found = [f"hyperpod-nodes logs {own}{kind} {cluster.where}"]
    return [*found, events_command(cluster, node.group)] if cluster.continuous else found
