"""Nodes reach the file system on its ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hyperpod_model.catalog.ports import LUSTRE
from hyperpod_policy.clusters import distinct, security_groups
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import Direction, opens
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements

_PORTS = " and ".join(str(ports) for ports in LUSTRE)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the way between the nodes and each file system."""
    nodes = [used.value for used, _ in distinct(security_groups(template))]
    for file_system in lustre_file_systems(template):
        own, complete = elements(file_system.get("SecurityGroupIds"))
        path = ("SecurityGroupIds",)
        if not complete or not own or not nodes:
            yield undetermined(
                file_system,
                *path,
                found="its security groups or those of the nodes are not in this template",
                allowed=f"{_PORTS} are open between them",
            )
            continue
        verdicts = [
            *_judge(template, file_system, own, "ingress", [*nodes], "admits", "from the nodes"),
            *_judge(template, file_system, own, "ingress", [*own], "admits", "from its own security group"),
            *_judge(
                template, file_system, nodes, "egress", [*own], "is reached by nodes that admit", "to it"
            ),
        ]
        if not verdicts:
            verdicts = [
                replace(verdict, severity="warning") for verdict in _back(template, file_system, own, nodes)
            ]
        yield from verdicts if verdicts else [passed(file_system, *path)]


def _back(template: Template, file_system: Resource, own: list[Any], nodes: list[Any]) -> Iterator[Verdict]:
    """Judge the ways that the servers of a file system begin themselves."""
    yield from _judge(template, file_system, own, "egress", nodes, "opens", "to the nodes")
    yield from _judge(template, file_system, own, "egress", own, "opens", "to its own security group")
    words = "is refused by nodes that admit"
    yield from _judge(template, file_system, nodes, "ingress", own, words, "from the file system")


def _judge(
    template: Template,
    file_system: Resource,
    groups: list[Any],
    direction: Direction,
    peers: list[Any],
    verb: str,
    side: str,
) -> Iterator[Verdict]:
    answers = [opens(template, groups, direction, peers, ports) for ports in LUSTRE]
    if False not in answers and None not in answers:
        return
    closed = " and ".join(
        str(ports) for ports, answer in zip(LUSTRE, answers, strict=True) if answer is not True
    )
    allowed = f"{_PORTS} are open {side}"
    if False in answers:
        yield failed(file_system, "SecurityGroupIds", found=f"{verb} no {closed} {side}", allowed=allowed)
    else:
        found = f"whether {closed} are open {side} is not in this template"
        yield undetermined(file_system, "SecurityGroupIds", found=found, allowed=allowed)


RULE = Rule(
    id="LustrePorts",
    title="nodes reach the file system on the Lustre ports",
    severity="error",
    why=(
        "FSx refuses a file system whose security group is closed ('InvalidNetworkSettings', port 988), and "
        "a mount from nodes without egress hangs until the lifecycle script times out."
    ),
    fix=(
        f"open {_PORTS} between the nodes' security group and that of the file system, in both directions, "
        "and within the latter; EfaSecurityGroup.allow_lustre does"
    ),
    source="FSx for Lustre user guide, limit-access-security-groups",
    check=check,
)
