"""Control plane and nodes reach each other, and share nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_model.catalog.ports import EKS_CONTROL_PLANE, HTTPS, PortRange
from hyperpod_policy.clusters import distinct, security_groups
from hyperpod_policy.eks_clusters import Orchestration, control_plane_groups, orchestrations
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import CHECKPOINT_PORTS, rules_of
from hyperpod_policy.template import Template
from hyperpod_policy.values import same

_DNS = 53
_TO_NODES = tuple(ports for ports in EKS_CONTROL_PLANE if ports.protocol == "tcp" and ports.first != _DNS)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the security groups between each EKS cluster of the template and its nodes."""
    for found in orchestrations(template):
        if found.control_plane is None:
            yield undetermined(
                found.cluster,
                *found.path,
                found=f"the security groups of EKS cluster {found.arn} are not in this template",
                allowed="rules for the documented ports, both ways",
            )
            continue
        yield from _judge(template, found)


def _judge(template: Template, found: Orchestration) -> Iterator[Verdict]:
    assert found.control_plane is not None
    control = control_plane_groups(found.control_plane)
    used = [item for item, _ in distinct(security_groups(template)) if item.cluster is found.cluster]
    nodes = [item.value for item in used]
    quiet = True
    for item in used:
        shared = {same(item.value, group) for group in control}
        if True in shared:
            quiet = False
            yield failed(
                found.cluster,
                *item.path,
                found=f"nodes are in {item.value}, a security group of the control plane",
                allowed=f"a group of the nodes' own, so that nothing else reaches {CHECKPOINT_PORTS}",
            )
    if quiet:
        for targets, sources, ports, words in (
            (control, nodes, HTTPS, "nodes reach the control plane"),
            (nodes, control, _TO_NODES, "the control plane reaches nodes"),
        ):
            for port in ports:
                answer = _reached(template, targets, sources, port)
                if answer is not True:
                    quiet = False
                    decided = undetermined if answer is None else failed
                    yield decided(
                        found.cluster,
                        "VpcConfig",
                        "SecurityGroupIds",
                        found=f"no rule lets {words.replace('reaches', 'reach')} at {port}",
                        allowed="an ingress rule from the one group to the other",
                    )
    if quiet:
        yield passed(found.cluster, "VpcConfig", "SecurityGroupIds")


def _reached(template: Template, targets: list[Any], sources: list[Any], port: PortRange) -> bool | None:
    """Whether one of the target groups admits a port from one of the sources."""
    answers: set[bool | None] = {False}
    for target in targets:
        for rule, belongs in rules_of(template, target, "ingress"):
            covers = rule.covers(port)
            if covers is False:
                continue
            if rule.peer_kind == "group":
                peers = {same(rule.peer, source) for source in sources}
                peer = True if True in peers else (None if None in peers else False)
            else:
                peer = None
            if peer is not False:
                answers.add(True if peer and covers and belongs else None)
    return True if True in answers else (None if None in answers else False)


RULE = Rule(
    id="EksNodeTraffic",
    title="control plane and nodes reach each other at the documented ports, from groups of their own",
    severity="error",
    why=(
        "Nodes that do not reach the Kubernetes API never join, and pods on nodes that the control plane "
        "does not reach give neither logs nor shells. In one group with the control plane, whose own rule "
        "admits everything, the ports of tiered checkpointing are open to whatever runs there."
    ),
    fix=(
        "give the nodes a security group of their own; admit TCP 443 from it at the control plane's group, "
        "and TCP 443 and 10250 and port 53 from the control plane at the nodes' group"
    ),
    source="EKS user guide, sec-group-reqs; SageMaker developer guide, managed-tier-checkpointing-setup",
    check=check,
)
