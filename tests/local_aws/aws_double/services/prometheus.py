"""Managed Service for Prometheus of the double: moto's, with alert managers and policies beside it.

No figure is taken, no rule evaluated and no alert sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moto.amp import urls
from moto.amp.models import amp_backends

from aws_double import ACCOUNT
from aws_double.service_api import ApiError, Request, ServiceApi, state_of

API = ServiceApi("amp", invalid="ValidationException")
_PATH = "{0}/workspaces/(?P<workspace_id>[^/]+)"


@dataclass
class Workspace:
    """What moto does not keep of a workspace.

    Attributes:
        alert_manager: Its definition, as the API carries bytes; None if it has none.
        policy: Its resource policy; None if it has none.
        changed: When the alert manager was last defined.
    """

    alert_manager: str | None = None
    policy: str | None = None
    changed: datetime = field(default_factory=lambda: datetime.now(UTC))


def install() -> None:
    """Answer, beside moto, what it does not have; once is enough, twice does no harm."""
    urls.url_paths[f"{_PATH}/alertmanager/definition$"] = API.answer
    urls.url_paths[f"{_PATH}/policy$"] = API.answer


@API.operation("CreateAlertManagerDefinition")
def create_alert_manager(request: Request) -> dict[str, Any]:
    workspace = _workspace(request)
    if workspace.alert_manager is not None:
        raise _refusal("ConflictException", request, "alert manager definition", "exists already")
    return _define(workspace, request)


@API.operation("PutAlertManagerDefinition")
def put_alert_manager(request: Request) -> dict[str, Any]:
    workspace = _workspace(request)
    _existing(workspace.alert_manager, request, "alert manager definition")
    return _define(workspace, request)


@API.operation("DescribeAlertManagerDefinition")
def describe_alert_manager(request: Request) -> dict[str, Any]:
    workspace = _workspace(request)
    data = _existing(workspace.alert_manager, request, "alert manager definition")
    times = {"createdAt": workspace.changed, "modifiedAt": workspace.changed}
    return {"alertManagerDefinition": {"status": {"statusCode": "ACTIVE"}, "data": data, **times}}


@API.operation("DeleteAlertManagerDefinition")
def delete_alert_manager(request: Request) -> dict[str, Any]:
    workspace = _workspace(request)
    _existing(workspace.alert_manager, request, "alert manager definition")
    workspace.alert_manager = None
    return {}


@API.operation("PutResourcePolicy")
def put_policy(request: Request) -> dict[str, Any]:
    _workspace(request).policy = request.asked["policyDocument"]
    return {"policyStatus": "ACTIVE", "revisionId": str(uuid4())}


@API.operation("DescribeResourcePolicy")
def describe_policy(request: Request) -> dict[str, Any]:
    policy = _existing(_workspace(request).policy, request, "resource policy")
    return {"policyDocument": policy, "policyStatus": "ACTIVE", "revisionId": str(uuid4())}


@API.operation("DeleteResourcePolicy")
def delete_policy(request: Request) -> dict[str, Any]:
    workspace = _workspace(request)
    _existing(workspace.policy, request, "resource policy")
    workspace.policy = None
    return {}


def _define(workspace: Workspace, request: Request) -> dict[str, Any]:
    workspace.alert_manager, workspace.changed = request.asked["data"], datetime.now(UTC)
    return {"status": {"statusCode": "ACTIVE"}}


def _workspace(request: Request) -> Workspace:
    id = request.asked["workspaceId"]
    if id not in amp_backends[ACCOUNT][request.region].workspaces:
        raise _refusal("ResourceNotFoundException", request, "workspace", "not found")
    kept: dict[str, Workspace] = state_of(amp_backends, request.region, dict)
    return kept.setdefault(id, Workspace())


def _existing(value: str | None, request: Request, what: str) -> str:
    if value is None:
        raise _refusal("ResourceNotFoundException", request, what, "not found")
    return value


def _refusal(code: str, request: Request, what: str, how: str) -> ApiError:
    id = request.asked["workspaceId"]
    return ApiError(code, f"{what} of {id} {how}", resourceId=id, resourceType=what)
