"""Events that HyperPod sends to Amazon EventBridge, and the statuses they carry."""

from __future__ import annotations

from typing import NamedTuple

from hyperpod_model.catalog._tables import table


class EventType(NamedTuple):
    """One kind of event.

    The details differ from kind to kind: filter on the event's ``resources``, which hold the cluster's ARN.

    Attributes:
        detail_type: The event's ``detail-type``.
        detail_fields: Dotted paths below ``detail``.
        needs_continuous_provisioning: Whether only clusters with continuous provisioning send it.
    """

    detail_type: str
    detail_fields: tuple[str, ...]
    needs_continuous_provisioning: bool


_TABLE = table("events")


def _event_type(name: str) -> EventType:
    row = _TABLE["detail_types"][name]
    return EventType(row["name"], tuple(row["detail_fields"]), row["needs_continuous_provisioning"])


SOURCE: str = _TABLE["event_source"]
CLUSTER_STATE_CHANGE = _event_type("cluster_state_change")
NODE_HEALTH = _event_type("node_health")
CLUSTER_EVENT = _event_type("cluster_event")
EVENT_TYPES = (CLUSTER_STATE_CHANGE, NODE_HEALTH, CLUSTER_EVENT)

UNHEALTHY: str = _TABLE["unhealthy"]
"""``HealthSummary.HealthStatus`` of a node with a fault; events of nodes that recover have another."""

EVENT_LEVELS = tuple(_TABLE["event_levels"])
EVENT_RESOURCE_TYPES = tuple(_TABLE["event_resource_types"])
CLUSTER_STATUSES = tuple(_TABLE["cluster_statuses"])
INSTANCE_STATUSES = tuple(_TABLE["instance_statuses"])
