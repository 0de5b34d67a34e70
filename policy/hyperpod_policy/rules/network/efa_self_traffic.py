"""Nodes with EFA admit all traffic from and to their own security group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_policy.clusters import distinct, security_groups
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import SECURITY_GROUP, Direction, known_in_full, rules_of
from hyperpod_policy.template import Template
from hyperpod_policy.values import same

_PROPERTIES: dict[Direction, str] = {"ingress": "SecurityGroupIngress", "egress": "SecurityGroupEgress"}
_WORDS: dict[Direction, str] = {"ingress": "from", "egress": "to"}


def check(template: Template) -> Iterator[Verdict]:
    """Judge each security group of nodes that have EFA interfaces."""
    for used, groups in distinct(security_groups(template)):
        efa = [group.uses_efa for group in groups]
        if True not in efa and None not in efa:
            continue
        resource = template.resource(used.value, SECURITY_GROUP)
        for direction in ("ingress", "egress"):
            answer = _has_self_rule(template, used.value, direction)
            holder, path = (
                (used.cluster, used.path) if resource is None else (resource, (_PROPERTIES[direction],))
            )
            allowed = (
                f"EFA needs all traffic {_WORDS[direction]} the group itself, as a rule that names the group"
            )
            if answer:
                yield passed(holder, *path, direction) if resource is None else passed(holder, *path)
            elif answer is None or True not in efa:
                unknown = (
                    f"security group {used.value} is not in this template"
                    if resource is None
                    else f"no {direction} rule certainly is all traffic {_WORDS[direction]} {resource.logical_id}"
                )
                if True not in efa and answer is False:
                    unknown = f"no {direction} rule for all traffic {_WORDS[direction]} the group itself, and whether "
                    unknown += "its nodes have EFA is not known"
                yield undetermined(
                    holder,
                    *path,
                    found=f"{unknown} ({direction})" if resource is None else unknown,
                    allowed=allowed,
                )
            else:
                yield failed(holder, *path, found=_found(template, used.value, direction), allowed=allowed)


def _has_self_rule(template: Template, group: Any, direction: Direction) -> bool | None:
    answers: set[bool | None] = set()
    for rule, belongs in rules_of(template, group, direction):
        if rule.peer_kind != "group":
            continue
        parts = (belongs, rule.all_traffic, same(rule.peer, group))
        answers.add(False if False in parts else (None if None in parts else True))
    if True in answers:
        return True
    if None in answers or not known_in_full(template, group, direction):
        return None
    return False


def _found(template: Template, group: Any, direction: Direction) -> str:
    rules = [rule for rule, _ in rules_of(template, group, direction)]
    if not rules:
        default = (
            " (so CloudFormation adds one to 0.0.0.0/0, which carries no EFA)"
            if direction == "egress"
            else ""
        )
        return f"no {direction} rule at all{default}"
    listed = ", ".join(str(rule) for rule in rules[:4]) + (", ..." if len(rules) > 4 else "")
    if any(rule.all_traffic and rule.open_to_the_world for rule in rules):
        return f"{listed}; an address range does not stand in for the group"
    return f"only {listed}"


RULE = Rule(
    id="EfaSelfTraffic",
    title="every security group of EFA nodes admits all traffic from and to itself",
    severity="error",
    why=(
        "EFA traffic carries no IP addresses, so only rules that name the security group match it. HyperPod tests "
        "EFA before any lifecycle script runs: cluster creation fails with an EFA health check error, or collectives "
        "hang."
    ),
    fix=(
        "add a rule with IpProtocol -1 whose peer is the group itself, for ingress and for egress "
        "(AWS::EC2::SecurityGroupIngress and AWS::EC2::SecurityGroupEgress); EfaSecurityGroup does both"
    ),
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites; EC2 user guide, EFA security groups",
    check=check,
)
