"""Workspaces of Prometheus admit principals of their own account."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.metrics import READ_ACTIONS, WRITE_ACTION
from hyperpod_policy.accounts import belonging
from hyperpod_policy.callers import narrows
from hyperpod_policy.clusters import clusters
from hyperpod_policy.deputies import comes_for_others
from hyperpod_policy.iam.patterns import some
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.rule import Rule, Severity, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved

_POLICY: Final = "AWS::APS::ResourcePolicy"
_DOCUMENT: Final = "PolicyDocument"
_ALLOWED: Final = "principals of the workspace's own account"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the policy of each workspace beside a cluster."""
    if not clusters(template):
        return
    for policy in template.of_type(_POLICY):
        verdicts = [verdict for statement in _statements(policy) for verdict in _judge(policy, statement)]
        yield from verdicts if verdicts else [passed(policy, _DOCUMENT)]


def _statements(policy: Resource) -> Iterator[Statement | Unresolved | None]:
    """Yield the statements; ``None`` for a text that cannot be read as JSON."""
    if isinstance(policy.get(_DOCUMENT), str):
        yield None
    yield from statements_of(policy, _DOCUMENT)


def _judge(policy: Resource, statement: Statement | Unresolved | None) -> Iterator[Verdict]:
    if statement is None or isinstance(statement, Unresolved):
        found = "is no JSON" if statement is None else f"is {statement}"
        yield undetermined(policy, _DOCUMENT, found=found, allowed=_ALLOWED)
        return
    if statement.effect != "Allow" or comes_for_others(statement) is False:
        return
    narrowed = [narrows(condition, policy) for condition in statement.conditions]
    if True in narrowed:
        return
    for kind, value in _principals(statement):
        whose = "other" if value == "*" or kind not in ("AWS", "*") else belonging(value, policy)
        if whose == "own":
            continue
        who = "everybody" if value == "*" else f"{kind} {value}"
        if whose == "other" and None not in narrowed:
            yield failed(
                policy,
                *statement.path,
                found=f"lets {who} {_does(statement)} the figures{_of_another(kind, value)}",
                allowed=_ALLOWED,
                severity=_severity(statement, value),
            )
        else:
            found = f"lets {who} {_does(statement)} the figures, and may admit another account"
            yield undetermined(policy, *statement.path, found=found, allowed=_ALLOWED)


def _principals(statement: Statement) -> tuple[tuple[str, Any], ...]:
    """Return whom a statement admits: of those that leave somebody out, everybody."""
    return (("*", "*"),) if statement.not_principal else statement.principals


def _does(statement: Statement) -> str:
    """Say what a statement lets happen to figures, or may."""
    said = {"write": _lists(statement, WRITE_ACTION), "read": any(_lists(statement, a) for a in READ_ACTIONS)}
    return " and ".join(word for word, meant in said.items() if meant) or "reach"


def _lists(statement: Statement, action: str) -> bool:
    listed = any(some(pattern, action, ignore_case=True) is not False for pattern in statement.actions)
    return statement.not_action or listed


def _of_another(kind: str, value: Any) -> str:
    return ", of another account" if kind == "AWS" and value != "*" else ""


def _severity(statement: Statement, value: Any) -> Severity | None:
    """Whom one names may read for a reason; nobody writes figures of another account's cluster for one."""
    return None if value == "*" or _lists(statement, WRITE_ACTION) else "warning"


RULE = Rule(
    id="WorkspaceAccess",
    title="workspaces of Prometheus admit principals of their own account only",
    severity="error",
    why=(
        "Whoever writes to the workspace makes alerts ring or stay silent, and hides what a node or a queue "
        "does. Whoever reads it sees the names, sizes and hours of every team's jobs."
    ),
    fix=(
        "leave the resource policy out and let policies of the account's roles grant aps:RemoteWrite and "
        "aps:QueryMetrics; where a named account is meant to read, acknowledge the finding and say who "
        "answers for it"
    ),
    source=(
        "Managed Service for Prometheus user guide, security_iam_service-with-iam and resource-based policies"
    ),
    check=check,
)
