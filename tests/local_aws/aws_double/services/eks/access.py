"""Access entries of EKS clusters: which IAM principals may use the Kubernetes API."""

from __future__ import annotations

import re
from typing import Any

from aws_double import ACCOUNT
from aws_double.role_view import find_role
from aws_double.service_api import ApiError, Request, page
from aws_double.services.eks.api import API, AccessEntry, Cluster, arn, with_api_access

_POLICY = re.compile(r"arn:aws[a-z-]*:eks::aws:cluster-access-policy/\w+")


@API.operation("CreateAccessEntry")
def create_access_entry(request: Request) -> dict[str, Any]:
    asked = {key: value for key, value in request.asked.items() if key != "clientRequestToken"}
    found = with_api_access(request, asked["clusterName"])
    principal = asked["principalArn"]
    if principal in found.access:
        raise ApiError(
            "ResourceInUseException", "The specified access entry resource is already in use on this cluster."
        )
    if ":role/" in principal and find_role(principal) is None:
        raise ApiError(
            "InvalidParameterException", f"The specified principalArn is invalid: {principal} does not exist."
        )
    made = AccessEntry(asked=asked)
    found.access[principal] = made
    return {"accessEntry": describe(found, made)}


@API.operation("DescribeAccessEntry")
def describe_access_entry(request: Request) -> dict[str, Any]:
    found = with_api_access(request, request.asked["clusterName"])
    return {"accessEntry": describe(found, _entry(found, request))}


@API.operation("ListAccessEntries")
def list_access_entries(request: Request) -> dict[str, Any]:
    found = with_api_access(request, request.asked["clusterName"])
    policy = request.asked.get("associatedPolicyArn")
    entries = [
        {"arn": principal}
        for principal, entry in found.access.items()
        if policy is None or policy in entry.policies
    ]
    shown, more = page(entries, request.asked, size=100, limit="maxResults", token="nextToken")
    return {"accessEntries": [one["arn"] for one in shown], **more}


@API.operation("UpdateAccessEntry")
def update_access_entry(request: Request) -> dict[str, Any]:
    found = with_api_access(request, request.asked["clusterName"])
    entry = _entry(found, request)
    for key in ("kubernetesGroups", "username"):
        if key in request.asked:
            entry.asked[key] = request.asked[key]
    return {"accessEntry": describe(found, entry)}


@API.operation("DeleteAccessEntry")
def delete_access_entry(request: Request) -> dict[str, Any]:
    found = with_api_access(request, request.asked["clusterName"])
    _entry(found, request)
    del found.access[request.asked["principalArn"]]
    return {}


@API.operation("AssociateAccessPolicy")
def associate_access_policy(request: Request) -> dict[str, Any]:
    found = with_api_access(request, request.asked["clusterName"])
    entry, policy = _entry(found, request), request.asked["policyArn"]
    if not _POLICY.fullmatch(policy):
        raise ApiError("InvalidParameterException", f"The policyArn parameter format is not valid: {policy}")
    entry.policies[policy] = request.asked["accessScope"]
    return {
        "clusterName": found.name,
        "principalArn": request.asked["principalArn"],
        "associatedAccessPolicy": _association(entry, policy),
    }


@API.operation("DisassociateAccessPolicy")
def disassociate_access_policy(request: Request) -> dict[str, Any]:
    entry = _entry(with_api_access(request, request.asked["clusterName"]), request)
    if entry.policies.pop(request.asked["policyArn"], None) is None:
        raise ApiError("ResourceNotFoundException", f"No association found for {request.asked['policyArn']}")
    return {}


@API.operation("ListAssociatedAccessPolicies")
def list_associated_access_policies(request: Request) -> dict[str, Any]:
    found = with_api_access(request, request.asked["clusterName"])
    entry = _entry(found, request)
    return {
        "clusterName": found.name,
        "principalArn": request.asked["principalArn"],
        "associatedAccessPolicies": [_association(entry, policy) for policy in entry.policies],
    }


def describe(found: Cluster, entry: AccessEntry) -> dict[str, Any]:
    """Say of an entry what ``DescribeAccessEntry`` says."""
    kind, name = entry.asked["principalArn"].split(":")[5].split("/", 1)
    username = entry.asked["principalArn"]
    if kind == "role":
        username = f"arn:aws:sts::{ACCOUNT}:assumed-role/{name.rpartition('/')[2]}/{{{{SessionName}}}}"
    return {
        "type": "STANDARD",
        "kubernetesGroups": [],
        "username": username,
        **entry.asked,
        "accessEntryArn": arn(found.region, f"access-entry/{found.name}/{kind}/{ACCOUNT}/{name}"),
        "createdAt": entry.created,
        "modifiedAt": entry.created,
        "tags": dict(entry.asked.get("tags", {})),
    }


def _entry(found: Cluster, request: Request) -> AccessEntry:
    principal = request.asked["principalArn"]
    if principal not in found.access:
        raise ApiError(
            "ResourceNotFoundException", f"The specified principalArn could not be found: {principal}"
        )
    return found.access[principal]


def _association(entry: AccessEntry, policy: str) -> dict[str, Any]:
    times = {"associatedAt": entry.created, "modifiedAt": entry.created}
    return {"policyArn": policy, "accessScope": {"namespaces": [], **entry.policies[policy]}, **times}
