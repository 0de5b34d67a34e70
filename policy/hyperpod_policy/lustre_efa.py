"""The one exception to closed checkpoint ports: an FSx for Lustre file system that is reached over EFA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperpod_policy.security_groups import SECURITY_GROUP, SecurityGroupRule, known_in_full, rules_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, same, truth


def is_efa_lustre_exception(template: Template, rule: SecurityGroupRule, node_groups: Sequence[Any]) -> bool:
    """Tell whether a rule admits all traffic of an EFA-enabled file system that admits nobody else.

    Args:
        template: Template under review.
        rule: Ingress rule of a security group of the nodes.
        node_groups: All security groups of nodes, as resolved.
    """
    if rule.peer_kind != "group" or not rule.all_traffic:
        return False
    peer = template.resource(rule.peer, SECURITY_GROUP)
    if peer is None or not known_in_full(template, peer.ref, "ingress"):
        return False
    if not any(
        peer.ref in elements(file_system.get("SecurityGroupIds"))[0] for file_system in _efa_systems(template)
    ):
        return False
    friends = [peer.ref, *node_groups]
    return all(
        entry.peer_kind == "group" and any(same(entry.peer, friend) for friend in friends)
        for entry, _ in rules_of(template, peer.ref, "ingress")
    )


def _efa_systems(template: Template) -> list[Resource]:
    return [
        found
        for found in template.of_type("AWS::FSx::FileSystem")
        if truth(found.get("LustreConfiguration", "EfaEnabled")) is True
    ]
