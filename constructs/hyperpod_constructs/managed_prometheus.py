"""A workspace of Amazon Managed Service for Prometheus for one cluster."""

from __future__ import annotations

from textwrap import indent
from typing import Any, Final

import yaml
from aws_cdk import Annotations, Stack
from aws_cdk import aws_aps as aps
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import CLUSTER, KEY, ROLE, check_kind, check_switch
from hyperpod_constructs.governance_rules import RULE_NAMESPACE, governance_rules
from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_constructs.notice_topic import NoticeTopic, check_notices, check_standard_topic
from hyperpod_constructs.tokens import known
from hyperpod_constructs.value_faults import number_faults
from hyperpod_model.catalog.metrics import (
    COLLECTED_UNDER_KUEUE_NAMES,
    PROMETHEUS_SERVICE,
    READ_ACTIONS,
    WRITE_ACTION,
)
from hyperpod_model.checks.metrics import check_alert_limits
from hyperpod_model.faults import Fault

EXISTING_TOPIC_WARNING: Final = "hyperpod:ManagedPrometheus.existingTopic"
NO_READER_WARNING: Final = "hyperpod:ManagedPrometheus.noReader"
NAMES_NOTE: Final = "hyperpod:ManagedPrometheus.metricNames"
_RECEIVER = "notices"


