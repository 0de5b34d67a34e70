"""Roles as they are in moto's IAM at this moment, for services that look at a role when they are given it."""

from __future__ import annotations

import json
from typing import Any

from moto.iam.models import iam_backends

from aws_double import ACCOUNT


def find_role(role_arn: str) -> Any:
    """Return moto's role, or None."""
    partition = role_arn.split(":")[1]
    for role in iam_backends[ACCOUNT][partition].get_roles():
        if role.arn == role_arn:
            return role
    return None


def has_permissions(role: Any) -> bool:
    """Tell whether a role has any policy, attached or inline."""
    return bool(role.policies or role.managed_policies)


def is_trusted_by(role: Any, service: str) -> bool:
    """Tell whether the trust policy of a role names a service.

    Conditions are not looked at.
    """
    document = role.assume_role_policy_document
    statements = (json.loads(document) if isinstance(document, str) else document)["Statement"]
    for statement in statements if isinstance(statements, list) else [statements]:
        principal = statement.get("Principal", {})
        named = principal.get("Service", []) if isinstance(principal, dict) else []
        if statement["Effect"] == "Allow" and service in ([named] if isinstance(named, str) else named):
            return True
    return False
