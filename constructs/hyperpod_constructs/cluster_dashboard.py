"""One page about a cluster in CloudWatch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_constructs.log_alarm import LogAlarm
from hyperpod_constructs.operator_commands import advise, list_nodes, node_logs
from hyperpod_lifecycle.failure_line import FAILURE_WORDS
from hyperpod_lifecycle.training.crash_loop import CRASH_LOOP_PATTERN
from hyperpod_model.catalog.logs import DEEP_HEALTH_FAILURE_FILTER

_WIDTH = 24
_HALF = 12


class ClusterDashboard(Construct):
    """A CloudWatch dashboard: which alarms are on, what happened, the lines behind it, and the commands.

    Dashboards are global in an account, so that the name has the region in it.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The cluster.
        alarms: Alarms whose state it shows.
        log_alarms: Counts of lines that it draws.
        rules: Rules of EventBridge whose events it counts, by what they are called.
        node_log_group: The nodes' log group.

    Attributes:
        dashboard: The dashboard; ``add_widgets`` puts more on it.
    """

    dashboard: cloudwatch.Dashboard

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: HyperPodClusterBase,
        alarms: Sequence[cloudwatch.IAlarm],
        log_alarms: Sequence[LogAlarm],
        rules: Mapping[str, events.CfnRule],
        node_log_group: logs.ILogGroup,
    ) -> None:
        super().__init__(scope, id)
        region = Stack.of(self).region
        self.dashboard = cloudwatch.Dashboard(
            self,
            "Resource",
            dashboard_name=f"hyperpod-{cluster.cluster_name}-{region}",
            default_interval=Duration.days(1),
        )
        self._add_commands(cluster.cluster_name, region)
        if alarms:
            self.dashboard.add_widgets(
                cloudwatch.AlarmStatusWidget(title="Alarms", width=_WIDTH, alarms=list(alarms))
            )
        graphs: list[cloudwatch.IWidget] = []
        if log_alarms:
            graphs.append(
                cloudwatch.GraphWidget(
                    title="Lines in logs", width=_HALF, left=[one.metric for one in log_alarms]
                )
            )
        if rules:
            graphs.append(
                cloudwatch.GraphWidget(
                    title="Events, and those that reached nobody",
                    width=_HALF,
                    left=[_of_rule(rule, "TriggeredRules", name) for name, rule in rules.items()],
                    right=[
                        _of_rule(rule, "FailedInvocations", f"{name}: not delivered")
                        for name, rule in rules.items()
                    ],
                )
            )
        if graphs:
            self.dashboard.add_widgets(*graphs)
        self.dashboard.add_widgets(
            _lines("What the health agent detected", node_log_group, "HealthMonitoringAgentDetectionEvent"),
            _lines(
                "Nodes that failed deep health checks", node_log_group, DEEP_HEALTH_FAILURE_FILTER.strip('"')
            ),
        )
        self.dashboard.add_widgets(
            _lines("Lifecycle scripts that failed", node_log_group, FAILURE_WORDS),
            _lines("Jobs that crash in a loop", node_log_group, CRASH_LOOP_PATTERN),
        )

    def _add_commands(self, name: str, region: str) -> None:
        commands = [list_nodes(name, region), advise(name, region), node_logs(name, region, "NODE")]
        text = "\n".join((f"# HyperPod cluster {name}", "", *(f"    {command}" for command in commands)))
        self.dashboard.add_widgets(cloudwatch.TextWidget(markdown=text, width=_WIDTH, height=4))


def _of_rule(rule: events.CfnRule, metric_name: str, label: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace="AWS/Events",
        metric_name=metric_name,
        dimensions_map={"RuleName": rule.ref},
        statistic=cloudwatch.Stats.SUM,
        period=Duration.minutes(5),
        label=label,
    )


def _lines(title: str, log_group: logs.ILogGroup, term: str) -> cloudwatch.LogQueryWidget:
    return cloudwatch.LogQueryWidget(
        title=title,
        width=_HALF,
        log_group_names=[log_group.log_group_name],
        view=cloudwatch.LogQueryVisualizationType.TABLE,
        query_lines=[
            "fields @timestamp, @logStream, @message",
            f"filter @message like /{term}/",
            "sort @timestamp desc",
            "limit 20",
        ],
    )
