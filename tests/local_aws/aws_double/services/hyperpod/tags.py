"""Tags of clusters. Those of everything else in SageMaker are moto's."""

from __future__ import annotations

from typing import Any

from aws_double.service_api import Elsewhere, Request
from aws_double.services.hyperpod.api import API, cluster


@API.operation("AddTags")
def add_tags(request: Request) -> dict[str, Any]:
    tags, new = _tags(request), request.asked["Tags"]
    keys = {tag["Key"] for tag in new}
    tags[:] = [tag for tag in tags if tag["Key"] not in keys] + new
    return {"Tags": list(tags)}


@API.operation("ListTags")
def list_tags(request: Request) -> dict[str, Any]:
    return {"Tags": list(_tags(request))}


@API.operation("DeleteTags")
def delete_tags(request: Request) -> dict[str, Any]:
    tags = _tags(request)
    tags[:] = [tag for tag in tags if tag["Key"] not in request.asked["TagKeys"]]
    return {}


def _tags(request: Request) -> list[dict[str, str]]:
    arn = request.asked["ResourceArn"]
    if ":cluster/" not in arn:
        raise Elsewhere
    return cluster(request.region, arn).tags
