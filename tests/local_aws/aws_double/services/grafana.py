"""A stand-in for Managed Grafana, which moto does not have: workspaces that nobody can sign in to.

Its answers are held against the API model. Whether the service takes settings together, and whether it can
take the role, is not known here.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from moto.amp.models import amp_backends

from aws_double import ACCOUNT
from aws_double.beside_moto import answers_itself
from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request, ServiceApi

API = ServiceApi("grafana", invalid="ValidationException")
_SHOWN = {
    "accountAccessType": "accountAccessType",
    "organizationRoleName": "organizationRoleName",
    "permissionType": "permissionType",
    "stackSetName": "stackSetName",
    "workspaceDescription": "description",
    "workspaceName": "name",
    "workspaceNotificationDestinations": "notificationDestinations",
    "workspaceOrganizationalUnits": "organizationalUnits",
    "workspaceRoleArn": "workspaceRoleArn",
    "networkAccessControl": "networkAccessControl",
    "tags": "tags",
}
"""Members of a description by those of a request."""


@dataclass
class Workspace:
    """A workspace.

    Attributes:
        id: Such as ``g-0123456789``.
        region: Its region.
        asked: The request that made it, with what updates changed since.
        progress: From ``CREATING`` to ``ACTIVE``.
        created: When.
    """

    id: str
    region: str
    asked: dict[str, Any]
    progress: Progress = field(default_factory=lambda: Progress("CREATING", "ACTIVE"))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def description(self) -> dict[str, Any]:
        return {
            **{shown: self.asked[name] for name, shown in _SHOWN.items() if name in self.asked},
            "id": self.id,
            "endpoint": f"{self.id}.grafana-workspace.{self.region}.amazonaws.com",
            "dataSources": self.asked.get("workspaceDataSources", []),
            "grafanaVersion": self.asked.get("grafanaVersion", "10.4"),
            "status": self.progress.state,
            "authentication": {"providers": self.asked["authenticationProviders"]},
            "created": self.created,
            "modified": self.created,
        }


def install() -> None:
    """Answer what is signed for Grafana; once is enough, twice does no harm."""
    answers_itself(API)


@API.operation("CreateWorkspace")
def create_workspace(request: Request) -> dict[str, Any]:
    made = Workspace(f"g-{secrets.token_hex(5)}", request.region, dict(request.asked))
    _workspaces(request.region)[made.id] = made
    return {"workspace": made.description}


@API.operation("DescribeWorkspace")
def describe_workspace(request: Request) -> dict[str, Any]:
    return {"workspace": _workspace(request).description}


@API.operation("ListWorkspaces")
def list_workspaces(request: Request) -> dict[str, Any]:
    summary = API.model.shape_for("WorkspaceSummary").members
    found = [one.description for one in _workspaces(request.region).values()]
    return {"workspaces": [{name: one[name] for name in summary if name in one} for one in found]}


@API.operation("UpdateWorkspace")
def update_workspace(request: Request) -> dict[str, Any]:
    found = _workspace(request)
    found.asked |= {name: value for name, value in request.asked.items() if name != "workspaceId"}
    return {"workspace": found.description}


@API.operation("UpdateWorkspaceAuthentication")
def update_authentication(request: Request) -> dict[str, Any]:
    found = _workspace(request)
    found.asked["authenticationProviders"] = request.asked["authenticationProviders"]
    return {"authentication": {"providers": request.asked["authenticationProviders"]}}


@API.operation("DeleteWorkspace")
def delete_workspace(request: Request) -> dict[str, Any]:
    found = _workspace(request)
    del _workspaces(request.region)[found.id]
    return {"workspace": {**found.description, "status": "DELETING"}}


@API.operation("TagResource")
def tag_resource(request: Request) -> dict[str, Any]:
    tags = _tags(request)
    tags |= request.asked["tags"]
    return {}


@API.operation("UntagResource")
def untag_resource(request: Request) -> dict[str, Any]:
    tags = _tags(request)
    for key in request.asked["tagKeys"]:
        tags.pop(key, None)
    return {}


def _tags(request: Request) -> dict[str, str]:
    id = request.asked["resourceArn"].rpartition("/")[2]
    found: dict[str, str] = _found(request.region, id).asked.setdefault("tags", {})
    return found


def _workspace(request: Request) -> Workspace:
    return _found(request.region, request.asked["workspaceId"])


def _found(region: str, id: str) -> Workspace:
    found: Mapping[str, Workspace] = _workspaces(region)
    if id not in found:
        message = f"workspace {id} not found"
        raise ApiError("ResourceNotFoundException", message, resourceId=id, resourceType="workspace")
    return found[id]


def _workspaces(region: str) -> dict[str, Workspace]:
    """Return the workspaces of a region, kept in moto's backend of Prometheus so that its reset counts."""
    kept: dict[str, Any] = amp_backends[ACCOUNT][region].__dict__
    found: dict[str, Workspace] = kept.setdefault("grafana_of_the_double", {})
    return found
