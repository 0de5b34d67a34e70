"""Finds the node, or the group, that keeps failing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_constructs.inline_handler import resource_arn
from hyperpod_constructs.log_alarm import tell
from hyperpod_constructs.notice_topic import NoticeTopic
from hyperpod_constructs.operator_commands import advise
from hyperpod_model.catalog.events import EVENT_TYPES, SOURCE, UNHEALTHY
from hyperpod_model.catalog.notifications import EVENT_LOG_ACTIONS, EVENT_LOG_PREFIX, EVENT_LOG_SERVICES

FAILURES_PER_DAY: Final = 3
"""A judgement: once is bad luck and is mended by itself, a third time on one day is not."""


def event_log_name(cluster_name: str) -> str:
    """Name of the log group that keeps a cluster's events.

    Args:
        cluster_name: Name of the cluster.
    """
    return f"{EVENT_LOG_PREFIX}hyperpod/{cluster_name}"


class FailingSlots(Construct):
    """Keeps a cluster's events in a log group, and alarms on whom three of a day's failures are about.

    Every rule of EventBridge sees one event. To count them by node, and by group, the events go to a log
    group, and CloudWatch Contributor Insights ranks whom they name. A node counts by its health events; a
    group by cluster events of level ``Error``, which continuous provisioning alone sends, so that
    replacements that fail one after another count although each is another node.

    EventBridge needs a resource policy of CloudWatch Logs, of which an account has ten in a region.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The cluster.
        notices: Topic that is told.
        retention_days: Days for which the events are kept, one of those that CloudWatch Logs takes.
        key: Key that encrypts them, which CloudWatch Logs may use for the log group.
        by_group: Whether groups are counted too.

    Attributes:
        event_log: The log group of the events. It goes with the stack.
        alarms: The alarms.
        rankings: Contributor Insights rules by what they rank: ``Nodes`` and ``Groups``.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: HyperPodClusterBase,
        notices: NoticeTopic,
        retention_days: int,
        key: kms.IKey,
        by_group: bool,
    ) -> None:
        super().__init__(scope, id)
        notices.admit_alarms()
        self._notices = notices
        self._name = cluster.cluster_name
        self._log = logs.CfnLogGroup(
            self,
            "EventLog",
            log_group_name=event_log_name(self._name),
            retention_in_days=retention_days,
            kms_key_id=key.key_arn,
        )
        # The name is needed again when the cluster is made again.
        self._log.apply_removal_policy(RemovalPolicy.DESTROY)
        self.event_log = logs.LogGroup.from_log_group_name(self, "EventLogGroup", self._log.ref)
        self._keep_events(cluster)
        self.alarms: list[cloudwatch.Alarm] = []
        self.rankings: dict[str, cloudwatch.CfnInsightRule] = {}
        self._rank(
            "Nodes",
            "node",
            keys=["$.detail.InstanceId"],
            match={"Match": "$.detail.HealthSummary.HealthStatus", "In": [UNHEALTHY]},
        )
        if by_group:
            self._rank(
                "Groups",
                "group",
                keys=["$.detail.EventDetails.InstanceGroupName"],
                match={"Match": "$.detail.EventDetails.EventLevel", "In": ["Error"]},
            )

    def _keep_events(self, cluster: HyperPodClusterBase) -> None:
        stack = Stack.of(self)
        name = event_log_name(self._name)
        policy = logs.CfnResourcePolicy(
            self,
            "EventLogPolicy",
            policy_name=f"hyperpod-{self._name}-events",
            policy_document=stack.to_json_string(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Sid": "KeepEvents",
                            "Effect": "Allow",
                            "Principal": {"Service": list(EVENT_LOG_SERVICES)},
                            "Action": list(EVENT_LOG_ACTIONS),
                            "Resource": resource_arn("logs", f"log-group:{name}:*"),
                        }
                    ],
                }
            ),
        )
        rule = events.CfnRule(
            self,
            "EventLogRule",
            description=f"Events of {self._name}, to be counted",
            state="ENABLED",
            event_pattern={
                "source": [SOURCE],
                "detail-type": [event_type.detail_type for event_type in EVENT_TYPES],
                "resources": [cluster.cluster_arn],
            },
            targets=[
                events.CfnRule.TargetProperty(id="EventLog", arn=resource_arn("logs", f"log-group:{name}"))
            ],
        )
        rule.node.add_dependency(policy, self._log)

    def _rank(self, id: str, what: str, *, keys: Sequence[str], match: Mapping[str, Any]) -> None:
        stack = Stack.of(self)
        rule_name = f"hyperpod-{self._name}-failing-{id.lower()}"
        ranking = cloudwatch.CfnInsightRule(
            self,
            f"{id}Ranking",
            rule_name=rule_name,
            rule_state="ENABLED",
            rule_body=stack.to_json_string(
                {
                    "Schema": {"Name": "CloudWatchLogRule", "Version": 1},
                    "LogGroupNames": [event_log_name(self._name)],
                    "LogFormat": "JSON",
                    "Contribution": {"Keys": list(keys), "Filters": [dict(match)]},
                    "AggregateOn": "Count",
                }
            ),
        )
        ranking.node.add_dependency(self._log)
        alarm = cloudwatch.Alarm(
            self,
            f"{id}Alarm",
            alarm_name=f"hyperpod-{self._name}-failing-{what}",
            alarm_description=(
                f"A {what} of HyperPod cluster {self._name} failed {FAILURES_PER_DAY} times in a day; "
                f"which, Contributor Insights says in {rule_name}. Automatic recovery does not mend it. "
                f"Look: {advise(self._name, stack.region)}"
            ),
            metric=cloudwatch.MathExpression(
                expression=f'INSIGHT_RULE_METRIC("{rule_name}", "MaxContributorValue")',
                using_metrics={},
                label=f"most failures of a {what} in a day",
                period=Duration.days(1),
            ),
            threshold=FAILURES_PER_DAY,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            # No event, no contributor: nothing failed.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.node.add_dependency(ranking)
        tell(alarm, self._notices)
        self.rankings[id] = ranking
        self.alarms.append(alarm)
