"""How teams share a HyperPod cluster: priority classes and quotas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from aws_double.property_changes import differs_at
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session
from aws_double.waiting import unless_gone, wait_for, wait_until_gone

_NOT_FOUND = ("ResourceNotFound",)


class _Versioned(ResourceType):
    """What SageMaker keeps in versions, of which an update names the last."""

    kind: ClassVar[str]
    operation: ClassVar[str]

    def create(self, resource: Resource, session: Session) -> None:
        told = session.call("sagemaker", f"create_{self.operation}", **resource.properties)
        resource.physical_id = told[f"{self.kind}Arn"]
        found = self._wait(resource, session)
        resource.attributes = {
            f"{self.kind}Arn": resource.physical_id,
            f"{self.kind}Id": found[f"{self.kind}Id"],
            f"{self.kind}Version": found[f"{self.kind}Version"],
        }

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        version = self._described(after, session)[f"{self.kind}Version"]
        changes = {key: value for key, value in after.properties.items() if key in self.updatable}
        session.call(
            "sagemaker",
            f"update_{self.operation}",
            **{f"{self.kind}Id": _id(after), "TargetVersion": version, **changes},
        )
        after.attributes = {
            **after.attributes,
            f"{self.kind}Version": self._wait(after, session)[f"{self.kind}Version"],
        }

    def delete(self, resource: Resource, session: Session) -> None:
        asked = {f"{self.kind}Id": _id(resource)}
        if unless_gone(
            lambda: session.call("sagemaker", f"delete_{self.operation}", **asked), errors=_NOT_FOUND
        ):
            wait_until_gone(
                lambda: str(self._described(resource, session)["Status"]),
                errors=_NOT_FOUND,
                what=resource.physical_id,
            )

    def _described(self, resource: Resource, session: Session) -> dict[str, Any]:
        return session.call("sagemaker", f"describe_{self.operation}", **{f"{self.kind}Id": _id(resource)})

    def _wait(self, resource: Resource, session: Session) -> Mapping[str, Any]:
        wait_for(
            lambda: str(self._described(resource, session)["Status"]),
            done=("Created", "Updated"),
            doing=("Creating", "Updating"),
            what=resource.physical_id,
        )
        return self._described(resource, session)


@resource_type(
    "AWS::SageMaker::ClusterSchedulerConfig",
    properties="Name ClusterArn Description SchedulerConfig",
    updatable="Description SchedulerConfig",
)
class ClusterSchedulerConfig(_Versioned):
    """Priority classes and the sharing of what is idle."""

    kind = "ClusterSchedulerConfig"
    operation = "cluster_scheduler_config"


@resource_type(
    "AWS::SageMaker::ComputeQuota",
    properties="Name ClusterArn Description ActivationState ComputeQuotaConfig ComputeQuotaTarget",
    updatable="Description ActivationState ComputeQuotaConfig ComputeQuotaTarget",
)
class ComputeQuota(_Versioned):
    """What a team can count on."""

    kind = "ComputeQuota"
    operation = "compute_quota"

    def replaces(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        team = (("ComputeQuotaTarget", "TeamName"),)
        return super().replaces(before, after) or differs_at(before, after, team)


def _id(resource: Resource) -> str:
    return resource.physical_id.rpartition("/")[2]
