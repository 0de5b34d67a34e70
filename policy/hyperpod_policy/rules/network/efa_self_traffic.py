"""Nodes with EFA admit all traffic from and to their own security group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_policy.clusters import Used, distinct, security_groups
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import SECURITY_GROUP, Direction, known_in_full, rules_of
from hyperpod_policy.template import Template
from hyperpod_policy.values import same

_PROPERTIES: dict[Direction, str] = {"ingress": "SecurityGroupIngress", "egress": "SecurityGroupEgress"}
_WORDS: dict[Direction, str] = {"ingress": "from", "egress": "to"}


def check(template: Template) -> Iterator[Verdict]:
    """Judge each security group of nodes that have EFA interfaces."""
    for used, groups in distinct(security_groups(template)):
        efa = {group.uses_efa for group in groups}
        if efa <= {False}:
            continue
        for direction in ("ingress", "egress"):
            yield _judge(template, used, direction, surely=True in efa)


def _judge(template: Template, used: Used, direction: Direction, *, surely: bool) -> Verdict:
    side = _WORDS[direction]
    allowed = f"all traffic {side} the group itself, as a rule that names the group"
    answer = _has_self_rule(template, used.value, direction)
    resource = template.resource(used.value, SECURITY_GROUP)
    if resource is None:
        if answer:
            return passed(used.cluster, *used.path)
        found = f"whether {used.value} admits all traffic {side} itself is not in this template"
        return undetermined(used.cluster, *used.path, found=found, allowed=allowed)
    path = (_PROPERTIES[direction],)
    if answer:
        return passed(resource, *path)
    if answer is None:
        found = f"no {direction} rule certainly is all traffic {side} {resource.logical_id}"
        return undetermined(resource, *path, found=found, allowed=allowed)
    found = _found(template, used.value, direction)
    if not surely:
        found += ", and whether its nodes have EFA is not known"
        return undetermined(resource, *path, found=found, allowed=allowed)
    return failed(resource, *path, found=found, allowed=allowed)


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
        "EFA traffic carries no IP addresses, so only rules that name the security group match it. HyperPod "
        "tests EFA before any lifecycle script runs: cluster creation fails with an EFA health check error, "
        "or collectives hang."
    ),
    fix=(
        "add a rule with IpProtocol -1 whose peer is the group itself, for ingress and for egress "
        "(AWS::EC2::SecurityGroupIngress and AWS::EC2::SecurityGroupEgress); EfaSecurityGroup does both"
    ),
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites; EC2 user guide, EFA security groups",
    check=check,
)
