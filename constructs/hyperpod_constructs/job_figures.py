"""How many jobs run, wait and give way on a cluster, and how long they wait and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aws_cdk import Annotations, Duration, Stack, Token
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import check_list
from hyperpod_constructs.cluster_place import check_cluster
from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_constructs.job_metric import job_metric, job_search
from hyperpod_constructs.log_alarm import tell
from hyperpod_constructs.notice_topic import NoticeTopic, check_notices
from hyperpod_constructs.operator_commands import (
    list_nodes,
    orchestrator_of,
    pending_jobs,
    preempted_jobs,
)
from hyperpod_constructs.taken_names import claim_name
from hyperpod_constructs.tokens import known
from hyperpod_constructs.value_faults import number_faults
from hyperpod_model.catalog.job_figures import (
    CHECK_MINUTES,
    JOB_FIGURES,
    LONGEST_RUN,
    LONGEST_WAIT,
    PENDING_JOBS,
    PREEMPTED_JOBS,
    RUNNING_JOBS,
    JobFigure,
)
from hyperpod_model.checks.job_queues import check_job_queues
from hyperpod_model.checks.metrics import check_alert_limits
from hyperpod_model.faults import Fault

NO_READER_WARNING: Final = "hyperpod:JobFigures.noReader"

_CHECKS: Final = 3
_WIDTH: Final = 24
_THIRD: Final = 8
_HALF: Final = 12
_ALL: Final = "whole cluster"
_LIMITS: Final = {"WaitAlarm": "wait_alert_minutes", "PreemptionAlarm": "preemption_alert_count"}


class JobFigures(Construct):
    """Figures of jobs that a check puts into CloudWatch every 10 minutes: graphs of them, and alarms.

    The check is not made here: with Slurm a timer on the controller puts them, a step of the package's
    lifecycle scripts, with EKS a CronJob, ``JobFiguresCheck`` of ``hyperpod_charts``. Each figure is there
    for the whole cluster and for each queue: a partition of Slurm, a namespace of Kubernetes.

    No data is unknown, and no alarm: where nobody puts figures, alarms turn to ``INSUFFICIENT_DATA``.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The cluster, made here or imported.
        notices: Topic that alarms tell, such as ``ClusterObservability(...).notices``. Default: nobody, with
            the warning ``hyperpod:JobFigures.noReader`` if there is an alarm.
        queues: Queues that graphs show: names of partitions, or of namespaces such as
            ``team_namespace("research")`` of ``hyperpod_charts``. Default: those that had figures within the
            last two weeks.
        wait_alert_minutes: Minutes that a job may wait; the alarm begins when one has waited longer at three
            checks in a row. Default: no alarm.
        preemption_alert_count: Jobs that may give way within an hour; the alarm begins with one more.
            Default: no alarm.

    Attributes:
        running: Running jobs of the whole cluster.
        pending: Jobs that wait to be started.
        preempted: Jobs that gave way to others, summed up.
        longest_wait: Seconds that the pending job has waited which waits longest.
        longest_run: Seconds that the running job has run which runs longest.
        wait_alarm: The alarm on waiting, or None.
        preemption_alarm: The alarm on preemptions, or None.

    Raises:
        InvalidInputError: If an argument is of another kind, the cluster or the topic is elsewhere, a
            queue has no name or is given twice, a limit is not positive, or another construct has such an
            alarm of this cluster.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: HyperPodClusterBase,
        notices: NoticeTopic | None = None,
        queues: Sequence[str] | None = None,
        wait_alert_minutes: int | None = None,
        preemption_alert_count: int | None = None,
    ) -> None:
        super().__init__(scope, id)
        refuse_arguments(
            f"figures of jobs '{self.node.path}'",
            [
                *check_cluster(cluster, scope=self),
                *check_notices(notices, scope=self),
                *number_faults(wait_alert_minutes, "wait_alert_minutes"),
                *number_faults(preemption_alert_count, "preemption_alert_count"),
                *check_alert_limits(
                    wait_alert_minutes=known(wait_alert_minutes),
                    preemption_alert_count=known(preemption_alert_count),
                ),
                *_check_queues(queues),
            ],
        )
        self._cluster_name = cluster.cluster_name
        self._orchestrator = orchestrator_of(cluster)
        self._notices = notices
        self._queues = None if queues is None else tuple(queues)
        self._wait_alert_minutes = wait_alert_minutes
        of_cluster = self._figures(None)
        self.running = of_cluster[RUNNING_JOBS.name]
        self.pending = of_cluster[PENDING_JOBS.name]
        self.preempted = of_cluster[PREEMPTED_JOBS.name]
        self.longest_wait = of_cluster[LONGEST_WAIT.name]
        self.longest_run = of_cluster[LONGEST_RUN.name]
        self.wait_alarm = None if wait_alert_minutes is None else self._wait_alarm(wait_alert_minutes)
        self.preemption_alarm = (
            None if preemption_alert_count is None else self._preemption_alarm(preemption_alert_count)
        )
        if self.alarms and notices is None:
            Annotations.of(self).add_warning_v2(
                NO_READER_WARNING,
                "nobody hears of jobs that wait or give way; pass notices that somebody reads, or "
                "acknowledge this",
            )

    @property
    def alarms(self) -> list[cloudwatch.Alarm]:
        """The alarms that there are."""
        return [alarm for alarm in (self.wait_alarm, self.preemption_alarm) if alarm is not None]

    def of_queue(self, queue: str) -> Mapping[str, cloudwatch.Metric]:
        """Return the figures of one queue by the name of their metric, such as ``PendingJobs``.

        Args:
            queue: Name of a partition of Slurm or of a namespace of Kubernetes.
        """
        return self._figures(queue)

    def widgets(self, *, more_alarms: Sequence[cloudwatch.IAlarm] = ()) -> list[cloudwatch.IWidget]:
        """Return graphs by queue, and the state of alarms if there are any, for a dashboard.

        Args:
            more_alarms: Alarms to show beside those of this construct, such as that on an idle fleet.
        """
        alarms: list[cloudwatch.IAlarm] = [*self.alarms, *more_alarms]
        shown: list[cloudwatch.IWidget] = []
        if alarms:
            shown.append(cloudwatch.AlarmStatusWidget(title="Alarms on jobs", width=_WIDTH, alarms=alarms))
        limit = self._wait_alert_minutes
        return [
            *shown,
            self._graph("Running jobs", RUNNING_JOBS, width=_THIRD),
            self._graph("Pending jobs", PENDING_JOBS, width=_THIRD),
            self._graph("Jobs that gave way", PREEMPTED_JOBS, width=_THIRD),
            self._graph(
                "Longest wait",
                LONGEST_WAIT,
                width=_HALF,
                limit=None if limit is None or Token.is_unresolved(limit) else limit * 60,
            ),
            self._graph("Longest run", LONGEST_RUN, width=_HALF),
        ]

    def _figures(self, queue: str | None) -> dict[str, cloudwatch.Metric]:
        return {
            figure.name: job_metric(figure, cluster_name=self._cluster_name, queue=queue, label=queue)
            for figure in JOB_FIGURES
        }

    def _graph(
        self, title: str, figure: JobFigure, *, width: int, limit: int | None = None
    ) -> cloudwatch.GraphWidget:
        name = self._cluster_name
        queues: list[cloudwatch.IMetric] = (
            [job_search(figure, cluster_name=name)]
            if self._queues is None
            else [job_metric(figure, cluster_name=name, queue=queue, label=queue) for queue in self._queues]
        )
        return cloudwatch.GraphWidget(
            title=title,
            width=width,
            left=[job_metric(figure, cluster_name=name, label=_ALL), *queues],
            left_y_axis=cloudwatch.YAxisProps(min=0, label=figure.unit.lower(), show_units=False),
            left_annotations=[]
            if limit is None
            else [cloudwatch.HorizontalAnnotation(value=limit, label="alarm")],
            period=Duration.minutes(CHECK_MINUTES),
        )

    def _wait_alarm(self, minutes: int) -> cloudwatch.Alarm:
        return self._alarm(
            "WaitAlarm",
            name="wait-time",
            description=(
                f"A job on HyperPod cluster {self._cluster_name} has waited longer than {_shown(minutes)} "
                f"minutes, seen {_CHECKS} times in a row. Stop what blocks it, add nodes, or give its queue "
                f"a larger share. Look: {pending_jobs(self._orchestrator)}, and whether nodes are missing: "
                f"{list_nodes(self._cluster_name, Stack.of(self).region)}"
            ),
            metric=cloudwatch.MathExpression(
                # Minutes, so that the limit may be known only at deployment.
                expression="wait / 60",
                using_metrics={"wait": self.longest_wait},
                period=Duration.minutes(CHECK_MINUTES),
                label="minutes of the longest wait",
            ),
            threshold=minutes,
            times=_CHECKS,
        )

    def _preemption_alarm(self, count: int) -> cloudwatch.Alarm:
        return self._alarm(
            "PreemptionAlarm",
            name="preemptions",
            description=(
                f"More than {_shown(count)} jobs on HyperPod cluster {self._cluster_name} gave way to others "
                "within an hour, and each goes back to its last checkpoint. Raise the share or the priority "
                f"of who gives way, or let jobs save more often. Look: {preempted_jobs(self._orchestrator)}"
            ),
            metric=self.preempted.with_(period=Duration.hours(1)),
            threshold=count,
            times=1,
        )

    def _alarm(
        self,
        id: str,
        *,
        name: str,
        description: str,
        metric: cloudwatch.IMetric,
        threshold: int,
        times: int,
    ) -> cloudwatch.Alarm:
        alarm_name = f"hyperpod-{self._cluster_name}-{name}"
        refuse_arguments(
            f"figures of jobs '{self.node.path}'",
            claim_name(
                self,
                "alarm",
                alarm_name,
                path=(_LIMITS[id],),
                way_out="leave this out of one of both",
            ),
        )
        alarm = cloudwatch.Alarm(
            self,
            id,
            alarm_name=alarm_name,
            alarm_description=description,
            metric=metric,
            threshold=threshold,
            evaluation_periods=times,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.MISSING,
        )
        if self._notices is not None:
            self._notices.admit_alarms()
            tell(alarm, self._notices)
        return alarm


def _check_queues(queues: Any) -> list[Fault]:
    if queues is None:
        return []
    faults = check_list(queues, ("queues",), of="queues")
    return faults if faults else check_job_queues([known(queue) for queue in queues])


def _shown(number: int) -> str:
    return Token.as_string(number) if Token.is_unresolved(number) else str(number)
