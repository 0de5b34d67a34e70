"""HyperPod clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aws_double.naming import physical_name
from aws_double.property_changes import changed, differs_at, tag_changes
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session
from aws_double.waiting import unless_gone, wait_for, wait_until_gone
from hyperpod_model.catalog.cluster_request import RequestField, cluster_request
from hyperpod_model.catalog.updates import CREATE_ONLY

_LONGEST_NAME = 63
_NOT_FOUND = ("ResourceNotFound",)
_GROUPS = ("InstanceGroups", "RestrictedInstanceGroups")


@resource_type(
    "AWS::SageMaker::Cluster",
    properties="ClusterName InstanceGroups RestrictedInstanceGroups RestrictedInstanceGroupsConfig VpcConfig "
    "Orchestrator NodeRecovery NodeProvisioningMode ClusterRole AutoScaling TieredStorageConfig Tags",
    updatable="*",
)
class HyperPodCluster(ResourceType):
    """A HyperPod cluster; its creation ends when the cluster is in service."""

    def check(self, resource: Resource) -> None:
        super().check(resource)
        unknown = list(_unknown(resource.properties, cluster_request(), self.name))
        if unknown:
            raise ResourceFailure(f"not in CloudFormation: {'; '.join(unknown)}")

    def replaces(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        return differs_at(before, after, CREATE_ONLY[self.name])

    def create(self, resource: Resource, session: Session) -> None:
        name = resource.properties.get("ClusterName", physical_name(resource, limit=_LONGEST_NAME))
        asked = {**resource.properties, "ClusterName": name}
        resource.physical_id = session.call("sagemaker", "create_cluster", **asked)["ClusterArn"]
        self._wait(resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        old, new = before.properties, after.properties
        settings = changed(old, new)
        settings.pop("Tags", None)
        gone = _group_names(old) - _group_names(new)
        if settings or gone:
            request = {**settings, **({"InstanceGroupsToDelete": sorted(gone)} if gone else {})}
            session.call("sagemaker", "update_cluster", ClusterName=after.physical_id, **request)
        tags, keys = tag_changes(old, new)
        if tags:
            session.call("sagemaker", "add_tags", ResourceArn=after.physical_id, Tags=tags)
        if keys:
            session.call("sagemaker", "delete_tags", ResourceArn=after.physical_id, TagKeys=keys)
        self._wait(after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        arn = resource.physical_id
        if unless_gone(
            lambda: session.call("sagemaker", "delete_cluster", ClusterName=arn), errors=_NOT_FOUND
        ):
            wait_until_gone(lambda: _described(session, arn)["ClusterStatus"], errors=_NOT_FOUND, what=arn)

    def _wait(self, resource: Resource, session: Session) -> None:
        arn = resource.physical_id
        wait_for(
            lambda: str(_described(session, arn)["ClusterStatus"]),
            done=("InService",),
            doing=("Creating", "Updating"),
            what=arn,
        )
        found = _described(session, arn)
        resource.attributes = {
            "ClusterArn": arn,
            "ClusterStatus": found["ClusterStatus"],
            "CreationTime": found["CreationTime"].isoformat(),
            "FailureMessage": found.get("FailureMessage", ""),
        }


def _described(session: Session, arn: str) -> dict[str, Any]:
    return session.call("sagemaker", "describe_cluster", ClusterName=arn)


def _group_names(properties: Mapping[str, Any]) -> set[str]:
    return {group["InstanceGroupName"] for member in _GROUPS for group in properties.get(member, [])}


def _unknown(value: Any, field: RequestField, path: str) -> Iterator[str]:
    """Say what the API takes and the CloudFormation type does not."""
    if isinstance(value, Mapping) and field.members:
        for key, item in value.items():
            member = field.members.get(key)
            if member is None or member.api_only:
                yield f"{path}.{key}"
            else:
                yield from _unknown(item, member, f"{path}.{key}")
    elif isinstance(value, list) and field.item is not None:
        for item in value:
            yield from _unknown(item, field.item, path)
    elif field.cloudformation_enum and value not in field.cloudformation_enum:
        yield f"{path} of {value!r}, only {', '.join(field.cloudformation_enum)}"
