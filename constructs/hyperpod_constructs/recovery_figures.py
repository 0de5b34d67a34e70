"""What recoveries cost, as figures of CloudWatch."""

from __future__ import annotations

import re
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import LOG_GROUP, check_kind
from hyperpod_constructs.tokens import known
from hyperpod_lifecycle.training.recovery_records import SCHEMA_VERSION
from hyperpod_model.catalog.logs import PARSED_LINE_KEY
from hyperpod_model.catalog.recovery import RECOVERY_STAGES
from hyperpod_model.faults import UNKNOWN, Fault

STEPS_LOST_METRIC: Final = "StepsLost"
_WIDTH: Final = 12
_FIELD: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


class RecoveryFigures(Construct):
    """Steps lost and seconds of each of the six stages, from records of the resume library in a log group.

    Each recovery that is complete has one such line, of version 1 of the records. The log group must get the
    lines once: ``lifecycle_scripts`` of this package ship a folder of records from the controller of a Slurm
    cluster, see ``metrics.recovery_records_folder`` of a specification. In pods the resume library prints
    them, and Container Insights ships what pods print.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        log_group: Log group that has the lines.
        cluster_name: Name of the cluster, for the namespace ``HyperPod/<name>`` of the figures.
        record_field: Where in an event the record is, a name or names with dots between, such as
            ``log_processed`` in the log group of Container Insights. Default: the event is the record.

    Attributes:
        steps_lost: Steps that were computed again, summed up.
        seconds: Seconds by stage, summed up.

    Raises:
        InvalidInputError: If the log group is none, ``cluster_name`` is no name, or ``record_field`` is no
            such name.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        log_group: logs.ILogGroup,
        cluster_name: str,
        record_field: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        refuse_arguments(
            f"recovery figures '{self.node.path}'",
            [
                *check_kind(log_group, LOG_GROUP, ("log_group",), required=True),
                *_check_name(cluster_name),
                *_check_field(record_field),
            ],
        )
        self._record = "$" if record_field is None else f"$.{record_field}"
        self._log_group = log_group
        self._namespace = f"HyperPod/{cluster_name}"
        self.steps_lost = self._figure(STEPS_LOST_METRIC, "steps_lost", "Count", "steps lost")
        self.seconds: dict[str, cloudwatch.Metric] = {
            stage.name: self._figure(
                f"Recovery{stage.name.title().replace('_', '')}Seconds",
                f"seconds.{stage.name}",
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
            logs.FilterPattern.number_value(f"{self._record}.version", "=", SCHEMA_VERSION),
            logs.FilterPattern.string_value(f"{self._record}.kind", "=", "recovery"),
            logs.FilterPattern.boolean_value(f"{self._record}.complete", True),
        )
        logs.CfnMetricFilter(
            self,
            name,
            log_group_name=self._log_group.log_group_name,
            filter_pattern=complete.log_pattern_string,
            metric_transformations=[
                logs.CfnMetricFilter.MetricTransformationProperty(
                    metric_namespace=self._namespace,
                    metric_name=name,
                    metric_value=f"{self._record}.{value}",
                    unit=unit,
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


def _check_name(name: str) -> list[Fault]:
    found = known(name)
    if found is UNKNOWN or (isinstance(found, str) and found):
        return []
    got = (
        repr(found)
        if isinstance(found, (str, int, float)) or found is None
        else f"an object of {type(found).__name__}"
    )
    return [
        Fault(("cluster_name",), f"must be the name of a cluster, such as cluster.cluster_name, got {got}")
    ]


def _check_field(field: str | None) -> list[Fault]:
    found = known(field)
    if field is None or found is UNKNOWN or (isinstance(found, str) and _FIELD.fullmatch(found)):
        return []
    message = (
        "must be names of letters, digits and _ with dots between and without $ before, such as "
        f"{PARSED_LINE_KEY.value!r}, got {field!r}; leave it out if the event is the record"
    )
    return [Fault(("record_field",), message)]
