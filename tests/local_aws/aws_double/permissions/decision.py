"""Whether a request goes through, by all policies that have a say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aws_double import ACCOUNT
from aws_double.permissions.principals import boundary, identity_policies
from aws_double.permissions.request import Request
from aws_double.permissions.statements import Said, said_by_identity_policy, said_by_resource_policy

_POLICY_OF_ROOT: Final = frozenset({"s3:GetBucketPolicy", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy"})
"""What no bucket policy takes from the root of the bucket's account."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on a request.

    Attributes:
        allowed: Whether it goes through.
        reason: In the words of the service's answer, why not.
    """

    allowed: bool
    reason: str = ""


_YES = Decision(allowed=True)


@dataclass(frozen=True, slots=True)
class _Identity:
    """What the policies of the one who asks say.

    Attributes:
        denied_by: Kind of policy that denies, if any.
        allowed: Whether an identity policy allows, within boundary and session policy.
        limited: Whether boundary or session policy keep it from what others grant, too.
    """

    denied_by: str | None
    allowed: bool
    limited: bool


def decide_by_identity(request: Request) -> Decision:
    """Judge a request on a resource without a policy of its own."""
    identity = _identity(request)
    if identity.denied_by:
        return _denied(request, identity.denied_by)
    return _YES if identity.allowed else _not_allowed(request)


def decide_on_bucket(
    request: Request, policy: Mapping[str, Any] | None, *, account: str, restricted: bool
) -> Decision:
    """Judge a request on a bucket or what is in it.

    Args:
        request: The request.
        policy: Policy of the bucket.
        account: Account that owns the bucket.
        restricted: Whether the public access block keeps strangers out of it, whatever its policy allows.
    """
    principal = request.principal
    said = said_by_resource_policy(policy, request) if policy is not None else set()
    if principal.kind == "Account" and principal.account == account and request.action in _POLICY_OF_ROOT:
        said.discard(Said.DENY)
    identity = _identity(request)
    denied_by = identity.denied_by or ("a resource-based policy" if Said.DENY in said else None)
    if denied_by:
        return _denied(request, denied_by)
    if principal.account != account and restricted and principal.kind != "Service":
        return _denied(request, "the public access block of the bucket")
    granted = Said.ALLOW in said and not identity.limited
    if principal.account == account:
        return _YES if granted or identity.allowed else _not_allowed(request)
    if principal.account is None:
        return _YES if granted else _not_allowed(request)
    by_owner = Said.ALLOW in said or Said.DELEGATE in said
    return _YES if by_owner and identity.allowed else _not_allowed(request)


def decide_on_key(request: Request, policy: Mapping[str, Any]) -> Decision:
    """Judge a request on a key: its policy allows, or hands over to identity policies by the account."""
    said = said_by_resource_policy(policy, request)
    identity = _identity(request)
    denied_by = identity.denied_by or ("a resource-based policy" if Said.DENY in said else None)
    if denied_by:
        return _denied(request, denied_by)
    if Said.ALLOW in said and not identity.limited:
        return _YES
    if Said.DELEGATE in said and identity.allowed and request.principal.account == ACCOUNT:
        return _YES
    return _not_allowed(request)


def _identity(request: Request) -> _Identity:
    principal = request.principal
    if principal.kind == "Account":
        return _Identity(denied_by=None, allowed=True, limited=False)
    said = {verdict for policy in identity_policies(principal) for verdict in _said(policy, request)}
    limits = {"a permissions boundary": boundary(principal), "a session policy": principal.session_policy}
    limited = False
    denied_by = "an identity-based policy" if Said.DENY in said else None
    for name, policy in limits.items():
        if policy is None:
            continue
        verdicts = _said(policy, request)
        if Said.DENY in verdicts and denied_by is None:
            denied_by = name
        limited = limited or Said.ALLOW not in verdicts
    return _Identity(denied_by=denied_by, allowed=Said.ALLOW in said and not limited, limited=limited)


def _said(policy: Mapping[str, Any], request: Request) -> set[Said]:
    return said_by_identity_policy(policy, request)


def _denied(request: Request, by: str) -> Decision:
    return Decision(allowed=False, reason=f"{_is_not_authorized(request)} with an explicit deny in {by}")


def _not_allowed(request: Request) -> Decision:
    return Decision(
        allowed=False,
        reason=f"{_is_not_authorized(request)} because no policy allows the {request.action} action",
    )


def _is_not_authorized(request: Request) -> str:
    principal = request.principal
    who = principal.session_arn or principal.arn or principal.service or "anonymous"
    return f'User: {who} is not authorized to perform: {request.action} on resource: "{request.resource}"'
