"""FSx file systems and their links to buckets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.property_changes import changed, differs_at, tag_changes
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session
from aws_double.waiting import unless_gone, wait_for, wait_until_gone
from hyperpod_model.catalog.updates import CREATE_ONLY, NESTED_LUSTRE_CREATE_ONLY

_NO_FILE_SYSTEM = ("FileSystemNotFound",)
_NO_ASSOCIATION = ("DataRepositoryAssociationNotFound",)
_BECAUSE = "the deployment type and EFA are chosen at creation"


@resource_type(
    "AWS::FSx::FileSystem",
    properties="BackupId FileSystemType FileSystemTypeVersion KmsKeyId LustreConfiguration SecurityGroupIds "
    "OpenZFSConfiguration StorageCapacity StorageType SubnetIds Tags",
    updatable="*",
)
class FileSystem(ResourceType):
    """A file system; its creation ends when it is available."""

    def replaces(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        nested = NESTED_LUSTRE_CREATE_ONLY.assuming(because=_BECAUSE)
        return differs_at(before, after, (*CREATE_ONLY[self.name], *nested))

    def create(self, resource: Resource, session: Session) -> None:
        asked = dict(resource.properties)
        operation = "create_file_system"
        if "BackupId" in asked:
            operation = "create_file_system_from_backup"
            del asked["FileSystemType"]
        found = session.call("fsx", operation, **asked)["FileSystem"]
        resource.physical_id = found["FileSystemId"]
        resource.attributes = {
            "Id": found["FileSystemId"],
            "DNSName": found["DNSName"],
            "ResourceARN": found["ResourceARN"],
        }
        if found["FileSystemType"] == "LUSTRE":
            resource.attributes["LustreMountName"] = found["LustreConfiguration"]["MountName"]
        if found["FileSystemType"] == "OPENZFS":
            resource.attributes["RootVolumeId"] = found["OpenZFSConfiguration"]["RootVolumeId"]
        self._wait(resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        old, new = before.properties, after.properties
        settings = changed(old, new)
        settings.pop("Tags", None)
        for name in ("LustreConfiguration", "OpenZFSConfiguration"):
            if name in settings:
                settings[name] = changed(old.get(name, {}), new[name])
        if settings:
            session.call("fsx", "update_file_system", FileSystemId=after.physical_id, **settings)
        _retag(before, after, session)
        self._wait(after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        id = resource.physical_id
        if unless_gone(
            lambda: session.call("fsx", "delete_file_system", FileSystemId=id), errors=_NO_FILE_SYSTEM
        ):
            wait_until_gone(lambda: self._lifecycle(session, id), errors=_NO_FILE_SYSTEM, what=id)

    def _wait(self, resource: Resource, session: Session) -> None:
        wait_for(
            lambda: self._lifecycle(session, resource.physical_id),
            done=("AVAILABLE",),
            doing=("CREATING", "UPDATING"),
            what=resource.physical_id,
        )

    def _lifecycle(self, session: Session, id: str) -> str:
        (found,) = session.call("fsx", "describe_file_systems", FileSystemIds=[id])["FileSystems"]
        return str(found["Lifecycle"])


@resource_type(
    "AWS::FSx::DataRepositoryAssociation",
    properties="FileSystemId FileSystemPath DataRepositoryPath BatchImportMetaDataOnCreate "
    "ImportedFileChunkSize S3 Tags",
    updatable="ImportedFileChunkSize S3 Tags",
)
class DataRepositoryAssociation(ResourceType):
    """A link between a folder of a file system and a bucket."""

    def create(self, resource: Resource, session: Session) -> None:
        found = session.call("fsx", "create_data_repository_association", **resource.properties)[
            "Association"
        ]
        resource.physical_id = found["AssociationId"]
        resource.attributes = {"AssociationId": found["AssociationId"], "ResourceARN": found["ResourceARN"]}
        wait_for(
            lambda: self._lifecycle(session, resource.physical_id),
            done=("AVAILABLE",),
            doing=("CREATING",),
            what=resource.physical_id,
        )

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        settings = changed(before.properties, after.properties)
        settings.pop("Tags", None)
        if settings:
            session.call(
                "fsx", "update_data_repository_association", AssociationId=after.physical_id, **settings
            )
        _retag(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        id = resource.physical_id
        unless_gone(
            lambda: session.call("fsx", "delete_data_repository_association", AssociationId=id),
            errors=_NO_ASSOCIATION,
        )

    def _lifecycle(self, session: Session, id: str) -> str:
        (found,) = session.call("fsx", "describe_data_repository_associations", AssociationIds=[id])[
            "Associations"
        ]
        return str(found["Lifecycle"])


def _retag(before: Resource, after: Resource, session: Session) -> None:
    tags, keys = tag_changes(before.properties, after.properties)
    arn = after.attributes["ResourceARN"]
    if tags:
        session.call("fsx", "tag_resource", ResourceARN=arn, Tags=tags)
    if keys:
        session.call("fsx", "untag_resource", ResourceARN=arn, TagKeys=keys)
