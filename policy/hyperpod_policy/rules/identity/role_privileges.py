"""No role beside the cluster is an administrator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.catalog.iam import CLUSTER_ROLE_ACTIONS, CLUSTER_ROLE_SERVICE, FUNCTION_BASIC_ACTIONS
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.identities import permissions
from hyperpod_policy.other_roles import other_roles
from hyperpod_policy.pod_roles import TRUST
from hyperpod_policy.privileges import excesses
from hyperpod_policy.rule import Rule, Verdict, passed
from hyperpod_policy.template import Resource, Template

_ALLOWED: Final = "named actions on the resources at hand"
_SCALING: Final = frozenset(action.lower() for action in CLUSTER_ROLE_ACTIONS)
_DOCUMENTED: Final = frozenset(action.lower() for action in FUNCTION_BASIC_ACTIONS)


def check(template: Template) -> Iterator[Verdict]:
    """Judge what each role beside the cluster may do, as far as the template shows it."""
    for role in other_roles(template):
        held = permissions(template, role)
        found = excesses(
            held,
            documented=_DOCUMENTED,
            who="those who take it",
            allowed=_ALLOWED,
            grants_through_services=True,
            on_any_cluster=_SCALING if _is_for_scaling(role) else frozenset(),
        )
        verdicts = [verdict for verdict in found if verdict.outcome == "fail"]
        yield from verdicts if verdicts else [passed(role)]


def _is_for_scaling(role: Resource) -> bool:
    """Whether HyperPod takes a role to scale a cluster, which names the role and so cannot be named by it."""
    return any(
        isinstance(statement, Statement) and ("Service", CLUSTER_ROLE_SERVICE) in statement.principals
        for statement in statements_of(role, TRUST)
    )


RULE = Rule(
    id="RolePrivileges",
    title="no role beside the cluster has wildcards or can become others",
    severity="warning",
    why=(
        "Functions that upload scripts, install charts or take backups stand in the same account, and often "
        "in the same network, as the nodes. What their roles may do beyond their task, such as passing roles "
        "or changing bucket policies, key policies and functions, opens every lock of the cluster."
    ),
    fix="name the actions, and scope them to the resources of the stack",
    source="IAM user guide, grant least privilege; Service Authorization Reference",
    check=check,
)
