"""Who asks: the principal behind an access key, its policies, and whether a principal in a policy exists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

from moto.iam.models import iam_backends
from moto.sts.models import sts_backends

from aws_double import ACCOUNT

ROOT_KEY = "root"
"""Access key of the account's root in this double."""

Kind = Literal["Account", "User", "AssumedRole", "Anonymous", "Service"]
_ENTITY = re.compile(r"arn:[\w-]+:(?:iam|sts)::(\d{12}):(role|user|assumed-role)/(.+)")


class UnknownKeyError(Exception):
    """An access key that nobody has."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks.

    Attributes:
        kind: As in ``aws:PrincipalType``; ``Service`` for an AWS service.
        account: Its account; none if anonymous or a service.
        arn: As in ``aws:PrincipalArn``: of a role's session, the role's.
        session_arn: Of a role's session, its own ARN.
        service: Name of the service.
        user_id: As in ``aws:userid``.
        tags: Tags of the user or role.
        session_policy: Policy that a session was narrowed by.
    """

    kind: Kind
    account: str | None = None
    arn: str | None = None
    session_arn: str | None = None
    service: str | None = None
    user_id: str | None = None
    tags: Mapping[str, str] | None = None
    session_policy: Mapping[str, Any] | None = None


ANONYMOUS = Principal(kind="Anonymous")


def root() -> Principal:
    """Return the account's root."""
    return Principal(kind="Account", account=ACCOUNT, arn=f"arn:aws:iam::{ACCOUNT}:root", user_id=ACCOUNT)


def service(name: str) -> Principal:
    """Return an AWS service, such as ``logging.s3.amazonaws.com``."""
    return Principal(kind="Service", service=name)


def principal_of_key(access_key: str) -> Principal:
    """Return who an access key belongs to.

    Raises:
        UnknownKeyError: If it belongs to nobody.
    """
    if access_key == ROOT_KEY:
        return root()
    for session in sts_backends[ACCOUNT]["aws"].assumed_roles:
        if session.access_key_id == access_key:
            return _session_of_role(session)
    user = iam_backends[ACCOUNT]["aws"].get_user_from_access_key_id(access_key)
    if user is not None:
        return _user(user)
    raise UnknownKeyError(access_key)


def principal_of_arn(arn: str) -> Principal:
    """Return the root, user, role or session that an ARN names; of a role, a session of it.

    Raises:
        LookupError: If there is none.
    """
    if arn == f"arn:aws:iam::{ACCOUNT}:root":
        return root()
    for user in iam_backends[ACCOUNT]["aws"].users.values():
        if user.arn == arn:
            return _user(user)
    role = role_of_arn(arn)
    if role is not None:
        return _role(role, session="session")
    for session in sts_backends[ACCOUNT]["aws"].assumed_roles:
        if session.arn == arn:
            return _session_of_role(session)
    raise LookupError(f"no root, user, role or session {arn} in this double")


def role_of_arn(arn: str) -> Any:
    """Return moto's role of an ARN, or none."""
    roles = iam_backends[ACCOUNT]["aws"].roles.values()
    return next((role for role in roles if role.arn == arn), None)


def _session_of_role(session: Any) -> Principal:
    role = role_of_arn(session.role_arn)
    if role is None:  # deleted since: the session has no permissions left
        return Principal(kind="AssumedRole", account=ACCOUNT, arn=session.role_arn, session_arn=session.arn)
    policy = json.loads(session.policy) if session.policy else None
    return _role(role, session=session.session_name, session_policy=policy)


def _role(role: Any, *, session: str, session_policy: Mapping[str, Any] | None = None) -> Principal:
    return Principal(
        kind="AssumedRole",
        account=ACCOUNT,
        arn=role.arn,
        session_arn=f"arn:aws:sts::{ACCOUNT}:assumed-role/{role.name}/{session}",
        user_id=f"{role.id}:{session}",
        tags=_tags(role),
        session_policy=session_policy,
    )


def _user(user: Any) -> Principal:
    return Principal(kind="User", account=ACCOUNT, arn=user.arn, user_id=user.id, tags={})


def _tags(role: Any) -> dict[str, str]:
    return (
        {key: tag["Value"] for key, tag in role.tags.items()}
        if isinstance(role.tags, dict)
        else {tag["Key"]: tag["Value"] for tag in role.tags}
    )


def identity_policies(principal: Principal) -> list[Mapping[str, Any]]:
    """Return the inline and attached policies of a user or role."""
    entity = _entity(principal)
    if entity is None:
        return []
    documents = [_decoded(document) for document in entity.policies.values()]
    attached = [_default_document(policy) for policy in entity.managed_policies.values()]
    if principal.kind == "User":
        for group in iam_backends[ACCOUNT]["aws"].get_groups_for_user(entity.name):
            documents += [_decoded(document) for document in group.policies.values()]
            attached += [_default_document(policy) for policy in group.managed_policies.values()]
    return [*documents, *attached]


def boundary(principal: Principal) -> Mapping[str, Any] | None:
    """Return the permissions boundary of a role, or none."""
    entity = _entity(principal)
    arn = getattr(entity, "permissions_boundary_arn", None)
    if not arn:
        return None
    return _default_document(iam_backends[ACCOUNT]["aws"].managed_policies[arn])


def _entity(principal: Principal) -> Any:
    if principal.kind == "AssumedRole":
        return role_of_arn(str(principal.arn))
    if principal.kind == "User":
        users = iam_backends[ACCOUNT]["aws"].users.values()
        return next((user for user in users if user.arn == principal.arn), None)
    return None


def _default_document(policy: Any) -> Mapping[str, Any]:
    version = next(version for version in policy.versions if version.is_default)
    return _decoded(version.document)


def _decoded(document: Any) -> Mapping[str, Any]:
    if isinstance(document, str):
        text = document if document.lstrip().startswith("{") else unquote(document)
        decoded: Mapping[str, Any] = json.loads(text)
        return decoded
    given: Mapping[str, Any] = document
    return given


def missing_principals(document: Mapping[str, Any]) -> list[str]:
    """Return the ARNs of users and roles of this account that a policy names and that do not exist.

    Services refuse to store such a policy.
    """
    return sorted({arn for arn in _named(document) if _is_missing(arn)})


def _named(document: Mapping[str, Any]) -> Iterator[str]:
    statements = document["Statement"]
    for statement in [statements] if isinstance(statements, Mapping) else statements:
        for element in ("Principal", "NotPrincipal"):
            principal = statement.get(element)
            if isinstance(principal, Mapping):
                named = principal.get("AWS", [])
                yield from [named] if isinstance(named, str) else named


def _is_missing(arn: str) -> bool:
    match = _ENTITY.fullmatch(arn)
    if match is None or match[1] != ACCOUNT:
        return False
    if match[2] == "assumed-role":
        arn = f"arn:aws:iam::{ACCOUNT}:role/{match[3].split('/')[0]}"
        return not any(
            role.name == match[3].split("/")[0] for role in iam_backends[ACCOUNT]["aws"].roles.values()
        )
    try:
        principal_of_arn(arn)
    except LookupError:
        return True
    return False
