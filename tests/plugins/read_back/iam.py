"""Reads roles, policies and identity providers back."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from read_back import Clients, reads
from read_back.parts import copied, in_order_of, tags

_OF_AWS = ":iam::aws:policy/"


@reads("AWS::IAM::Role")
def role(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a role, without the policies that are resources of their own."""
    iam = clients.client("iam")
    found = iam.get_role(RoleName=physical_id)["Role"]
    told = copied(found, "RoleName", "Path", "AssumeRolePolicyDocument", "Description", "MaxSessionDuration")
    told = {name: value for name, value in told.items() if value != ""}
    if "PermissionsBoundary" in found:
        told["PermissionsBoundary"] = found["PermissionsBoundary"]["PermissionsBoundaryArn"]
    asked = wanted.get("ManagedPolicyArns", [])
    pages = iam.get_paginator("list_attached_role_policies").paginate(RoleName=physical_id)
    attached = [policy["PolicyArn"] for page in pages for policy in page["AttachedPolicies"]]
    own = in_order_of(asked, [arn for arn in attached if arn in asked or _OF_AWS in arn])
    if own:
        told["ManagedPolicyArns"] = own
    inline = [_inline(iam, physical_id, policy["PolicyName"]) for policy in wanted.get("Policies", [])]
    if inline:
        told["Policies"] = inline
    return told | tags(((tag["Key"], tag["Value"]) for tag in found.get("Tags", [])), wanted)


def _inline(iam: Any, role_name: str, name: str) -> dict[str, Any]:
    found = iam.get_role_policy(RoleName=role_name, PolicyName=name)
    return copied(found, "PolicyName", "PolicyDocument")


@reads("AWS::IAM::Policy")
def policy(clients: Clients, _physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read an inline policy; it counts as told only if all its roles have the same."""
    iam = clients.client("iam")
    name = wanted["PolicyName"]
    documents, roles = [], []
    for role_name in wanted["Roles"]:
        try:
            documents.append(_inline(iam, role_name, name)["PolicyDocument"])
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchEntity":
                raise
        else:
            roles.append(role_name)
    if not roles:
        raise ValueError(f"no role of {wanted['Roles']} has an inline policy {name}")
    told: dict[str, Any] = {"PolicyName": name, "Roles": roles}
    if all(document == documents[0] for document in documents):
        told["PolicyDocument"] = documents[0]
    return told


@reads("AWS::IAM::ManagedPolicy")
def managed_policy(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a policy of its own, in its default version, with the roles it is attached to."""
    iam = clients.client("iam")
    found = iam.get_policy(PolicyArn=physical_id)["Policy"]
    version = iam.get_policy_version(PolicyArn=physical_id, VersionId=found["DefaultVersionId"])
    # As many as IAM gives at once: moto looks among the first page of the account's roles only.
    pages = iam.get_paginator("list_entities_for_policy").paginate(
        PolicyArn=physical_id, EntityFilter="Role", PaginationConfig={"PageSize": 1000}
    )
    attached = [entity["RoleName"] for page in pages for entity in page["PolicyRoles"]]
    told = {
        **copied(found, "Path", "Description"),
        "ManagedPolicyName": found["PolicyName"],
        "PolicyDocument": version["PolicyVersion"]["Document"],
    }
    if attached:
        told["Roles"] = in_order_of(wanted.get("Roles", []), attached)
    return told


@reads("AWS::IAM::OIDCProvider")
def oidc_provider(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read an issuer that the account trusts."""
    iam = clients.client("iam")
    found = iam.get_open_id_connect_provider(OpenIDConnectProviderArn=physical_id)
    told = {
        "Url": f"https://{found['Url'].removeprefix('https://')}",
        "ClientIdList": in_order_of(wanted.get("ClientIdList", []), found["ClientIDList"]),
    }
    if found.get("ThumbprintList"):
        told["ThumbprintList"] = found["ThumbprintList"]
    return told | tags(((tag["Key"], tag["Value"]) for tag in found.get("Tags", [])), wanted)
