"""IAM and STS of the double: moto's, made to refuse what they refuse."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from moto.core.exceptions import ServiceException
from moto.iam.models import IAMBackend
from moto.sts.models import STSBackend

from aws_double import usage
from aws_double.patching import before
from aws_double.permissions.principals import missing_principals, role_of_arn

_LARGEST_MANAGED = 6144
_LARGEST_INLINE_OF_ROLE = 10240
_MOST_ATTACHED = 10


class Refusal(ServiceException):
    """Answer of IAM or STS; moto looks up by an error's module which service it is of."""


def install() -> None:
    """Patch moto. AWS-managed policies come with their real documents, from moto's copy."""
    os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
    before(IAMBackend, "create_role", _check_new_role)
    before(IAMBackend, "update_assume_role_policy", _check_trust)
    before(IAMBackend, "put_role_permissions_boundary", _check_boundary)
    before(IAMBackend, "delete_role", _check_unused_role)
    before(IAMBackend, "attach_role_policy", _check_attachment)
    before(IAMBackend, "put_role_policy", _check_inline)
    before(IAMBackend, "create_policy", _check_managed)
    before(IAMBackend, "create_policy_version", _check_managed)
    before(IAMBackend, "delete_policy", _check_detached)
    before(STSBackend, "assume_role", _check_assumable)


def _check_new_role(backend: Any, asked: Mapping[str, Any]) -> None:
    _check_principals(asked["assume_role_policy_document"])
    _check_boundary(backend, asked)


def _check_trust(_backend: Any, asked: Mapping[str, Any]) -> None:
    _check_principals(asked["policy_document"])


def _check_principals(document: str) -> None:
    missing = missing_principals(json.loads(document))
    if missing:
        listed = ", ".join(f'"AWS":"{arn}"' for arn in missing)
        raise Refusal("MalformedPolicyDocument", f"Invalid principal in policy: {listed}")


def _check_boundary(backend: Any, asked: Mapping[str, Any]) -> None:
    arn = asked["permissions_boundary"]
    if arn and arn not in backend.managed_policies:
        raise Refusal("NoSuchEntity", f"Scope ARN: {arn} does not exist or is not attachable.")


def _check_unused_role(backend: Any, asked: Mapping[str, Any]) -> None:
    role = backend.get_role(asked["role_name"])
    holders = usage.holders(role.arn)
    if holders:
        # IAM itself would delete it, and leave the service with a resource that it cannot take down.
        raise Refusal(
            "DeleteConflict", f"{role.arn} is still used, says this double, by {', '.join(holders)}"
        )


def _check_attachment(backend: Any, asked: Mapping[str, Any]) -> None:
    role = backend.get_role(asked["role_name"])
    if asked["policy_arn"] not in role.managed_policies and len(role.managed_policies) >= _MOST_ATTACHED:
        raise Refusal("LimitExceeded", f"Cannot exceed quota for PoliciesPerRole: {_MOST_ATTACHED}")


def _check_inline(backend: Any, asked: Mapping[str, Any]) -> None:
    role = backend.get_role(asked["role_name"])
    documents = {**role.policies, asked["policy_name"]: asked["policy_json"]}
    if sum(_size(document) for document in documents.values()) > _LARGEST_INLINE_OF_ROLE:
        raise Refusal(
            "LimitExceeded",
            f"Maximum policy size of {_LARGEST_INLINE_OF_ROLE} bytes exceeded for role {role.name}",
        )


def _check_managed(_backend: Any, asked: Mapping[str, Any]) -> None:
    if _size(asked["policy_document"]) > _LARGEST_MANAGED:
        raise Refusal("LimitExceeded", f"Cannot exceed quota for PolicySize: {_LARGEST_MANAGED}")


def _size(document: str) -> int:
    """Return the characters that IAM counts: all but white space."""
    return len("".join(document.split()))


def _check_detached(backend: Any, asked: Mapping[str, Any]) -> None:
    if backend.get_policy(asked["policy_arn"]).attachment_count:
        raise Refusal("DeleteConflict", "Cannot delete a policy attached to entities.")


def _check_assumable(_backend: Any, asked: Mapping[str, Any]) -> None:
    if role_of_arn(asked["role_arn"]) is None:
        raise Refusal(
            "AccessDenied",
            f"not authorized to perform: sts:AssumeRole on resource: {asked['role_arn']}; there is none",
        )
