"""Roles, their policies and identity providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.naming import physical_name
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_ROLE_NAME = 64
_LONGEST_POLICY_NAME = 128
_ROLE_CHANGES = (
    "AssumeRolePolicyDocument Description ManagedPolicyArns MaxSessionDuration PermissionsBoundary "
    "Policies Tags"
)


@resource_type("AWS::IAM::Role", properties=f"RoleName Path {_ROLE_CHANGES}", updatable=_ROLE_CHANGES)
class Role(ResourceType):
    """A role with its inline and attached policies."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        name = wanted.get("RoleName", physical_name(resource, limit=_LONGEST_ROLE_NAME))
        passed = ("Description", "MaxSessionDuration", "Path", "PermissionsBoundary", "Tags")
        role = session.call(
            "iam",
            "create_role",
            RoleName=name,
            AssumeRolePolicyDocument=wanted["AssumeRolePolicyDocument"],
            **{key: wanted[key] for key in passed if key in wanted},
        )["Role"]
        resource.physical_id = name
        resource.attributes = {"Arn": role["Arn"], "RoleId": role["RoleId"]}
        _change_policies(session, name, {}, wanted)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        name, old, new = after.physical_id, before.properties, after.properties
        changed = {key for key in {*old, *new} if old.get(key) != new.get(key)}
        if "AssumeRolePolicyDocument" in changed:
            session.call(
                "iam",
                "update_assume_role_policy",
                RoleName=name,
                PolicyDocument=new["AssumeRolePolicyDocument"],
            )
        if changed & {"Description", "MaxSessionDuration"}:
            session.call(
                "iam",
                "update_role",
                RoleName=name,
                Description=new.get("Description", ""),
                MaxSessionDuration=new.get("MaxSessionDuration", 3600),
            )
        if "PermissionsBoundary" in changed:
            _change_boundary(session, name, new.get("PermissionsBoundary"))
        if "Tags" in changed:
            _change_tags(session, name, old.get("Tags", []), new.get("Tags", []))
        _change_policies(session, name, old, new)

    def delete(self, resource: Resource, session: Session) -> None:
        _change_policies(session, resource.physical_id, resource.properties, {})
        session.call("iam", "delete_role", RoleName=resource.physical_id)


