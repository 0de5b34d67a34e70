"""An alarm on lines in logs."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs.notice_topic import NoticeTopic

PERIOD_MINUTES: Final = 5


class LogAlarm(Construct):
    """Counts the lines of log groups that match a pattern, and tells a topic of the first in five minutes.

    A metric filter sends a value only where a line matches. Silence is what there should be, so missing data
    does not breach; with ``INSUFFICIENT_DATA`` instead, the alarm would end where it began and tell nobody of
    the next line.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        pattern: Filter pattern of CloudWatch Logs.
        namespace: Namespace of the metric.
        metric_name: Name of the metric.
        alarm_name: Name of the alarm, the subject of its e-mails.
        description: What has happened and where to look, for whoever gets the message.
        notices: Topic that is told.

    Attributes:
        alarm: The alarm.
        metric: What it watches, as sums of five minutes.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        pattern: str,
        namespace: str,
        metric_name: str,
        alarm_name: str,
        description: str,
        notices: NoticeTopic,
    ) -> None:
        super().__init__(scope, id)
        notices.admit_alarms()
        self._pattern = pattern
        self._watched = 0
        self.metric = cloudwatch.Metric(
            namespace=namespace,
            metric_name=metric_name,
            statistic=cloudwatch.Stats.SUM,
            period=Duration.minutes(PERIOD_MINUTES),
        )
        self.alarm = cloudwatch.Alarm(
            self,
            "Alarm",
            alarm_name=alarm_name,
            alarm_description=description,
            metric=self.metric,
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        tell(self.alarm, notices)

    def watch(self, log_group: logs.ILogGroup) -> None:
        """Count the lines of a log group too.

        Args:
            log_group: A group that exists, or that the stack makes.
        """
        self._watched += 1
        logs.CfnMetricFilter(
            self,
            "Filter" if self._watched == 1 else f"Filter{self._watched}",
            log_group_name=log_group.log_group_name,
            filter_pattern=self._pattern,
            metric_transformations=[
                logs.CfnMetricFilter.MetricTransformationProperty(
                    metric_namespace=self.metric.namespace,
                    metric_name=self.metric.metric_name,
                    metric_value="1",
                    unit="Count",
                )
            ],
        )


def tell(alarm: cloudwatch.Alarm, notices: NoticeTopic) -> None:
    """Let an alarm tell a topic when it begins.

    Args:
        alarm: The alarm.
        notices: The topic; it must admit alarms.
    """
    resource = alarm.node.default_child
    assert isinstance(resource, cloudwatch.CfnAlarm)
    # The actions of the CDK's own module would add a policy of their own to the topic.
    resource.alarm_actions = [notices.topic.topic_arn]
