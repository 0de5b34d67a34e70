"""Add-ons of EKS clusters. Those whose pods need a node are degraded until there is one."""

from __future__ import annotations

from typing import Any

from aws_double.progress import Progress
from aws_double.role_view import find_role
from aws_double.service_api import ApiError, Request, page
from aws_double.services.eks.api import API, AddOn, Cluster, active, arn, cluster
from aws_double.services.eks.pod_identity import associate
from hyperpod_model.catalog.add_ons import ADD_ONS, AFTER_NODES

_NOT_DESCRIBED = ("clientRequestToken", "resolveConflicts", "podIdentityAssociations")
_VERSION = "v1.0.0-eksbuild.1"
"""Stand-in for the version that EKS takes by default."""


@API.operation("CreateAddon")
def create_addon(request: Request) -> dict[str, Any]:
    asked = dict(request.asked)
    found = active(request, asked["clusterName"])
    name = asked["addonName"]
    if name in found.add_ons:
        raise ApiError("ResourceInUseException", f"Addon {name} already exists.", addonName=name)
    known = ADD_ONS.get(name)
    for required in () if known is None else known.requires:
        if required not in found.add_ons:
            raise ApiError(
                "InvalidRequestException", f"Addon {name} needs {required} first (a check of this double)"
            )
    _check_roles(asked)
    made = AddOn(asked=asked)
    asked.setdefault("addonVersion", default_version(name))
    _associate(found, made)
    found.add_ons[name] = made
    return {"addon": describe(found, made)}


@API.operation("DescribeAddon")
def describe_addon(request: Request) -> dict[str, Any]:
    found = cluster(request.region, request.asked["clusterName"])
    return {"addon": describe(found, _add_on(found, request.asked["addonName"]))}


@API.operation("ListAddons")
def list_addons(request: Request) -> dict[str, Any]:
    names = [{"name": name} for name in cluster(request.region, request.asked["clusterName"]).add_ons]
    shown, more = page(names, request.asked, size=100, limit="maxResults", token="nextToken")
    return {"addons": [one["name"] for one in shown], **more}


@API.operation("UpdateAddon")
def update_addon(request: Request) -> dict[str, Any]:
    asked = {key: value for key, value in request.asked.items() if key != "clientRequestToken"}
    found = active(request, asked["clusterName"])
    add_on = _add_on(found, asked["addonName"])
    _check_roles(asked)
    add_on.asked.update(asked)
    add_on.progress = Progress("UPDATING", "ACTIVE")
    if "podIdentityAssociations" in asked:
        _dissociate(found, add_on)
        _associate(found, add_on)
    update = {"id": f"addon-{asked['addonName']}", "type": "AddonUpdate", "status": "Successful"}
    return {"update": {**update, "params": [], "errors": [], "createdAt": add_on.created}}


@API.operation("DeleteAddon")
def delete_addon(request: Request) -> dict[str, Any]:
    found = active(request, request.asked["clusterName"])
    add_on = _add_on(found, request.asked["addonName"])
    _dissociate(found, add_on)
    told = {**describe(found, add_on), "status": "DELETING"}
    del found.add_ons[request.asked["addonName"]]
    return {"addon": told}


def describe(found: Cluster, add_on: AddOn) -> dict[str, Any]:
    """Say of an add-on what ``DescribeAddon`` says."""
    name = add_on.asked["addonName"]
    waits = name in AFTER_NODES and found.node_count == 0
    issue = {
        "code": "InsufficientNumberOfReplicas",
        "message": "The add-on is unhealthy because it doesn't have the desired number of replicas.",
    }
    told = {key: value for key, value in add_on.asked.items() if key not in _NOT_DESCRIBED}
    if add_on.associations:
        told["podIdentityAssociations"] = [
            found.associations[association]["associationArn"] for association in add_on.associations
        ]
    return {
        **told,
        "status": "DEGRADED" if waits and add_on.progress.is_done else add_on.progress.state,
        "health": {"issues": [issue] if waits else []},
        "addonArn": arn(found.region, f"addon/{found.name}/{name}"),
        "createdAt": add_on.created,
        "modifiedAt": add_on.created,
        "tags": dict(add_on.asked.get("tags", {})),
    }


def _add_on(found: Cluster, name: str) -> AddOn:
    if name not in found.add_ons:
        raise ApiError("ResourceNotFoundException", f"No addon: {name} found in cluster: {found.name}")
    return found.add_ons[name]


def default_version(name: str) -> str:
    """The version of an add-on that is installed where none is named."""
    known = ADD_ONS.get(name)
    return _VERSION if known is None or known.minimum is None else f"v{known.minimum}-eksbuild.1"


def _check_roles(asked: dict[str, Any]) -> None:
    roles = [one["roleArn"] for one in asked.get("podIdentityAssociations", [])]
    if "serviceAccountRoleArn" in asked:
        roles.append(asked["serviceAccountRoleArn"])
    for role_arn in roles:
        if find_role(role_arn) is None:
            raise ApiError("InvalidParameterException", f"The role {role_arn} does not exist")


def _associate(found: Cluster, add_on: AddOn) -> None:
    namespace = (
        ADD_ONS[add_on.asked["addonName"]].namespace
        if add_on.asked["addonName"] in ADD_ONS
        else "kube-system"
    )
    for wanted in add_on.asked.get("podIdentityAssociations", []):
        owner = arn(found.region, f"addon/{found.name}/{add_on.asked['addonName']}")
        made = associate(found, {**wanted, "namespace": namespace}, owner=owner)
        add_on.associations.append(made["associationId"])


def _dissociate(found: Cluster, add_on: AddOn) -> None:
    for association in add_on.associations:
        found.associations.pop(association, None)
    add_on.associations.clear()
