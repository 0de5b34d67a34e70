"""The roles beside the cluster are for the services that need them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.logs import FLOW_LOG_SERVICE
from hyperpod_model.catalog.metrics import GRAFANA_SERVICE
from hyperpod_policy.accounts import belonging
from hyperpod_policy.deputies import comes_for_others
from hyperpod_policy.iam.evaluation import account_of
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.other_roles import other_roles, services_in_use
from hyperpod_policy.pod_roles import TRUST
from hyperpod_policy.privileges import covers
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.template import Resource, Template

_ASSUMING: Final = ("sts:AssumeRole", "sts:AssumeRoleWithWebIdentity", "sts:AssumeRoleWithSAML")
_FOR_OTHERS: Final = frozenset({FLOW_LOG_SERVICE, GRAFANA_SERVICE})
"""Services that other accounts may ask to take a role, for which AWS recommends a condition."""


def check(template: Template) -> Iterator[Verdict]:
    """Judge the trust of each role beside the cluster, as far as the template shows it."""
    for role in other_roles(template):
        users = services_in_use(template, role)
        verdicts = [
            verdict
            for statement in statements_of(role, TRUST)
            if isinstance(statement, Statement) and statement.effect == "Allow"
            if any(covers(statement, action) for action in _ASSUMING)
            for verdict in _judge(role, statement, users)
        ]
        yield from verdicts if verdicts else [passed(role, TRUST)]


def _judge(role: Resource, statement: Statement, users: dict[str, str]) -> Iterator[Verdict]:
    allowed = " and ".join(sorted(users)) if users else "named services, roles or identities"

    def fail(found: str) -> Verdict:
        return failed(role, *statement.path, found=found, allowed=allowed)

    if statement.not_principal:
        yield fail("trusts everybody but those in NotPrincipal")
        return
    for kind, value in statement.principals:
        if kind == "Service":
            if users and isinstance(value, str) and value not in users:
                yield fail(f"trusts {value}, which nothing in the template uses it for")
            elif value in _FOR_OTHERS and comes_for_others(statement):
                found = f"trusts {value} on whosever behalf it comes"
                yield failed(role, *statement.path, found=found, allowed="a condition on aws:SourceAccount")
        elif kind in ("AWS", "*"):
            found = _stranger(role, statement, value, users)
            if found:
                yield fail(found)
        elif users:
            yield fail(f"trusts {kind} {value}, though only services use it")


def _stranger(role: Resource, statement: Statement, value: Any, users: dict[str, str]) -> str:
    """Say what is wrong with a principal of an account; nothing where a condition narrows it."""
    if statement.conditions and not users:
        return ""
    if value == "*":
        return "trusts everybody"
    if belonging(value, role) == "other":
        return f"trusts {value}, of another account"
    if not users:
        return ""
    whole = ": whoever has sts:AssumeRole in the account" if account_of(value) is not None else ""
    return f"trusts {value}{whole}, though only {' and '.join(sorted(users))} needs it"


RULE = Rule(
    id="RoleTrust",
    title="the roles beside the cluster are for the services that need them",
    severity="warning",
    why=(
        "A role that a function, a flow log or Grafana needs is taken by its service alone. Every further "
        "principal in its trust gets what the function may do, such as writing the lifecycle scripts, "
        "without a trace in the function."
    ),
    fix=(
        "let the trust policy name the service that takes the role, and for services that act for other "
        "accounts demand aws:SourceAccount"
    ),
    source=(
        "IAM user guide, role trust policies and confused deputy problem; VPC user guide, flow log role; "
        "Managed Grafana user guide, cross-service confused deputy prevention"
    ),
    check=check,
)