class ManagedPrometheus(Construct):
    """A workspace that keeps a cluster's figures, records those of its queues, and alerts a topic.

    Recorded by queue: running and pending jobs, jobs preempted within an hour, and the wait before admission,
    as the mean and as what one job in ten exceeds. Alerts: that wait climbing, a queue with pending jobs that
    admits none, preemptions spiking. All are made of what Kueue measures, which task governance brings along;
    ``HyperPodObservabilityAddOn`` collects it.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The cluster, made here or imported.
        notices: Topic that is alerted, which lets this service in. Default: nobody, with the warning
            ``hyperpod:ManagedPrometheus.noReader`` unless there is a ``topic``.
        topic: Existing standard topic instead, in the region of the workspace. Its policy must let
            ``aps.amazonaws.com`` do ``sns:Publish`` and ``sns:GetTopicAttributes``, and its key's
            ``kms:GenerateDataKey*`` and ``kms:Decrypt``, which leaves the warning
            ``hyperpod:ManagedPrometheus.existingTopic`` to acknowledge.
        encryption_key: Key of the data. It cannot be changed afterwards without another workspace, and
            whoever deploys needs rights on it; see ``WORKSPACE_KEY_ACTIONS`` of the catalog. Default: AWS's
            own.
        governance_rules: Whether queues are recorded and alerted on. Default ``True``.
        wait_alert_minutes: Wait of one job in ten that is too long, if the mean wait is growing, above 170
            the mean wait itself; and how long a queue may have pending jobs and admit none. None for no
            alert on either. Default: 60.
        preemption_alert_count: Preempted jobs of an hour, of one queue and for one reason, that are many, if
            they are three times the usual. None for no alert. Default: 10.

    Attributes:
        workspace: The workspace.
        workspace_arn: Its ARN.
        endpoint: URL that ends with ``/``, to which remote write and queries are relative.

    Raises:
        InvalidInputError: If an argument is of another kind, both topics are given, the topic is a FIFO topic
            or in another region, or a limit is not positive.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: HyperPodClusterBase,
        notices: NoticeTopic | None = None,
        topic: sns.ITopic | None = None,
        encryption_key: kms.IKey | None = None,
        governance_rules: bool = True,
        wait_alert_minutes: int | None = 60,
        preemption_alert_count: int | None = 10,
    ) -> None:
        super().__init__(scope, id)
        faults = [
            *check_kind(cluster, CLUSTER, ("cluster",), required=True),
            *check_notices(notices, scope=self),
            *check_standard_topic(topic, scope=self),
            *check_kind(encryption_key, KEY, ("encryption_key",)),
            *check_switch(governance_rules, ("governance_rules",)),
            *number_faults(wait_alert_minutes, "wait_alert_minutes"),
            *number_faults(preemption_alert_count, "preemption_alert_count"),
            *check_alert_limits(
                wait_alert_minutes=known(wait_alert_minutes),
                preemption_alert_count=known(preemption_alert_count),
            ),
        ]
        if notices is not None and topic is not None:
            faults.append(Fault(("topic",), "is given beside notices; keep one of both"))
        refuse_arguments(f"workspace of Prometheus '{self.node.path}'", faults)
        receiver = self._receiver(notices, topic)
        self.workspace = aps.CfnWorkspace(
            self,
            "Resource",
            alias=f"hyperpod-{cluster.cluster_name}",
            alert_manager_definition=None
            if receiver is None
            else _alert_manager(receiver.topic_arn, Stack.of(self).region),
            kms_key_arn=None if encryption_key is None else encryption_key.key_arn,
        )
        self.workspace_arn = self.workspace.attr_arn
        self.endpoint = self.workspace.attr_prometheus_endpoint
        if governance_rules:
            self._add_governance_rules(wait_alert_minutes, preemption_alert_count)

    def grant_write(self, role: iam.IRole) -> iam.Grant:
        """Let a role write figures, and read none.

        Args:
            role: Role of a collector.
        """
        return self._grant(role, [WRITE_ACTION])

    def grant_read(self, role: iam.IRole) -> iam.Grant:
        """Let a role read figures of this workspace.

        Args:
            role: Role of a reader, such as Grafana's.
        """
        return self._grant(role, list(READ_ACTIONS))

    def _grant(self, role: iam.IRole, actions: list[str]) -> iam.Grant:
        refuse_arguments(
            f"workspace of Prometheus '{self.node.path}'", check_kind(role, ROLE, ("role",), required=True)
        )
        return iam.Grant.add_to_principal(grantee=role, actions=actions, resource_arns=[self.workspace_arn])

    def _receiver(self, notices: NoticeTopic | None, topic: sns.ITopic | None) -> sns.ITopic | None:
        if notices is not None:
            notices.admit_prometheus()
            return notices.topic
        if topic is not None:
            Annotations.of(self).add_warning_v2(
                EXISTING_TOPIC_WARNING,
                f"the policies of the existing topic '{topic.node.path}' and of its key are left as they "
                f"are; make sure that both admit {PROMETHEUS_SERVICE}, or alerts are dropped in silence",
            )
            return topic
        Annotations.of(self).add_warning_v2(
            NO_READER_WARNING,
            "nobody hears of alerts of Prometheus; pass notices that somebody reads, or a topic, or "
            "acknowledge this",
        )
        return None

    def _add_governance_rules(
        self, wait_alert_minutes: int | None, preemption_alert_count: int | None
    ) -> None:
        doubt = COLLECTED_UNDER_KUEUE_NAMES.doubt
        if doubt is not None:
            Annotations.of(self).add_info_v2(
                NAMES_NOTE,
                f"rules use Kueue's own names of metrics: {doubt}. Query one of them once jobs have run; "
                "where it is empty, collect Kueue's metrics with a collector of your own, see grant_write",
            )
        aps.CfnRuleGroupsNamespace(
            self,
            "GovernanceRules",
            name=RULE_NAMESPACE,
            workspace=self.workspace_arn,
            data=governance_rules(
                wait_alert_minutes=wait_alert_minutes, preemption_alert_count=preemption_alert_count
            ),
        )


def _alert_manager(topic_arn: str, region: str) -> str:
    """The alert manager's file: Alertmanager's own configuration as text under one key."""
    configuration: dict[str, Any] = {
        "route": {
            "receiver": _RECEIVER,
            "group_by": ["alertname", "cluster_queue"],
            "group_wait": "1m",
            "group_interval": "15m",
            "repeat_interval": "12h",
        },
        "receivers": [
            {
                "name": _RECEIVER,
                "sns_configs": [
                    {
                        "topic_arn": topic_arn,
                        "sigv4": {"region": region},
                        "subject": "{{ .CommonLabels.alertname }} {{ .Status }}",
                        "message": "{{ range .Alerts }}{{ .Annotations.summary }}\n{{ end }}",
                    }
                ],
            }
        ],
    }
    text = yaml.safe_dump(configuration, sort_keys=False, width=1_000_000)
    return f"alertmanager_config: |\n{indent(text, '  ')}"
