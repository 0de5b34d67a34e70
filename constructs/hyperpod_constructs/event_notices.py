"""What EventBridge says of a cluster, as messages that people read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aws_cdk import Stack
from aws_cdk import aws_events as events
from constructs import Construct

from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_constructs.notice_topic import NoticeTopic
from hyperpod_constructs.operator_commands import advise, list_nodes
from hyperpod_model.catalog.events import (
    CLUSTER_EVENT,
    CLUSTER_STATE_CHANGE,
    NODE_HEALTH,
    SOURCE,
    EventType,
)

REPORTED_LEVELS: Final = ("Error",)
"""Of the levels of cluster events. Warnings would tell of every step that is tried again."""


class EventNotices(Construct):
    """EventBridge rules that tell a topic of one cluster, each event as a few lines of text.

    The rules take the events whose ``resources`` hold the cluster's ARN: the details name it in different
    places. What an event leaves out stays empty in its message.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The cluster.
        notices: Topic that is told.

    Attributes:
        rules: The rules that were made, by the kind of event.
    """

    rules: dict[str, events.CfnRule]

    def __init__(
        self, scope: Construct, id: str, *, cluster: HyperPodClusterBase, notices: NoticeTopic
    ) -> None:
        super().__init__(scope, id)
        self._cluster = cluster
        self._notices = notices
        self._region = Stack.of(self).region
        self.rules = {}

    def add_node_health(self) -> None:
        """Tell of nodes that turn unhealthy, and of those that recover."""
        name = self._cluster.cluster_name
        self._add(
            "NodeHealth",
            NODE_HEALTH,
            description=f"Nodes of {name} that turn unhealthy or recover",
            values={
                "node": "$.detail.InstanceId",
                "status": "$.detail.HealthSummary.HealthStatus",
                "fault": "$.detail.HealthSummary.HealthStatusReason",
                "action": "$.detail.HealthSummary.RepairAction",
                "recommendation": "$.detail.HealthSummary.Recommendation",
            },
            lines=[
                f"HyperPod cluster {name}: node <node> is <status>.",
                "Fault: <fault>",
                "Action of HyperPod: <action>",
                "Recommendation: <recommendation>",
                f"Its group, and what else is down: {list_nodes(name, self._region)}",
                f"What to do: {advise(name, self._region, '<node>')}",
            ],
        )

    def add_state_changes(self) -> None:
        """Tell of changes of the cluster's state."""
        name = self._cluster.cluster_name
        self._add(
            "StateChange",
            CLUSTER_STATE_CHANGE,
            description=f"Changes of state of {name}",
            values={"status": "$.detail.ClusterStatus", "fault": "$.detail.FailureMessage"},
            lines=[
                f"HyperPod cluster {name} is <status>.",
                "Fault: <fault>",
                f"Look: {list_nodes(name, self._region)}",
            ],
        )

    def add_cluster_events(self) -> None:
        """Tell of operations that fail. Only clusters with continuous provisioning send these events."""
        name = self._cluster.cluster_name
        self._add(
            "ClusterEvent",
            CLUSTER_EVENT,
            description=f"Operations of {name} that fail",
            detail={"EventDetails": {"EventLevel": list(REPORTED_LEVELS)}},
            values={
                "group": "$.detail.EventDetails.InstanceGroupName",
                "node": "$.detail.EventDetails.InstanceId",
                "level": "$.detail.EventDetails.EventLevel",
                "fault": "$.detail.EventDetails.Description",
                "reason": "$.detail.EventDetails.EventDetails.EventMetadata.Instance.FailureMessage",
            },
            lines=[
                f"HyperPod cluster {name}: <level>: <fault>",
                "Group: <group>",
                "Node: <node>",
                "Reason: <reason>",
                f"What else is down: {list_nodes(name, self._region)}",
                # Without a node in the event, this is the command that asks about all.
                f"What to do, and what was logged: {advise(name, self._region, '<node>')}",
            ],
        )

    def _add(
        self,
        id: str,
        event_type: EventType,
        *,
        description: str,
        values: Mapping[str, str],
        lines: Sequence[str],
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        self._notices.admit_events()
        pattern: dict[str, Any] = {
            "source": [SOURCE],
            "detail-type": [event_type.detail_type],
            "resources": [self._cluster.cluster_arn],
        }
        if detail is not None:
            pattern["detail"] = detail
        told = {**values, "time": "$.time"}
        self.rules[id] = events.CfnRule(
            self,
            id,
            description=description,
            state="ENABLED",
            event_pattern=pattern,
            targets=[
                events.CfnRule.TargetProperty(
                    id="Notices",
                    arn=self._notices.topic.topic_arn,
                    input_transformer=events.CfnRule.InputTransformerProperty(
                        input_paths_map=told,
                        # EventBridge takes text as quoted lines.
                        input_template="\n".join(json.dumps(line) for line in (*lines, "Time: <time>")),
                    ),
                )
            ],
        )
