"""What the statements of a policy say to a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from aws_double.permissions.conditions import arn_like, as_list, conditions_hold, like, with_variables
from aws_double.permissions.principals import Principal
from aws_double.permissions.request import Request, UnknownElementError

ELEMENTS = frozenset(
    {
        "Sid",
        "Effect",
        "Principal",
        "NotPrincipal",
        "Action",
        "NotAction",
        "Resource",
        "NotResource",
        "Condition",
    }
)
"""What a statement may have."""


class Said(Enum):
    """What a statement that applies says."""

    DENY = "deny"
    ALLOW = "allow"
    DELEGATE = "delegate"
    """Allowed to the account: its identity policies decide."""


def statements(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the statements of a policy."""
    return as_list(document["Statement"])


def said_by_identity_policy(document: Mapping[str, Any], request: Request) -> set[Said]:
    """Return what a policy without principals says to a request."""
    return {
        Said.DENY if statement["Effect"] == "Deny" else Said.ALLOW
        for statement in statements(document)
        if _is_about(statement, request)
    }


def said_by_resource_policy(document: Mapping[str, Any], request: Request) -> set[Said]:
    """Return what the policy of a bucket or key says to a request."""
    return set(_said(document, request))


def _said(document: Mapping[str, Any], request: Request) -> Iterator[Said]:
    for statement in statements(document):
        if not _is_about(statement, request):
            continue
        if "NotPrincipal" in statement:
            if not _excepted(statement["NotPrincipal"], request.principal, statement["Effect"]):
                yield Said.DENY if statement["Effect"] == "Deny" else Said.ALLOW
            continue
        directly, by_account = named(statement["Principal"], request.principal)
        if statement["Effect"] == "Deny":
            if directly or by_account:
                yield Said.DENY
        elif directly:
            yield Said.ALLOW
        elif by_account:
            yield Said.DELEGATE


def _is_about(statement: Mapping[str, Any], request: Request) -> bool:
    """Tell whether action, resource and conditions of a statement fit; the principal is another matter."""
    unknown = set(statement) - ELEMENTS
    if unknown:
        raise UnknownElementError(f"elements of a statement: {', '.join(sorted(unknown))}")
    return (
        _action_fits(statement, request)
        and _resource_fits(statement, request)
        and conditions_hold(statement.get("Condition", {}), request)
    )


def _action_fits(statement: Mapping[str, Any], request: Request) -> bool:
    negated = "NotAction" in statement
    patterns = as_list(statement["NotAction" if negated else "Action"])
    fits = any(like(request.action.lower(), pattern.lower()) for pattern in patterns)
    return fits != negated


def _resource_fits(statement: Mapping[str, Any], request: Request) -> bool:
    negated = "NotResource" in statement
    patterns = as_list(statement["NotResource" if negated else "Resource"])
    filled = [with_variables(pattern, request, escape=True) for pattern in patterns]
    fits = any(arn_like(request.resource, pattern) for pattern in filled if pattern is not None)
    return fits != negated


def named(element: Any, principal: Principal) -> tuple[bool, bool]:
    """Return whether ``Principal`` names the one who asks, and whether it names the account."""
    if element == "*":
        return True, False
    unknown = set(element) - {"AWS", "Service", "Federated", "CanonicalUser"}
    if unknown or "CanonicalUser" in element:
        raise UnknownElementError(f"principal {dict(element)}")
    if principal.kind == "Service":
        return principal.service in as_list(element.get("Service", [])), False
    listed = set(as_list(element.get("AWS", [])))
    directly = bool(listed & {"*", principal.arn, principal.session_arn})
    if principal.kind == "Account":
        directly = directly or principal.account in listed
    return directly, bool(listed & account_names(principal))


def account_names(principal: Principal) -> set[str]:
    """Return how a policy may name the principal's account."""
    account = principal.account
    return set() if account is None else {account, f"arn:aws:iam::{account}:root"}


def _excepted(element: Any, principal: Principal, effect: str) -> bool:
    """Tell whether ``NotPrincipal`` excepts the one who asks.

    From a denial, only if it names the account, the user or role, and of a role also the session.
    """
    if element == "*":
        return True
    if principal.kind in ("Service", "Anonymous"):
        return named(element, principal)[0]
    listed = set(as_list(element.get("AWS", [])))
    if effect == "Allow":
        return bool(listed & {"*", principal.arn, principal.session_arn})
    own = {name for name in (principal.arn, principal.session_arn) if name is not None}
    return bool(listed & account_names(principal)) and own <= (listed | account_names(principal))
