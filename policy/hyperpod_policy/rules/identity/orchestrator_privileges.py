"""Nodes have the permissions of their own orchestrator only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hyperpod_model.catalog import iam as facts
from hyperpod_policy.clusters import execution_roles, orchestrator
from hyperpod_policy.identities import permissions, role_of
from hyperpod_policy.privileges import covers, is_whole_service
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.template import Resource, Template


def _names(*lists: tuple[facts.ServiceAction, ...]) -> frozenset[str]:
    return frozenset(action.name for actions in lists for action in actions)


_READING: Final = ("Describe", "Get", "List")
_NEEDED: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "slurm": _names(facts.SLURM_VPC_ACTIONS),
        "eks": _names(facts.EKS_ACTIONS, facts.EKS_AUTH_ACTIONS),
    }
)
_OTHERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        kind: tuple(
            sorted(
                name
                for other, names in _NEEDED.items()
                if other != kind
                for name in names - needed
                if not name.partition(":")[2].startswith(_READING)
            )
        )
        for kind, needed in _NEEDED.items()
    }
)
"""What the nodes of another orchestrator change, by orchestrator."""

_WORDS: Final[Mapping[str, str]] = MappingProxyType({"slurm": "Slurm", "eks": "EKS"})


def check(template: Template) -> Iterator[Verdict]:
    """Judge each execution role of the template against what its clusters' orchestrators need."""
    kinds: dict[str, set[str]] = {}
    roles: dict[str, Resource] = {}
    for used in execution_roles(template):
        role = role_of(template, used.value)
        if role is not None:
            roles[role.key] = role
            kinds.setdefault(role.key, set()).add(orchestrator(used.cluster))
    for key, role in roles.items():
        if len(kinds[key]) == 1:
            (kind,) = kinds[key]
            verdicts = [*_judge(template, role, kind)]
            yield from verdicts if verdicts else [passed(role)]


def _judge(template: Template, role: Resource, kind: str) -> Iterator[Verdict]:
    for statement in permissions(template, role).statements:
        if statement.effect != "Allow" or any(map(is_whole_service, statement.actions)):
            continue
        given = [action for action in _OTHERS[kind] if not statement.not_action and covers(statement, action)]
        if given:
            yield failed(
                statement.holder,
                *statement.path,
                found=f"allows {', '.join(given)}, which nodes of a {_WORDS[kind]} cluster never do",
                allowed="what the cluster's own orchestrator needs",
            )


RULE = Rule(
    id="OrchestratorPrivileges",
    title="the nodes' execution role has what its own orchestrator needs, and not what another does",
    severity="warning",
    why=(
        "On EKS nodes move network interfaces and take the roles of pods. On Slurm, where every user of the "
        "cluster acts with the nodes' role, the same permissions let a job attach interfaces in other "
        "networks or take the roles of other clusters' pods."
    ),
    fix="take the actions out of the role; ExecutionRole grants by orchestrator",
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites-iam (Slurm and EKS apart)",
    check=check,
)
