"""Repositories of container images, which the CDK's bootstrap stack wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.naming import physical_name
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 256
_CHANGES = "ImageTagMutability LifecyclePolicy RepositoryPolicyText"


@resource_type("AWS::ECR::Repository", properties=f"RepositoryName {_CHANGES}", updatable=_CHANGES)
class Repository(ResourceType):
    """A repository with its policies."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        name = wanted.get("RepositoryName", physical_name(resource, limit=_LONGEST_NAME, lower=True))
        created = session.call(
            "ecr",
            "create_repository",
            repositoryName=name,
            imageTagMutability=wanted.get("ImageTagMutability", "MUTABLE"),
        )["repository"]
        resource.physical_id = name
        resource.attributes = {"Arn": created["repositoryArn"], "RepositoryUri": created["repositoryUri"]}
        _apply_policies(session, name, {}, wanted)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        mutability = after.properties.get("ImageTagMutability", "MUTABLE")
        session.call(
            "ecr",
            "put_image_tag_mutability",
            repositoryName=after.physical_id,
            imageTagMutability=mutability,
        )
        _apply_policies(session, after.physical_id, before.properties, after.properties)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("ecr", "delete_repository", repositoryName=resource.physical_id)


def _apply_policies(session: Session, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for key in ("LifecyclePolicy", "RepositoryPolicyText"):
        if key in before and key not in after:
            raise ResourceFailure(f"{key} cannot be taken away in this double")
    if before.get("LifecyclePolicy") != after.get("LifecyclePolicy"):
        session.call(
            "ecr",
            "put_lifecycle_policy",
            repositoryName=name,
            lifecyclePolicyText=after["LifecyclePolicy"]["LifecyclePolicyText"],
        )
    if before.get("RepositoryPolicyText") != after.get("RepositoryPolicyText"):
        session.call(
            "ecr", "set_repository_policy", repositoryName=name, policyText=after["RepositoryPolicyText"]
        )
