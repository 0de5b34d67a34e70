"""Whether the roles that the specification names exist, and trust whoever is to take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_lifecycle.operations.errors import OperationError, code_of
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_lifecycle.preflight.wanted import AUTO_SCALING, NODES
from hyperpod_model.catalog.iam import (
    CLUSTER_ROLE_SERVICE,
    EXECUTION_ROLE_SERVICE,
    SOURCE_CONDITIONS_ON_EXECUTION_ROLE,
)

ABOUT = About("role")

_ACCOUNT = 4
_SERVICES = {NODES: EXECUTION_ROLE_SERVICE, AUTO_SCALING: CLUSTER_ROLE_SERVICE}
_ASSUME = ("sts:assumerole", "sts:*", "*")


def check_roles(situation: Situation) -> Iterator[Finding]:
    """Check the roles that the specification names by ARN.

    Args:
        situation: The wanted cluster.
    """
    if not situation.wanted.roles:
        yield ABOUT.not_applicable("no existing role is named")
    for arn, uses in situation.wanted.roles.items():
        yield _check(situation, arn, uses)


def _check(situation: Situation, arn: str, uses: Sequence[str]) -> Finding:
    name, what = arn.rpartition("/")[2], ", ".join(uses)
    if arn.split(":")[_ACCOUNT] != situation.account:
        return ABOUT.cannot_tell(
            arn,
            f"it is of another account than {situation.account} ({what}), and IAM tells of the own one alone",
        )
    try:
        role = situation.reads.one("iam", "GetRole", RoleName=name)["Role"]
    except OperationError as error:
        if not code_of(error.__cause__).startswith("NoSuchEntity"):
            return ABOUT.cannot_tell(arn, error)
        return ABOUT.problem(
            arn, f"there is no such role ({what})", remedy="make it, name another, or leave it out"
        )
    if role["Arn"] != arn:
        return ABOUT.problem(
            arn, f"the role of that name is {role['Arn']} ({what})", remedy="name it with its path"
        )
    trust = role.get("AssumeRolePolicyDocument", {})
    for use in uses:
        if use in _SERVICES:
            found = _trusts(arn, what, trust, _SERVICES[use])
            if found is not None:
                return found
    trusted = [_SERVICES[use] for use in uses if use in _SERVICES]
    return ABOUT.ok(arn, f"it exists{f' and trusts {_joined(trusted)}' if trusted else ''} ({what})")


def _trusts(arn: str, what: str, trust: Mapping[str, Any], service: str) -> Finding | None:
    statements = _list(trust.get("Statement"))
    about = [statement for statement in statements if _covers(statement, service)]
    allowing = [statement for statement in about if statement.get("Effect") == "Allow"]
    if not allowing:
        return ABOUT.problem(
            arn,
            f"it does not trust {service} ({what})",
            remedy=f"allow sts:AssumeRole to the service {service} in its trust policy",
        )
    if len(allowing) < len(about):
        return ABOUT.cannot_tell(
            arn, f"its trust policy denies {service} something ({what}); see whether that is in the way"
        )
    if all(statement.get("Condition") for statement in allowing):
        return ABOUT.cannot_tell(
            arn,
            f"it trusts {service} on conditions alone ({what}): {SOURCE_CONDITIONS_ON_EXECUTION_ROLE.doubt}",
        )
    return None


def _covers(statement: Mapping[str, Any], service: str) -> bool:
    principal = statement.get("Principal")
    services = _list(principal.get("Service")) if isinstance(principal, Mapping) else _list(principal)
    actions = [str(action).lower() for action in _list(statement.get("Action"))]
    return bool({service, "*"} & set(services)) and any(action in _ASSUME for action in actions)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _joined(names: Sequence[str]) -> str:
    return " and ".join(names)
