"""Which security groups admit whom, and to which ports."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_policy.reports.html.network.members import spot
from hyperpod_policy.reports.html.network.model import Admission, Breadth, Group, Member, Source, Spot, Vpc
from hyperpod_policy.reports.html.network.words import listed, named, spoken
from hyperpod_policy.security_groups import (
    SECURITY_GROUP,
    SecurityGroupRule,
    known_in_full,
    rules_of,
)
from hyperpod_policy.template import Template
from hyperpod_policy.values import Reference, Unresolved, frozen, same

_NOWHERE: Final = "255.255.255.255/32"
"""What the CDK writes where a group must have a rule and let nothing pass."""

_OUTSIDE: Final = Source(
    ("outside",), "whoever else is admitted", "by rules that are not in the templates", None, "unknown"
)
"""Stands for whoever the rules of a group admit that the templates do not make."""

_BREADTHS: Final[tuple[Breadth, ...]] = ("world", "wide", "unknown", "addresses", "group", "self")


def guards(template: Template, members: Sequence[Member]) -> tuple[Group, ...]:
    """Return the security groups of members, in their order."""
    keys = dict.fromkeys(key for member in members for key in member.groups)
    return tuple(_group(template, number, key, members) for number, key in enumerate(keys, start=1))


def _group(template: Template, number: int, key: Hashable, members: Sequence[Member]) -> Group:
    rules = [rule for rule, _ in rules_of(template, key, "ingress")]
    made = template.resource(key, SECURITY_GROUP)
    holders: dict[Spot, None] = {} if made is None else {spot(made): None}
    for rule in (*rules, *(rule for rule, _ in rules_of(template, key, "egress"))):
        holders[spot(rule.holder)] = None
    return Group(
        key=key,
        number=number,
        label=_label(template, key),
        members=tuple(dict.fromkeys(member.title for member in members if key in member.groups)),
        is_known=known_in_full(template, key, "ingress"),
        sends=tuple(_sends(template, key)),
        spots=tuple(holders),
    )


def _label(template: Template, key: Hashable) -> str:
    if isinstance(key, Reference) and key.attribute == "ClusterSecurityGroupId":
        return "EKS's own security group"
    made = template.resource(key, SECURITY_GROUP)
    return spoken(key) if made is None else named(made)


def _sends(template: Template, key: Hashable) -> Iterator[str]:
    rules = [rule for rule, _ in rules_of(template, key, "egress")]
    if not rules and known_in_full(template, key, "egress"):
        yield "everything, to everybody: it has no egress rule, and EC2 then adds one"
        return
    by_peer: dict[str, list[str]] = {}
    for rule in rules:
        if rule.peer != _NOWHERE:
            by_peer.setdefault(_peer_words(rule, key), []).append(_traffic(rule))
    for peer, traffic in by_peer.items():
        yield f"{together(traffic)} to {peer}"
    if not known_in_full(template, key, "egress"):
        yield "what its rules outside the templates say"
    elif not by_peer:
        yield "nothing"


def _peer_words(rule: SecurityGroupRule, own: Hashable) -> str:
    if rule.peer_kind == "group":
        return "itself" if same(rule.peer, own) is True else spoken(rule.peer)
    if rule.open_to_the_world:
        return f"everybody ({spoken(rule.peer)})"
    return f"prefix list {spoken(rule.peer)}" if rule.peer_kind == "prefix list" else spoken(rule.peer)


def admissions(
    template: Template, groups: Sequence[Group], vpcs: Sequence[Vpc]
) -> tuple[tuple[Source, ...], tuple[Admission, ...]]:
    """Return whom groups admit, and to what.

    Args:
        template: Template under review.
        groups: The groups.
        vpcs: Where their members stand.
    """
    subnets = {
        subnet.addresses: subnet.label for vpc in vpcs for zone in vpc.zones for subnet in zone.subnets
    }
    numbers = {group.key: group for group in groups}
    sources: dict[Hashable, Source] = {}
    found: dict[tuple[Hashable, Hashable, Breadth, bool], list[str]] = {}
    for group in groups:
        for rule, belongs in rules_of(template, group.key, "ingress"):
            if rule.peer == _NOWHERE:
                continue
            source = _source(template, rule, numbers, subnets)
            sources.setdefault(source.key, source)
            breadth = _breadth(rule, group.key)
            certain = belongs is True and breadth != "unknown" and not isinstance(rule.protocol, Unresolved)
            found.setdefault((source.key, group.key, breadth, certain), []).append(_traffic(rule))
        if not group.is_known:
            sources.setdefault(_OUTSIDE.key, _OUTSIDE)
            found[_OUTSIDE.key, group.key, "unknown", False] = ["traffic that cannot be told"]
    merged = tuple(
        Admission(source, target, together(traffic), breadth, certain)
        for (source, target, breadth, certain), traffic in found.items()
    )
    ranked = sorted(merged, key=lambda one: (numbers[one.target].number, _BREADTHS.index(one.breadth)))
    return tuple(sources.values()), tuple(ranked)


def _source(
    template: Template, rule: SecurityGroupRule, numbers: Mapping[Hashable, Group], subnets: Mapping[str, str]
) -> Source:
    peer = frozen(rule.peer)
    if rule.peer_kind == "group":
        group = numbers.get(peer)
        if group is not None:
            return Source(("group", peer), group.label, listed(group.members), group.number, "group")
        return Source(("group", peer), _label(template, peer), "members of the group", None, "group")
    if rule.peer_kind == "prefix list":
        return Source(("list", peer), spoken(peer), "prefix list", None, "addresses")
    if rule.peer_kind == "unknown":
        return Source(("unknown", peer), spoken(peer), "known at deployment only", None, "unknown")
    if rule.open_to_the_world:
        return Source(("range", peer), "everybody", spoken(peer), None, "world")
    if rule.open_to_the_world is None:
        return Source(("range", peer), spoken(peer), "addresses known at deployment only", None, "unknown")
    breadth: Breadth = "wide" if rule.open_to_many else "addresses"
    label = spoken(peer)
    detail = f"addresses of {subnets[label]}" if label in subnets else "addresses"
    return Source(("range", peer), label, detail, None, breadth)


def _breadth(rule: SecurityGroupRule, own: Any) -> Breadth:
    if rule.peer_kind == "group":
        return "self" if same(rule.peer, own) is True else "group"
    if rule.open_to_the_world is None:
        return "unknown"
    if rule.open_to_the_world:
        return "world"
    return "wide" if rule.open_to_many else "addresses"


def _traffic(rule: SecurityGroupRule) -> str:
    return str(rule).partition(" from " if rule.direction == "ingress" else " to ")[0]


def together(traffic: Sequence[str]) -> str:
    """Write traffic in one line, each protocol once, such as ``tcp 53, 443; udp 53``."""
    by_protocol: dict[str, list[str]] = {}
    for words in dict.fromkeys(traffic):
        protocol, _, ports = words.partition(" ")
        if ports and ports[0].isdigit():
            by_protocol.setdefault(protocol, []).append(ports)
        else:
            by_protocol.setdefault(words, [])
    return "; ".join(
        f"{protocol} {', '.join(sorted(ports, key=_first))}" if ports else protocol
        for protocol, ports in by_protocol.items()
    )


def _first(ports: str) -> int:
    first = ports.partition("-")[0]
    return int(first) if first.isdigit() else 0
