"""Tags of clusters, add-ons, access entries and pod identity associations."""

from __future__ import annotations

from typing import Any

from aws_double.service_api import ApiError, Request
from aws_double.services.eks.access import describe as describe_access
from aws_double.services.eks.add_ons import describe as describe_add_on
from aws_double.services.eks.api import API, clusters_of


@API.operation("TagResource")
def tag_resource(request: Request) -> dict[str, Any]:
    _tags(request).update(request.asked["tags"])
    return {}


@API.operation("UntagResource")
def untag_resource(request: Request) -> dict[str, Any]:
    tags = _tags(request)
    for key in request.asked["tagKeys"]:
        tags.pop(key, None)
    return {}


@API.operation("ListTagsForResource")
def list_tags_for_resource(request: Request) -> dict[str, Any]:
    return {"tags": dict(_tags(request))}


def _tags(request: Request) -> dict[str, str]:
    arn = request.asked["resourceArn"]
    for found in clusters_of(request.region).values():
        if found.arn == arn:
            return found.tags
        tagged: dict[str, dict[str, Any]] = {
            one["associationArn"]: one for one in found.associations.values()
        }
        tagged |= {describe_add_on(found, one)["addonArn"]: one.asked for one in found.add_ons.values()}
        tagged |= {describe_access(found, one)["accessEntryArn"]: one.asked for one in found.access.values()}
        if arn in tagged:
            tags: dict[str, str] = tagged[arn].setdefault("tags", {})
            return tags
    raise ApiError("NotFoundException", f"The resource {arn} does not exist")
