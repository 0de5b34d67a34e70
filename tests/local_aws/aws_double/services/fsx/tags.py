"""Tags of file systems, backups and links."""

from __future__ import annotations

from typing import Any

from aws_double.service_api import ApiError, Request
from aws_double.services.fsx.api import API, Association, FileSystem, region_of


@API.operation("TagResource")
def tag_resource(request: Request) -> dict[str, Any]:
    keys = {tag["Key"] for tag in request.asked["Tags"]}
    tags = _tags(request)
    tags[:] = [tag for tag in tags if tag["Key"] not in keys] + request.asked["Tags"]
    return {}


@API.operation("UntagResource")
def untag_resource(request: Request) -> dict[str, Any]:
    tags = _tags(request)
    tags[:] = [tag for tag in tags if tag["Key"] not in request.asked["TagKeys"]]
    return {}


@API.operation("ListTagsForResource")
def list_tags_for_resource(request: Request) -> dict[str, Any]:
    return {"Tags": list(_tags(request))}


def _tags(request: Request) -> list[dict[str, str]]:
    state, arn = region_of(request), request.asked["ResourceARN"]
    for backup in state.backups.values():
        if backup.arn == arn:
            return backup.tags
    tagged: list[FileSystem | Association] = [*state.file_systems.values(), *state.associations.values()]
    for one in tagged:
        if one.arn == arn:
            found: list[dict[str, str]] = one.asked.setdefault("Tags", [])
            return found
    raise ApiError("ResourceNotFound", f"'{arn}' does not exist.", ResourceARN=arn)
