"""How the software of nodes is updated: schedules, batches, and the alarms that roll an update back."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import Items, SpecModel

BatchUnit = Literal["INSTANCE_COUNT", "CAPACITY_PERCENTAGE"]
PatchingStrategy = Literal["WhenIdle", "WhenAllIdle"]

_SCHEDULED = instance_group().at("ScheduledUpdateConfig")
_DEPLOYMENT = _SCHEDULED.at("DeploymentConfig")
_BATCH = _DEPLOYMENT.at("RollingUpdatePolicy", "MaximumBatchSize")


class BatchSizeSpec(SpecModel):
    """How many nodes are worked on at a time."""

    type: BatchUnit = Field(description="What value counts: 'INSTANCE_COUNT' or 'CAPACITY_PERCENTAGE'.")
    value: int = Field(
        description="Number of nodes, or percent of the group's nodes.",
        json_schema_extra=schema_of(_BATCH.at("Value")),
    )


class DeploymentSpec(SpecModel):
    """How an update goes through the nodes of a group."""

    maximum_batch_size: BatchSizeSpec | None = Field(
        default=None,
        description="Nodes that are updated at a time. By default all, not in batches.",
    )
    rollback_maximum_batch_size: BatchSizeSpec | None = Field(
        default=None,
        description=(
            "Nodes that are rolled back at a time; with maximum_batch_size only. By default as many as are "
            "updated."
        ),
    )
    wait_interval_seconds: int | None = Field(
        default=None,
        description="Seconds from one batch to the next. By default the service's.",
        json_schema_extra=schema_of(_DEPLOYMENT.at("WaitIntervalInSeconds")),
    )
    rollback_alarm_names: Items[str] = Field(
        default=(),
        description=(
            "Names of the CloudWatch alarms that stop the update and roll it back. By default none."
        ),
        json_schema_extra={"maxItems": _DEPLOYMENT.at("AutoRollbackConfiguration").max},
    )


class AutoPatchingSpec(SpecModel):
    """Automatic patches of the nodes' image."""

    strategy: PatchingStrategy = Field(
        description=(
            "'WhenIdle': each node is patched once it is idle. 'WhenAllIdle': all nodes once all are idle. "
            "(The API's 'DrainFirst' cannot be said in CloudFormation.)"
        )
    )
    deployment: DeploymentSpec | None = Field(
        default=None,
        description="Batches and rollback. By default the service's.",
    )


class ScheduledUpdateSpec(SpecModel):
    """Updates of the nodes' image at set times."""

    schedule_expression: str = Field(
        description="When, in UTC, such as cron(0 3 ? * SUN *).",
        json_schema_extra=schema_of(_SCHEDULED.at("ScheduleExpression")),
    )
    deployment: DeploymentSpec | None = Field(
        default=None,
        description="Batches and rollback. By default the service's.",
    )
