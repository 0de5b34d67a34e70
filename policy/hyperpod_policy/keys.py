"""KMS keys that resources name, and whom their policies admit."""

from __future__ import annotations

from typing import Any, Final

from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference, Text, Unresolved

KEY: Final = "AWS::KMS::Key"
KEY_POLICY: Final = "KeyPolicy"

_ALIAS: Final = "AWS::KMS::Alias"


def key_named(template: Template, value: Any) -> Resource | None:
    """Return the key of the template that a value refers to; an alias leads to its key."""
    found = template.by_key(value.resource) if isinstance(value, Reference) else None
    if found is not None and found.type == _ALIAS:
        return template.resource(found.get("TargetKeyId"), KEY)
    return found


def admits_service(key: Resource, service: str) -> bool | None:
    """Tell whether the policy of a key allows something to a service.

    Args:
        key: The key.
        service: How the service's principal begins, such as ``logs.``: some have the region in their names.
    """
    unclear = False
    for statement in statements_of(key, KEY_POLICY):
        if not isinstance(statement, Statement):
            unclear = True
        elif statement.effect == "Allow":
            for kind, value in statement.principals:
                if value == "*" and kind in ("*", "AWS", "Service"):
                    return True
                start = value.parts[0] if isinstance(value, Text) else value
                if kind == "Service" and str(start).startswith(service):
                    return True
                unclear = unclear or (kind == "Service" and isinstance(start, Unresolved))
    return None if unclear else False
