"""Links between folders of a Lustre file system and buckets."""

from __future__ import annotations

from typing import Any

from moto.s3.models import s3_backends
from moto.utilities.utils import get_partition

from aws_double import ACCOUNT
from aws_double.service_api import ApiError, Request, page
from aws_double.services.fsx.api import API, Association, FileSystem, FileSystems, new_id, region_of, tagged
from hyperpod_model.catalog.lustre import MAX_DATA_REPOSITORY_ASSOCIATIONS, TYPES_WITHOUT_DATA_REPOSITORIES


@API.operation("CreateDataRepositoryAssociation")
def create_data_repository_association(request: Request) -> dict[str, Any]:
    state, asked = region_of(request), dict(request.asked)
    asked.pop("ClientRequestToken", None)
    found = state.available(asked["FileSystemId"])
    _check(state, found, asked, request.region)
    made = Association(id=new_id("dra"), region=request.region, asked=asked)
    state.associations[made.id] = made
    return {"Association": describe(made)}


@API.operation("DescribeDataRepositoryAssociations")
def describe_data_repository_associations(request: Request) -> dict[str, Any]:
    state, asked = region_of(request), request.asked
    if "AssociationIds" in asked:
        found = [_association(state, one) for one in asked["AssociationIds"]]
    else:
        found = list(state.associations.values())
    for one in asked.get("Filters", []):
        if one["Name"] != "file-system-id":
            raise ApiError(
                "BadRequest", f"The filter {one['Name']} is not in this double, which has file-system-id."
            )
        found = [link for link in found if link.asked["FileSystemId"] in one["Values"]]
    shown, more = page(
        [describe(link) for link in found], asked, size=25, limit="MaxResults", token="NextToken"
    )
    return {"Associations": shown, **more}


@API.operation("UpdateDataRepositoryAssociation")
def update_data_repository_association(request: Request) -> dict[str, Any]:
    found = _association(region_of(request), request.asked["AssociationId"])
    for key in ("ImportedFileChunkSize", "S3"):
        if key in request.asked:
            found.asked[key] = request.asked[key]
    return {"Association": describe(found)}


@API.operation("DeleteDataRepositoryAssociation")
def delete_data_repository_association(request: Request) -> dict[str, Any]:
    state = region_of(request)
    found = _association(state, request.asked["AssociationId"])
    del state.associations[found.id]
    return {
        "AssociationId": found.id,
        "Lifecycle": "DELETING",
        "DeleteDataInFileSystem": request.asked.get("DeleteDataInFileSystem", False),
    }


def describe(found: Association) -> dict[str, Any]:
    """Say of a link what ``DescribeDataRepositoryAssociations`` says."""
    return {
        **{key: value for key, value in found.asked.items() if key != "Tags"},
        "AssociationId": found.id,
        "ResourceARN": found.arn,
        "Lifecycle": found.progress.state,
        "CreationTime": found.created,
        **tagged(found.asked.get("Tags", [])),
    }


def _association(state: FileSystems, association_id: str) -> Association:
    if association_id not in state.associations:
        raise ApiError("DataRepositoryAssociationNotFound", f"Association '{association_id}' does not exist.")
    return state.associations[association_id]


def _check(state: FileSystems, found: FileSystem, asked: dict[str, Any], region: str) -> None:
    if found.type != "LUSTRE" or found.deployment_type in TYPES_WITHOUT_DATA_REPOSITORIES:
        raise ApiError("UnsupportedOperation", f"{found.type} {found.deployment_type} takes no links.")
    others = state.linked(found.id)
    if len(others) >= MAX_DATA_REPOSITORY_ASSOCIATIONS:
        raise ApiError("ServiceLimitExceeded", f"'{found.id}' has {MAX_DATA_REPOSITORY_ASSOCIATIONS} links.")
    for other in others:
        for what in ("FileSystemPath", "DataRepositoryPath"):
            if _overlap(asked.get(what, ""), other.asked.get(what, "")):
                raise ApiError(
                    "BadRequest",
                    f"{what} {asked.get(what)} overlaps {other.asked.get(what)} of '{other.id}'.",
                )
    bucket = asked["DataRepositoryPath"].removeprefix("s3://").partition("/")[0]
    if bucket not in s3_backends[ACCOUNT][get_partition(region)].buckets:
        raise ApiError("BadRequest", f"DataRepositoryPath: the bucket '{bucket}' does not exist.")


def _overlap(one: str, other: str) -> bool:
    first, second = (f"{path.rstrip('/')}/" for path in (one, other))
    return first.startswith(second) or second.startswith(first)
