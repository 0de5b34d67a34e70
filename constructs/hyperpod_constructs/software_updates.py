"""How the image of a group's nodes is updated: when, in what batches, and which alarms stop it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_cloudwatch as cloudwatch

from hyperpod_constructs.argument_kinds import ALARM, BATCH_SIZE, DEPLOYMENT, check_kind, check_kinds
from hyperpod_constructs.cluster_properties import without_absent
from hyperpod_constructs.value_faults import number_faults, refuse_value, shape_faults
from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.checks.software_updates import check_batch_size
from hyperpod_model.faults import Fault

_BATCH = ("ScheduledUpdateConfig", "DeploymentConfig", "RollingUpdatePolicy", "MaximumBatchSize")
_DEPLOYMENT_PROPS = {
    "WaitIntervalInSeconds": "wait_interval_seconds",
    "AutoRollbackConfiguration": "rollback_alarms",
}


@dataclass(frozen=True)
class BatchSize:
    """How many nodes are worked on at a time. Make one with ``BatchSize.instances(2)`` or ``percentage(10)``.

    Args:
        type: ``INSTANCE_COUNT`` or ``CAPACITY_PERCENTAGE``.
        value: Number of nodes, or percent of the group's nodes.

    Raises:
        InvalidInputError: If there is no such type, or the number is out of range.
    """

    type: str
    value: int

    def __post_init__(self) -> None:
        request = self.to_request()
        faults = number_faults(self.value, "value") + shape_faults(
            request, instance_group().at(*_BATCH), {"Type": "type", "Value": "value"}
        )
        faults += [fault._replace(path=("value",)) for fault in check_batch_size(request)]
        refuse_value("batch size", faults)

    @classmethod
    def instances(cls, count: int) -> BatchSize:
        """Return a number of nodes.

        Args:
            count: At least 1.
        """
        return cls("INSTANCE_COUNT", count)

    @classmethod
    def percentage(cls, percent: int) -> BatchSize:
        """Return a share of the group's nodes.

        Args:
            percent: 1 to 100.
        """
        return cls("CAPACITY_PERCENTAGE", percent)

    def to_request(self) -> dict[str, Any]:
        """Return the size in the terms of a ``CreateCluster`` request."""
        return {"Type": self.type, "Value": self.value}


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """How an update goes through the nodes of a group.

    Batches need the EKS orchestrator. Source: SageMaker AI developer guide, sagemaker-hyperpod-ami-update.

    Args:
        maximum_batch_size: Nodes that are updated at a time. Default: all, not in batches.
        rollback_maximum_batch_size: Nodes that are rolled back at a time. Goes with ``maximum_batch_size``.
            Default: the service's.
        wait_interval_seconds: Seconds, 0 to 3600, between two batches, in which the alarms are watched.
            Default: the service's.
        rollback_alarms: Alarms that roll the update back, at most ten. The cluster lets the role of the
            group's nodes describe them, which the service asks for. Default: none.

    Raises:
        InvalidInputError: With everything that is wrong.
    """

    maximum_batch_size: BatchSize | None = None
    rollback_maximum_batch_size: BatchSize | None = None
    wait_interval_seconds: int | None = None
    rollback_alarms: Sequence[cloudwatch.IAlarm] = ()

    def __post_init__(self) -> None:
        if isinstance(self.rollback_alarms, list):
            object.__setattr__(self, "rollback_alarms", tuple(self.rollback_alarms))
        faults = [
            *check_kind(self.maximum_batch_size, BATCH_SIZE, ("maximum_batch_size",)),
            *check_kind(self.rollback_maximum_batch_size, BATCH_SIZE, ("rollback_maximum_batch_size",)),
            *check_kinds(self.rollback_alarms, ALARM, ("rollback_alarms",), required=True),
            *number_faults(self.wait_interval_seconds, "wait_interval_seconds"),
        ]
        if not faults:
            request = self.to_request()
            request.pop("RollingUpdatePolicy", None)
            model = instance_group().at("ScheduledUpdateConfig", "DeploymentConfig")
            faults = shape_faults(request, model, _DEPLOYMENT_PROPS)
        if self.maximum_batch_size is None and self.rollback_maximum_batch_size is not None:
            faults.append(Fault(("rollback_maximum_batch_size",), "needs maximum_batch_size; give it too"))
        refuse_value("deployment", faults)

    def to_request(self) -> dict[str, Any]:
        """Return ``DeploymentConfig`` of a ``CreateCluster`` request."""
        most, rollback = self.maximum_batch_size, self.rollback_maximum_batch_size
        policy = without_absent(
            {
                "MaximumBatchSize": None if most is None else most.to_request(),
                "RollbackMaximumBatchSize": None if rollback is None else rollback.to_request(),
            }
        )
        alarms = [{"AlarmName": alarm.alarm_name} for alarm in self.rollback_alarms]
        return without_absent(
            {
                "RollingUpdatePolicy": policy if policy else None,
                "WaitIntervalInSeconds": self.wait_interval_seconds,
                "AutoRollbackConfiguration": alarms if alarms else None,
            }
        )


@dataclass(frozen=True, kw_only=True)
class AutoPatching:
    """Security patches of the nodes' image, applied by the service when nodes are idle.

    Once a patch has come, the release version that runs is ahead of ``image_release_version``, and
    CloudFormation may report drift. When the next patch comes (``NextPatchDate``) is read-only in
    CloudFormation. The API alone has the strategy ``DrainFirst``, its drain policy and the length of the wait
    for idle nodes. Source: CloudFormation, AWS::SageMaker::Cluster; API reference, ClusterAutoPatchConfig.

    Args:
        strategy: ``WhenIdle`` cordons all nodes and patches each as it becomes idle; ``WhenAllIdle`` waits
            for all of them to be idle. Nodes that do not become idle stay as they are.
        deployment: Batches and alarms. Default: the service's.

    Raises:
        InvalidInputError: If there is no such strategy in CloudFormation.
    """

    strategy: str
    deployment: Deployment | None = None

    def __post_init__(self) -> None:
        faults = check_kind(self.deployment, DEPLOYMENT, ("deployment",))
        model = instance_group().at("AutoPatchConfig")
        request = {"PatchingStrategy": self.strategy}
        faults += shape_faults(request, model, {"PatchingStrategy": "strategy"})
        refuse_value("auto patching", faults)

    def to_request(self) -> dict[str, Any]:
        """Return ``AutoPatchConfig`` of a ``CreateCluster`` request."""
        deployment = None if self.deployment is None else self.deployment.to_request()
        return without_absent(
            {
                "PatchingStrategy": self.strategy,
                "DeploymentConfig": deployment if deployment else None,
            }
        )


@dataclass(frozen=True, kw_only=True)
class ScheduledUpdate:
    """Updates of the nodes' image at set times.

    Nodes are re-imaged and run the lifecycle scripts again. Schedules of different groups should not overlap:
    updates might fail. Source: SageMaker AI developer guide, sagemaker-hyperpod-ami-update.

    Args:
        schedule_expression: When, such as ``cron(0 3 ? * SUN *)``: minute, hour, day of the month, month, day
            of the week, year; one of the two days is ``?``.
        deployment: Batches and alarms. Default: all nodes at once, and no alarms.

    Raises:
        InvalidInputError: If the expression is of another form.
    """

    schedule_expression: str
    deployment: Deployment | None = None

    def __post_init__(self) -> None:
        faults = check_kind(self.deployment, DEPLOYMENT, ("deployment",))
        model = instance_group().at("ScheduledUpdateConfig")
        request = {"ScheduleExpression": self.schedule_expression}
        faults += shape_faults(request, model, {"ScheduleExpression": "schedule_expression"})
        refuse_value("scheduled update", faults)

    def to_request(self) -> dict[str, Any]:
        """Return ``ScheduledUpdateConfig`` of a ``CreateCluster`` request."""
        deployment = None if self.deployment is None else self.deployment.to_request()
        return without_absent(
            {
                "ScheduleExpression": self.schedule_expression,
                "DeploymentConfig": deployment if deployment else None,
            }
        )
