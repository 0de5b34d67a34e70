"""Custom resources: our inline handlers run, the CDK's own are doubled by effect, as the handler's role."""

from __future__ import annotations

import json
import uuid
from typing import Any

from aws_double import handlers
from aws_double.deployment_of_files import deploy_files, remove_files
from aws_double.naming import physical_name
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session


@resource_type("AWS::CDK::Metadata", properties="Analytics", updatable="*")
class Metadata(ResourceType):
    """What the CDK tells AWS of an app; nothing stands behind it."""

    def create(self, resource: Resource, session: Session) -> None:
        resource.physical_id = physical_name(resource, limit=255)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        pass

    def delete(self, resource: Resource, session: Session) -> None:
        pass


class InlineHandled(ResourceType):
    """A custom resource whose handler stands in the template: it runs, as its function's role."""

    def check(self, resource: Resource) -> None:
        """Any property is the handler's to judge."""

    def replaces(self, before: Any, after: Any) -> bool:
        # A handler replaces by another physical id; another handler makes another resource.
        return bool(before.get("ServiceToken") != after.get("ServiceToken"))

    def create(self, resource: Resource, session: Session) -> None:
        answer = handlers.run(resource, session, "Create")
        resource.physical_id, resource.attributes = answer.physical_id, answer.data

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        answer = handlers.run(after, session, "Update", old_properties=before.properties)
        # Another physical id means another resource: CloudFormation then deletes the one from before.
        after.physical_id, after.attributes = answer.physical_id, answer.data

    def delete(self, resource: Resource, session: Session) -> None:
        handlers.run(resource, session, "Delete")


@resource_type("Custom::ClosedDefaultSecurityGroup", properties="")
class ClosedDefaultSecurityGroup(InlineHandled):
    """Ours."""


@resource_type("Custom::FinalBackup", properties="")
class FinalBackup(InlineHandled):
    """Ours."""


@resource_type("Custom::NodeLogGroup", properties="")
class NodeLogGroup(InlineHandled):
    """Ours."""


@resource_type("AWS::CloudFormation::CustomResource", properties="")
class CustomResource(InlineHandled):
    """One without a type of its own."""


_DEPLOYMENT = (
    "ServiceToken ServiceTimeout SourceBucketNames SourceObjectKeys SourceMarkers SourceMarkersConfig "
    "DestinationBucketName DestinationBucketKeyPrefix WaitForDistributionInvalidation RetainOnDelete Prune "
    "OutputObjectKeys DestinationBucketArn"
)


@resource_type(
    "Custom::CDKBucketDeployment",
    properties=_DEPLOYMENT,
    updatable=_DEPLOYMENT.replace("ServiceToken ", ""),
)
class BucketDeployment(ResourceType):
    """The CDK's BucketDeployment, doubled by effect: its handler does not run, its role does all work."""

    def create(self, resource: Resource, session: Session) -> None:
        deploy_files(handlers.role_session(resource, session), resource.properties)
        resource.physical_id = f"aws.cdk.s3deployment.{uuid.uuid4()}"
        resource.attributes = _deployment_attributes(resource.properties)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        role = handlers.role_session(after, session)
        places = ("DestinationBucketName", "DestinationBucketKeyPrefix")
        moved = any(before.properties.get(key) != after.properties.get(key) for key in places)
        if moved and not _retains(after.properties):
            remove_files(role, before.properties)
        deploy_files(role, after.properties)
        after.attributes = _deployment_attributes(after.properties)

    def delete(self, resource: Resource, session: Session) -> None:
        if not _retains(resource.properties):
            remove_files(handlers.role_session(resource, session), resource.properties, unless_owned=True)


def _retains(properties: dict[str, Any]) -> bool:
    return str(properties.get("RetainOnDelete", "true")).lower() == "true"


def _deployment_attributes(properties: dict[str, Any]) -> dict[str, Any]:
    with_keys = str(properties.get("OutputObjectKeys", "true")).lower() == "true"
    told = {"SourceObjectKeys": properties["SourceObjectKeys"] if with_keys else []}
    if "DestinationBucketArn" in properties:
        told["DestinationBucketArn"] = properties["DestinationBucketArn"]
    return told


@resource_type("Custom::AWSCDKCfnJson", properties="ServiceToken ServiceTimeout Value", updatable="Value")
class CfnJson(ResourceType):
    """The CDK's CfnJson, doubled by effect: its handler reads JSON and gives it back."""

    def create(self, resource: Resource, session: Session) -> None:
        handlers.function_of(resource, session)
        resource.physical_id = physical_name(resource, limit=255)
        resource.attributes = {"Value": json.loads(resource.properties["Value"])}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        after.attributes = {"Value": json.loads(after.properties["Value"])}

    def delete(self, resource: Resource, session: Session) -> None:
        pass


@resource_type("Custom::S3AutoDeleteObjects", properties="ServiceToken ServiceTimeout BucketName")
class AutoDeleteObjects(ResourceType):
    """The CDK's emptying of a bucket before its removal, doubled by effect, as the handler's role."""

    def create(self, resource: Resource, session: Session) -> None:
        handlers.function_of(resource, session)
        resource.physical_id = physical_name(resource, limit=255)

    def delete(self, resource: Resource, session: Session) -> None:
        s3 = handlers.role_session(resource, session).client("s3")
        bucket = resource.properties["BucketName"]
        tags = {tag["Key"]: tag["Value"] for tag in s3.get_bucket_tagging(Bucket=bucket)["TagSet"]}
        if tags.get("aws-cdk:auto-delete-objects") != "true":
            return
        for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
            for version in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
                s3.delete_object(Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"])
