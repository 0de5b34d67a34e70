"""Pod identity associations: which role the pods of a service account get."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from aws_double.role_view import find_role
from aws_double.service_api import ApiError, Request, page
from aws_double.services.eks.api import API, Cluster, active, arn, cluster

_SUMMARY = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId", "ownerArn")


@API.operation("CreatePodIdentityAssociation")
def create_pod_identity_association(request: Request) -> dict[str, Any]:
    asked = {key: value for key, value in request.asked.items() if key != "clientRequestToken"}
    return {"association": associate(active(request, asked["clusterName"]), asked)}


@API.operation("DescribePodIdentityAssociation")
def describe_pod_identity_association(request: Request) -> dict[str, Any]:
    return {"association": _association(request)}


@API.operation("ListPodIdentityAssociations")
def list_pod_identity_associations(request: Request) -> dict[str, Any]:
    wanted = {key: request.asked[key] for key in ("namespace", "serviceAccount") if key in request.asked}
    found = [
        {key: association[key] for key in _SUMMARY if key in association}
        for association in cluster(request.region, request.asked["clusterName"]).associations.values()
        if all(association[key] == value for key, value in wanted.items())
    ]
    shown, more = page(found, request.asked, size=100, limit="maxResults", token="nextToken")
    return {"associations": shown, **more}


@API.operation("UpdatePodIdentityAssociation")
def update_pod_identity_association(request: Request) -> dict[str, Any]:
    association = _association(request)
    changes: dict[str, Any] = {
        key: request.asked[key]
        for key in ("roleArn", "disableSessionTags", "targetRoleArn", "policy")
        if key in request.asked
    }
    _check({**association, **changes})
    association.update(changes, modifiedAt=datetime.now(UTC))
    return {"association": association}


@API.operation("DeletePodIdentityAssociation")
def delete_pod_identity_association(request: Request) -> dict[str, Any]:
    association = _association(request)
    del cluster(request.region, request.asked["clusterName"]).associations[association["associationId"]]
    return {"association": association}


def associate(found: Cluster, asked: Mapping[str, Any], *, owner: str | None = None) -> dict[str, Any]:
    """Give the pods of a service account a role.

    Args:
        found: The cluster.
        asked: Namespace, service account and role, and what else the request has.
        owner: ARN of the add-on that it comes with. None if it stands alone.

    Raises:
        ApiError: If the role does not exist, or the service account has one.
    """
    _check(asked)
    for other in found.associations.values():
        if all(other[key] == asked[key] for key in ("namespace", "serviceAccount")):
            raise ApiError(
                "ResourceInUseException",
                f"Association already exists: {other['associationId']}",
                clusterName=found.name,
            )
    id = f"a-{secrets.token_hex(9)[:17]}"
    now = datetime.now(UTC)
    made = {
        "disableSessionTags": False,
        "tags": {},
        **asked,
        "clusterName": found.name,
        "associationArn": arn(found.region, f"podidentityassociation/{found.name}/{id}"),
        "associationId": id,
        "createdAt": now,
        "modifiedAt": now,
        **({} if owner is None else {"ownerArn": owner}),
    }
    found.associations[id] = made
    return made


def _check(asked: Mapping[str, Any]) -> None:
    if find_role(asked["roleArn"]) is None:
        raise ApiError(
            "InvalidParameterException", f"Role provided in the request does not exist: {asked['roleArn']}"
        )
    if "policy" in asked and not asked.get("disableSessionTags", False):
        raise ApiError("InvalidParameterException", "disableSessionTags must be true if a policy is given")


def _association(request: Request) -> dict[str, Any]:
    found = cluster(request.region, request.asked["clusterName"])
    id = request.asked["associationId"]
    if id not in found.associations:
        raise ApiError(
            "ResourceNotFoundException", f"The specified pod identity association cannot be found: {id}"
        )
    return found.associations[id]
