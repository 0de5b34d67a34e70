"""Security groups, and no addresses, reach the nodes and their file systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.clusters import distinct, security_groups
from hyperpod_policy.eks_clusters import foreign_control_planes
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import SECURITY_GROUP, SecurityGroupRule, known_in_full, rules_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, same, single

_ALLOWED: Final = "security groups of the stack; people come through Systems Manager"


def check(template: Template) -> Iterator[Verdict]:
    """Judge every ingress rule of the security groups, of the template, that nodes and file systems have."""
    nodes = [used.value for used, _ in distinct(security_groups(template))]
    files = [
        single(value)
        for file_system in lustre_file_systems(template)
        for value in elements(file_system.get("SecurityGroupIds"))[0]
    ]
    # the group of an EKS cluster that exists already is one that the template does not make
    strangers_are_known = any(True for _ in foreign_control_planes(template))
    for group in dict.fromkeys((*nodes, *files)):
        resource = template.resource(group, SECURITY_GROUP)
        if resource is None:
            continue  # other rules say that its rules are unknown
        verdicts = [
            verdict
            for rule, belongs in rules_of(template, group, "ingress")
            if belongs
            for verdict in _judge(template, rule, [*nodes, *files], strangers_are_known)
        ]
        if not verdicts and known_in_full(template, group, "ingress"):
            yield passed(resource, "SecurityGroupIngress")
        yield from verdicts


def _judge(
    template: Template, rule: SecurityGroupRule, own: list[Any], strangers_are_known: bool
) -> Iterator[Verdict]:
    found = f"admits {rule}"
    if rule.open_to_many:
        return  # another rule speaks about that
    if rule.peer_kind in ("ipv4", "ipv6", "prefix list"):
        yield failed(rule.holder, *rule.path, found=found, allowed=_ALLOWED)
    elif rule.peer_kind == "unknown":
        yield undetermined(rule.holder, *rule.path, found=found, allowed=_ALLOWED)
    elif not strangers_are_known and not _is_known(template, rule.peer, own):
        words = f"{found}, whose members are not in this template"
        yield undetermined(rule.holder, *rule.path, found=words, allowed=_ALLOWED)


def _is_known(template: Template, peer: Any, own: list[Any]) -> bool:
    made: Resource | None = template.resource(peer)
    return made is not None or any(same(peer, group) is True for group in own)


RULE = Rule(
    id="ClusterIngress",
    title="nodes and file systems are reached by security groups of the stack, and by no addresses",
    severity="warning",
    why=(
        "Slurm, elastic agents, debug servers and the kubelet on the nodes listen on more ports than anybody "
        "lists, and Lustre asks nobody who he is. A range of addresses, even of the own VPC, admits whatever "
        "gets an address in it."
    ),
    fix=(
        "name the security group that needs the port; for people use Systems Manager, and for a range that "
        "is meant acknowledge the finding and say who has addresses in it"
    ),
    source=(
        "SageMaker developer guide, sagemaker-hyperpod-prerequisites; FSx for Lustre user guide, "
        "limit-access-security-groups"
    ),
    check=check,
)
