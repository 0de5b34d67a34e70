"""Nobody outside calls the functions beside the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved

_FUNCTION: Final = "AWS::Lambda::Function"
_PERMISSION: Final = "AWS::Lambda::Permission"
_URL: Final = "AWS::Lambda::Url"
_OPEN: Final = "NONE"
_ACCOUNT: Final = "SourceAccount"
_NARROWING: Final = (_ACCOUNT, "SourceArn", "PrincipalOrgID", "EventSourceToken")
_ALLOWED: Final = "principals of the account, and services on its behalf"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the permissions and the URLs of functions in templates with a cluster."""
    if not clusters(template):
        return
    verdicts = [_judge(found, found.get("Principal")) for found in template.of_type(_PERMISSION)]
    verdicts += _urls(template)
    yield from verdicts
    if all(verdict.outcome == "pass" for verdict in verdicts):
        yield from (passed(function) for function in template.of_type(_FUNCTION))


def _urls(template: Template) -> Iterator[Verdict]:
    for url in template.of_type(_URL):
        kind = url.get("AuthType")
        if isinstance(kind, Unresolved):
            yield undetermined(url, "AuthType", found=f"is {kind}", allowed="AWS_IAM")
        elif kind == _OPEN:
            found = "anybody on the internet may call the function"
            yield failed(url, "AuthType", found=found, allowed="AWS_IAM")
        else:
            yield passed(url, "AuthType")


def _judge(permission: Resource, principal: Any) -> Verdict:
    if principal == "*" or _is_service(principal):
        return _narrowed(permission, principal)
    where = belonging(principal, permission)
    if where == "other":
        found = f"lets {principal} call it, of another account"
        return failed(permission, "Principal", found=found, allowed=_ALLOWED)
    if where == "unknown":
        found = f"lets {principal} call it, whose account may be another"
        return undetermined(permission, "Principal", found=found, allowed=_ALLOWED)
    return passed(permission, "Principal")


def _is_service(principal: Any) -> bool:
    return isinstance(principal, str) and "." in principal.rpartition("/")[2]


def _narrowed(permission: Resource, principal: str) -> Verdict:
    """Judge who may be behind a principal that anybody may be behind."""
    if not any(permission.get(member) is not None for member in _NARROWING):
        who = "everybody" if principal == "*" else f"{principal}, on whosever behalf it comes,"
        return failed(permission, "Principal", found=f"lets {who} call it", allowed=_ALLOWED)
    owner = permission.get(_ACCOUNT)
    if owner is not None and belonging(owner, permission) == "other":
        who = "everybody" if principal == "*" else principal
        found = f"lets {who} call it for account {owner}, which is another"
        return failed(permission, _ACCOUNT, found=found, allowed=_ALLOWED)
    return passed(permission, "Principal")


RULE = Rule(
    id="FunctionAccess",
    title="nobody outside calls the functions beside the cluster",
    severity="warning",
    why=(
        "A function that uploads the lifecycle scripts does what its event says: whoever calls it may have "
        "it copy code of theirs into the bucket from which nodes start. Others delete, back up or install."
    ),
    fix=(
        "name a principal of the account, for a service its SourceArn or SourceAccount too, and for a URL "
        "set AuthType to AWS_IAM"
    ),
    source="Lambda developer guide, resource-based policies and function URLs; Lambda API, AddPermission",
    check=check,
)
