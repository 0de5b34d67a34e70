"""Who hears of what happens on a cluster, and where it is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Annotations, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import LOG_GROUP, check_kind, check_kinds, check_switch
from hyperpod_constructs.cluster_dashboard import ClusterDashboard
from hyperpod_constructs.cluster_place import check_cluster
from hyperpod_constructs.event_notices import EventNotices
from hyperpod_constructs.failing_slots import FailingSlots, event_log_name
from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_constructs.log_alarm import LogAlarm
from hyperpod_constructs.node_log_group import NodeLogGroup, let_logs_use_key
from hyperpod_constructs.notice_topic import NoticeTopic, check_standard_topic
from hyperpod_constructs.operator_commands import advise
from hyperpod_constructs.rotating_key import rotating_key
from hyperpod_constructs.taken_names import claim_name
from hyperpod_constructs.tokens import known
from hyperpod_constructs.value_faults import number_faults
from hyperpod_lifecycle.failure_line import FAILURE_WORDS
from hyperpod_lifecycle.training.crash_loop import CRASH_LOOP_PATTERN
from hyperpod_model.catalog.logs import (
    DEEP_HEALTH_FAILURE_FILTER,
    HEALTH_EVENT_FILTER,
    log_group_name,
)
from hyperpod_model.catalog.notifications import ALARMS_SERVICE, EVENTS_SERVICE
from hyperpod_model.checks.observability import check_log_retention

_WARNING = "hyperpod:ClusterObservability"
EXISTING_TOPIC_WARNING = f"{_WARNING}.existingTopic"
NO_RECEIVER_WARNING = f"{_WARNING}.noReceiver"
SHORT_RETENTION_WARNING = f"{_WARNING}.logRetention"
_CONTINUOUS = "Continuous"


class ClusterObservability(Construct):
    """Notices, alarms, kept logs and a dashboard for one cluster.

    - **Events** of EventBridge, filtered on the cluster's ARN, as a few lines of text each: nodes that turn
      unhealthy or recover, changes of the cluster's state, and with continuous provisioning operations that
      fail. See ``EventNotices``.
    - **Alarms** on lines in the nodes' logs: what the health agent detects, nodes that fail deep health
      checks, lifecycle scripts of this package that fail, jobs that the resume library has stopped. See
      ``LogAlarm``. And alarms on the node and the group that keep failing. See ``FailingSlots``.
    - **Logs**: the nodes' log group is kept for some days and encrypted with a key of its own, whoever makes
      it first. See ``NodeLogGroup``. The key outlives the stack, as the log group does.
    - A **dashboard** of all this. See ``ClusterDashboard``.

    Everything publishes to one encrypted topic, or to an existing one. See ``NoticeTopic``.

    Events and lines before this construct is deployed are not told of: that the cluster cannot be created is
    what the deployment itself says.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The cluster, made here or imported.
        emails: Addresses that get every notice. AWS mails each once, and sends nothing else before it is
            confirmed. Default: none, with the warning ``hyperpod:ClusterObservability.noReceiver`` unless
            there is a ``topic``.
        topic: Existing topic for the notices, in the region of the cluster. Its policy and its key's must
            admit events.amazonaws.com and cloudwatch.amazonaws.com, which leaves the warning
            ``hyperpod:ClusterObservability.existingTopic`` to acknowledge. Default: one is made.
        continuous_provisioning: Whether the cluster provisions continuously, for one that is imported.
            Default: what the cluster says, and no where it is imported.
        job_log_groups: Log groups other than the nodes' to which jobs write, to be searched for jobs that
            crash in a loop. Default: none.
        log_retention_days: Days for which the nodes' logs and the events are kept, one of those that
            CloudWatch Logs takes. Default: 365.
        health_events: Whether node health events are told. Default: ``True``.
        state_changes: Whether changes of state are told. Default: ``True``.
        cluster_events: Whether failed operations are told, with continuous provisioning. Default: ``True``.
        health_detections: Whether there is an alarm on the health agent. Default: ``True``.
        deep_health_failures: Whether there is an alarm on deep health checks. Default: ``True``.
        lifecycle_failures: Whether there is an alarm on lifecycle scripts. Default: ``True``.
        failing_slots: Whether nodes and groups that keep failing are found. Default: ``True``.
        crash_loops: Whether there is an alarm on jobs that crash in a loop. Default: ``True``.
        dashboard: Whether there is a dashboard. Default: ``True``.

    Attributes:
        notices: The topic, for other constructs that tell people: its ``topic``, and ``admit_budgets()``.
        events: The rules of EventBridge.
        node_log_group: The nodes' log group; what takes its name waits until it exists.
        log_alarms: Alarms on logs, by name: ``HealthDetections``, ``DeepHealthFailures``,
            ``LifecycleFailures``, ``CrashLoops``.
        failing_slots: What counts failures. None if switched off.
        dashboard: The dashboard. None if switched off.

    Raises:
        InvalidInputError: If an argument is of another kind, the cluster or the topic is elsewhere, the topic
            is a FIFO topic, an address is none, the days are none that CloudWatch Logs takes, or the cluster
            has observability already.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: HyperPodClusterBase,
        emails: Sequence[str] = (),
        topic: sns.ITopic | None = None,
        continuous_provisioning: bool | None = None,
        job_log_groups: Sequence[logs.ILogGroup] = (),
        log_retention_days: int = 365,
        health_events: bool = True,
        state_changes: bool = True,
        cluster_events: bool = True,
        health_detections: bool = True,
        deep_health_failures: bool = True,
        lifecycle_failures: bool = True,
        failing_slots: bool = True,
        crash_loops: bool = True,
        dashboard: bool = True,
    ) -> None:
        super().__init__(scope, id)
        self._owner = f"cluster observability '{self.node.path}'"
        self._check(
            cluster,
            topic,
            job_log_groups,
            log_retention_days,
            {
                "health_events": health_events,
                "state_changes": state_changes,
                "cluster_events": cluster_events,
                "health_detections": health_detections,
                "deep_health_failures": deep_health_failures,
                "lifecycle_failures": lifecycle_failures,
                "failing_slots": failing_slots,
                "crash_loops": crash_loops,
                "dashboard": dashboard,
            },
            continuous_provisioning,
        )
        self._cluster = cluster
        self._job_log_groups: set[str] = set()
        self._kept: dict[str, NodeLogGroup] = {}
        continuous = (
            cluster.node_provisioning_mode == _CONTINUOUS
            if continuous_provisioning is None
            else continuous_provisioning
        )
        self.notices = self._notices(emails, topic)
        self._key = rotating_key(self, "LogKey", description=f"Logs of the nodes: {self.node.path}")
        self._log_retention_days = log_retention_days
        names = [log_group_name(cluster.cluster_name, "*")]
        if failing_slots:
            names.append(event_log_name(cluster.cluster_name))
        let_logs_use_key(self._key, *names)
        self.node_log_group = NodeLogGroup(
            self,
            "NodeLogGroup",
            log_group_name=cluster.log_group_name,
            retention_days=log_retention_days,
            key=self._key,
        ).log_group
        self.events = EventNotices(self, "Events", cluster=cluster, notices=self.notices)
        if health_events:
            self.events.add_node_health()
        if state_changes:
            self.events.add_state_changes()
        if cluster_events and continuous:
            self.events.add_cluster_events()
        self.log_alarms: dict[str, LogAlarm] = {}
        self._watch_logs(
            HealthDetections=health_detections,
            DeepHealthFailures=deep_health_failures,
            LifecycleFailures=lifecycle_failures,
            CrashLoops=crash_loops,
        )
        for group in job_log_groups:
            self.watch_job_logs(group)
        self.failing_slots: FailingSlots | None = None
        if failing_slots:
            self.failing_slots = FailingSlots(
                self,
                "FailingSlots",
                cluster=cluster,
                notices=self.notices,
                retention_days=log_retention_days,
                key=self._key,
                by_group=continuous,
            )
        self.dashboard: cloudwatch.Dashboard | None = None
        if dashboard:
            self.dashboard = ClusterDashboard(
                self,
                "Dashboard",
                cluster=cluster,
                alarms=self.alarms,
                log_alarms=list(self.log_alarms.values()),
                rules=self.events.rules,
                node_log_group=self.node_log_group,
            ).dashboard

    @property
    def topic(self) -> sns.ITopic:
        """The topic that people read."""
        return self.notices.topic

    @property
    def alarms(self) -> list[cloudwatch.IAlarm]:
        """All alarms of this construct."""
        slots = () if self.failing_slots is None else self.failing_slots.alarms
        return [*(one.alarm for one in self.log_alarms.values()), *slots]

    def watch_job_logs(self, log_group: logs.ILogGroup) -> None:
        """Search a log group for jobs that crash in a loop. Without effect where that alarm is switched off.

        Args:
            log_group: A group to which jobs write, such as that of Container Insights. One that is searched
                already is not searched twice.

        Raises:
            InvalidInputError: If it is no log group.
        """
        refuse_arguments(self._owner, check_kind(log_group, LOG_GROUP, ("log_group",), required=True))
        alarm = self.log_alarms.get("CrashLoops")
        if alarm is not None and log_group.log_group_name not in self._job_log_groups:
            self._job_log_groups.add(log_group.log_group_name)
            alarm.watch(log_group)

    def keep_container_logs(self, log_group_name: str) -> NodeLogGroup:
        """Keep the log group of what containers print, as long as the nodes' and with their key.

        Args:
            log_group_name: Its name, such as ``ContainerInsights(...).log_group_name``.

        Returns:
            The group, made if it is not there. Let come after it what writes to it.
        """
        if log_group_name in self._kept:
            return self._kept[log_group_name]
        number = "" if not self._kept else str(len(self._kept) + 1)
        let_logs_use_key(self._key, log_group_name, sid=f"ContainerLogs{number}")
        kept = self._kept[log_group_name] = NodeLogGroup(
            self,
            f"ContainerLogGroup{number}",
            log_group_name=log_group_name,
            retention_days=self._log_retention_days,
            key=self._key,
        )
        # It outlives the stack, so that a cluster that cannot be created must not leave one.
        kept.resource.node.add_dependency(self._cluster)
        return kept

    def grant_notify(self, role: iam.IRole) -> iam.Grant:
        """Let a role publish to the topic, as ``sns_notice`` of the resume library does for a stopped job.

        Args:
            role: The role of the jobs: on Slurm that of the nodes, on EKS a ``TrainingPodRole``.
        """
        return self.notices.grant_publish(role)

    def _check(
        self,
        cluster: HyperPodClusterBase,
        topic: sns.ITopic | None,
        job_log_groups: Sequence[logs.ILogGroup],
        log_retention_days: int,
        switches: Mapping[str, bool],
        continuous_provisioning: bool | None,
    ) -> None:
        faults = [
            *check_cluster(cluster, scope=self),
            *check_standard_topic(topic, scope=self),
            *(fault for name, switch in switches.items() for fault in check_switch(switch, (name,))),
            *check_switch(continuous_provisioning, ("continuous_provisioning",), optional=True),
            *number_faults(log_retention_days, "log_retention_days"),
            *check_kinds(job_log_groups, LOG_GROUP, ("job_log_groups",), required=True),
            *(
                fault._replace(path=("log_retention_days",))
                for fault in check_log_retention(known(log_retention_days))
            ),
        ]
        for warning in refuse_arguments(self._owner, faults):
            Annotations.of(self).add_warning_v2(SHORT_RETENTION_WARNING, str(warning))
        taken = claim_name(
            self,
            "observability",
            cluster.cluster_name,
            path=("cluster",),
            way_out="use its notices, topic, events and dashboard instead of a second one",
        )
        refuse_arguments(self._owner, taken)

    def _notices(self, emails: Sequence[str], topic: sns.ITopic | None) -> NoticeTopic:
        if topic is not None:
            Annotations.of(self).add_warning_v2(
                EXISTING_TOPIC_WARNING,
                f"the policies of the existing topic '{topic.node.path}' and of its key are left as they "
                f"are; make sure that both admit {EVENTS_SERVICE}, without conditions on its source, and "
                f"{ALARMS_SERVICE}, or notices are dropped in silence",
            )
            return NoticeTopic.from_topic(self, "Topic", topic=topic, emails=emails)
        if not emails:
            Annotations.of(self).add_warning_v2(
                NO_RECEIVER_WARNING,
                "nobody hears of failing nodes, alarms and changes of state; pass emails "
                "(observability.emails in a specification) or a topic that somebody reads, or subscribe to "
                "the topic of this construct and acknowledge this",
            )
        return NoticeTopic(
            self,
            "Topic",
            emails=emails,
            display_name=f"HyperPod {self._cluster.cluster_name}",
        )

    def _watch_logs(self, **switches: bool) -> None:
        name = self._cluster.cluster_name
        # No alarm on a metric can name the node.
        look = f"Which, and what to do: {advise(name, Stack.of(self).region)}"
        known_lines = {
            "HealthDetections": (
                HEALTH_EVENT_FILTER,
                "health-detections",
                f"The health agent found a fault on a node of HyperPod cluster {name}. {look}",
            ),
            "DeepHealthFailures": (
                DEEP_HEALTH_FAILURE_FILTER,
                "deep-health-failures",
                f"A node of HyperPod cluster {name} failed its deep health checks and does not join. {look}",
            ),
            "LifecycleFailures": (
                f'"{FAILURE_WORDS}"',
                "lifecycle-failures",
                f"A lifecycle script failed on a node of HyperPod cluster {name}, which does not join; the "
                f"last line in its log stream says what to do. {look}",
            ),
            "CrashLoops": (
                f'"{CRASH_LOOP_PATTERN}"',
                "crash-loops",
                f"A job on HyperPod cluster {name} crashed again and again before it saved a checkpoint, and "
                "does not start again by itself. The line in the log names it: look for "
                f"{CRASH_LOOP_PATTERN} in the log groups of the nodes and of the jobs.",
            ),
        }
        for metric, (pattern, alarm, description) in known_lines.items():
            if not switches[metric]:
                continue
            self.log_alarms[metric] = LogAlarm(
                self,
                metric,
                pattern=pattern,
                namespace=f"HyperPod/{name}",
                metric_name=metric,
                alarm_name=f"hyperpod-{name}-{alarm}",
                description=description,
                notices=self.notices,
            )
            self.log_alarms[metric].watch(self.node_log_group)