def _change_policies(
    session: Session, role: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    attached, wanted = before.get("ManagedPolicyArns", []), after.get("ManagedPolicyArns", [])
    for arn in wanted:
        if arn not in attached:
            session.call("iam", "attach_role_policy", RoleName=role, PolicyArn=arn)
    for arn in attached:
        if arn not in wanted:
            session.call("iam", "detach_role_policy", RoleName=role, PolicyArn=arn)
    old = {policy["PolicyName"]: policy["PolicyDocument"] for policy in before.get("Policies", [])}
    new = {policy["PolicyName"]: policy["PolicyDocument"] for policy in after.get("Policies", [])}
    for name, document in new.items():
        if old.get(name) != document:
            session.call("iam", "put_role_policy", RoleName=role, PolicyName=name, PolicyDocument=document)
    for name in old:
        if name not in new:
            session.call("iam", "delete_role_policy", RoleName=role, PolicyName=name)


def _change_boundary(session: Session, role: str, arn: str | None) -> None:
    if arn is None:
        session.call("iam", "delete_role_permissions_boundary", RoleName=role)
    else:
        session.call("iam", "put_role_permissions_boundary", RoleName=role, PermissionsBoundary=arn)


def _change_tags(
    session: Session, role: str, before: list[dict[str, str]], after: list[dict[str, str]]
) -> None:
    gone = sorted({tag["Key"] for tag in before} - {tag["Key"] for tag in after})
    if gone:
        session.call("iam", "untag_role", RoleName=role, TagKeys=gone)
    if after:
        session.call("iam", "tag_role", RoleName=role, Tags=after)


@resource_type(
    "AWS::IAM::Policy", properties="PolicyName PolicyDocument Roles", updatable="PolicyDocument Roles"
)
class Policy(ResourceType):
    """An inline policy of some roles."""

    def create(self, resource: Resource, session: Session) -> None:
        if not resource.properties.get("Roles"):
            raise ResourceFailure("at least one of [Groups,Roles,Users] must be non-empty")
        resource.physical_id = physical_name(resource, limit=_LONGEST_POLICY_NAME)
        for role in resource.properties["Roles"]:
            _put_inline(session, role, resource)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        for role in after.properties["Roles"]:
            _put_inline(session, role, after)
        for role in before.properties["Roles"]:
            if role not in after.properties["Roles"]:
                _delete_inline(session, role, before)

    def delete(self, resource: Resource, session: Session) -> None:
        for role in resource.properties["Roles"]:
            _delete_inline(session, role, resource)


def _put_inline(session: Session, role: str, resource: Resource) -> None:
    session.call(
        "iam",
        "put_role_policy",
        RoleName=role,
        PolicyName=resource.properties["PolicyName"],
        PolicyDocument=resource.properties["PolicyDocument"],
    )


def _delete_inline(session: Session, role: str, resource: Resource) -> None:
    session.call("iam", "delete_role_policy", RoleName=role, PolicyName=resource.properties["PolicyName"])


@resource_type(
    "AWS::IAM::ManagedPolicy",
    properties="ManagedPolicyName PolicyDocument Description Roles Path",
    updatable="PolicyDocument Roles",
)
class ManagedPolicy(ResourceType):
    """A policy of its own, attached to some roles."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        passed = {key: wanted[key] for key in ("Description", "Path") if key in wanted}
        name = wanted.get("ManagedPolicyName", physical_name(resource, limit=_LONGEST_POLICY_NAME))
        policy = session.call(
            "iam", "create_policy", PolicyName=name, PolicyDocument=wanted["PolicyDocument"], **passed
        )["Policy"]
        resource.physical_id = policy["Arn"]
        resource.attributes = {"PolicyArn": policy["Arn"], "PolicyId": policy["PolicyId"]}
        _change_attachments(session, policy["Arn"], [], wanted.get("Roles", []))

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        arn = after.physical_id
        if before.properties["PolicyDocument"] != after.properties["PolicyDocument"]:
            _make_default_version(session, arn, after.properties["PolicyDocument"])
        _change_attachments(
            session, arn, before.properties.get("Roles", []), after.properties.get("Roles", [])
        )

    def delete(self, resource: Resource, session: Session) -> None:
        arn = resource.physical_id
        _change_attachments(session, arn, resource.properties.get("Roles", []), [])
        _delete_old_versions(session, arn)
        session.call("iam", "delete_policy", PolicyArn=arn)


def _make_default_version(session: Session, arn: str, document: Mapping[str, Any]) -> None:
    # IAM keeps five versions at most, and CloudFormation has no use for the old ones.
    _delete_old_versions(session, arn)
    session.call("iam", "create_policy_version", PolicyArn=arn, PolicyDocument=document, SetAsDefault=True)


def _delete_old_versions(session: Session, arn: str) -> None:
    for version in session.call("iam", "list_policy_versions", PolicyArn=arn)["Versions"]:
        if not version["IsDefaultVersion"]:
            session.call("iam", "delete_policy_version", PolicyArn=arn, VersionId=version["VersionId"])


def _change_attachments(session: Session, arn: str, before: list[str], after: list[str]) -> None:
    for role in after:
        if role not in before:
            session.call("iam", "attach_role_policy", RoleName=role, PolicyArn=arn)
    for role in before:
        if role not in after:
            session.call("iam", "detach_role_policy", RoleName=role, PolicyArn=arn)


@resource_type(
    "AWS::IAM::OIDCProvider",
    properties="Url ClientIdList ThumbprintList Tags",
    updatable="ClientIdList ThumbprintList",
)
class OidcProvider(ResourceType):
    """An issuer of tokens that the account trusts."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        if not str(wanted.get("Url", "")).startswith("https://"):
            raise ResourceFailure(f"Url must begin with https://, got {wanted.get('Url')!r}")
        passed = {key: wanted[key] for key in ("ThumbprintList", "Tags") if key in wanted}
        created = session.call(
            "iam",
            "create_open_id_connect_provider",
            Url=wanted["Url"],
            ClientIDList=wanted.get("ClientIdList", []),
            **passed,
        )
        resource.physical_id = created["OpenIDConnectProviderArn"]
        resource.attributes = {"Arn": resource.physical_id}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        if before.properties.get("ClientIdList", []) != after.properties.get("ClientIdList", []):
            raise ResourceFailure("ClientIdList has no update in this double")
        thumbprints = after.properties.get("ThumbprintList", [])
        if thumbprints != before.properties.get("ThumbprintList", []):
            session.call(
                "iam",
                "update_open_id_connect_provider_thumbprint",
                OpenIDConnectProviderArn=after.physical_id,
                ThumbprintList=thumbprints,
            )

    def delete(self, resource: Resource, session: Session) -> None:
        session.call(
            "iam",
            "delete_open_id_connect_provider",
            OpenIDConnectProviderArn=resource.physical_id,
        )
