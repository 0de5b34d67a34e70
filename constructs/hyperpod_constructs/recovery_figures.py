"""What recoveries cost, as figures of CloudWatch."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import LOG_GROUP, check_kind
from hyperpod_lifecycle.training.recovery_records import SCHEMA_VERSION
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

STEPS_LOST_METRIC: Final = "StepsLost"
_WIDTH: Final = 12


class RecoveryFigures(Construct):
    """Steps lost and seconds of each of the six stages, from records of the resume library in a log group.

    Each recovery that is complete has one such line, of version 1 of the records. The log group must get the
    lines once and as they are: ``lifecycle_scripts`` of this package ship a folder of records from the
    controller of a Slurm cluster, see ``metrics.recovery_records_folder`` of a specification.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        log_group: Log group that has the lines.
        cluster_name: Name of the cluster, for the namespace ``HyperPod/<name>`` of the figures.

    Attributes:
        steps_lost: Steps that were computed again, summed up.
        seconds: Seconds by stage, summed up.

    Raises:
        InvalidInputError: If the log group is none.
    """

    def __init__(self, scope: Construct, id: str, *, log_group: logs.ILogGroup, cluster_name: str) -> None:
        super().__init__(scope, id)
        refuse_arguments(
            f"recovery figures '{self.node.path}'",
            check_kind(log_group, LOG_GROUP, ("log_group",), required=True),
        )
        self._log_group = log_group
        self._namespace = f"HyperPod/{cluster_name}"
        self.steps_lost = self._figure(STEPS_LOST_METRIC, "$.steps_lost", "Count", "steps lost")
        self.seconds: dict[str, cloudwatch.Metric] = {
            stage.name: self._figure(
                f"Recovery{stage.name.title().replace('_', '')}Seconds",
                f"$.seconds.{stage.name}",
                "Seconds",
                stage.name.replace("_", " "),
            )
            for stage in RECOVERY_STAGES
        }

    def widgets(self) -> list[cloudwatch.IWidget]:
        """Return graphs of both, for a row of a dashboard."""
        return [
            cloudwatch.GraphWidget(
                title="Steps lost",
                width=_WIDTH,
                left=[self.steps_lost],
                right=[self.steps_lost.with_(statistic=cloudwatch.Stats.SAMPLE_COUNT, label="recoveries")],
            ),
            cloudwatch.GraphWidget(
                title="Seconds of recovery, by stage",
                width=_WIDTH,
                stacked=True,
                left=list(self.seconds.values()),
            ),
        ]

    def _figure(self, name: str, value: str, unit: str, label: str) -> cloudwatch.Metric:
        complete = logs.FilterPattern.all(
            logs.FilterPattern.number_value("$.version", "=", SCHEMA_VERSION),
            logs.FilterPattern.string_value("$.kind", "=", "recovery"),
            logs.FilterPattern.boolean_value("$.complete", True),
        )
        logs.CfnMetricFilter(
            self,
            name,
            log_group_name=self._log_group.log_group_name,
            filter_pattern=complete.log_pattern_string,
            metric_transformations=[
                logs.CfnMetricFilter.MetricTransformationProperty(
                    metric_namespace=self._namespace, metric_name=name, metric_value=value, unit=unit
                )
            ],
        )
        return cloudwatch.Metric(
            namespace=self._namespace,
            metric_name=name,
            statistic=cloudwatch.Stats.SUM,
            period=Duration.hours(1),
            label=label,
        )
