"""Security-group rules, inline and separate, in one shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from hyperpod_model.catalog.ports import TIERED_CHECKPOINTING, PortRange
from hyperpod_model.faults import FaultPath
from hyperpod_policy.address_ranges import Network, is_wide_and_public, network_of, within
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, integer, same, scalar_text

SECURITY_GROUP: Final = "AWS::EC2::SecurityGroup"

CHECKPOINT_PORTS: Final = " and ".join(str(ports) for ports in TIERED_CHECKPOINTING)
"""The ports of managed tiered checkpointing, for messages."""

Direction: TypeAlias = Literal["ingress", "egress"]

_SEPARATE: Final[Mapping[Direction, str]] = {
    "ingress": "AWS::EC2::SecurityGroupIngress",
    "egress": "AWS::EC2::SecurityGroupEgress",
}
_INLINE: Final[Mapping[Direction, str]] = {"ingress": "SecurityGroupIngress", "egress": "SecurityGroupEgress"}
_PEER_GROUP: Final[Mapping[Direction, str]] = {
    "ingress": "SourceSecurityGroupId",
    "egress": "DestinationSecurityGroupId",
}
_PEER_PREFIX_LIST: Final[Mapping[Direction, str]] = {
    "ingress": "SourcePrefixListId",
    "egress": "DestinationPrefixListId",
}
_PROTOCOL_NAMES: Final = {"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": "-1"}


@dataclass(frozen=True, slots=True)
class SecurityGroupRule:
    """One rule of a security group.

    Attributes:
        direction: ``ingress`` or ``egress``.
        protocol: ``tcp``, ``udp``, ``-1`` for all, another, or unresolved.
        first: First port; ``None`` for all ports, or unresolved.
        last: Last port.
        peer_kind: What the other side is given as.
        peer: The other side, as resolved.
        holder: Resource that has the rule.
        path: Where in it.
    """

    direction: Direction
    protocol: Any
    first: Any
    last: Any
    peer_kind: Literal["ipv4", "ipv6", "group", "prefix list", "unknown"]
    peer: Any
    holder: Resource
    path: FaultPath

    @property
    def all_traffic(self) -> bool | None:
        """Whether it admits every protocol and port."""
        if isinstance(self.protocol, Unresolved):
            return None
        return bool(self.protocol == "-1")

    def reaches(self, ports: PortRange) -> bool | None:
        """Whether it admits at least one of the ports."""
        if isinstance(self.protocol, Unresolved):
            return None
        if self.protocol == "-1":
            return True
        if self.protocol != ports.protocol:
            return False
        if isinstance(self.first, Unresolved) or isinstance(self.last, Unresolved):
            return None
        return ports.overlaps(self.protocol, self.first, self.last)

    def covers(self, ports: PortRange) -> bool | None:
        """Whether it admits all of the ports."""
        if isinstance(self.protocol, Unresolved):
            return None
        if self.protocol == "-1":
            return True
        if self.protocol != ports.protocol:
            return False
        if isinstance(self.first, Unresolved) or isinstance(self.last, Unresolved):
            return None
        if self.first is None:
            return True
        return bool(self.first <= ports.first and self.last >= ports.last)

    @property
    def open_to_the_world(self) -> bool | None:
        """Whether the other side is every address, in one rule or by a half of all addresses."""
        return self._network_is(lambda network: network.prefixlen <= 1)

    @property
    def open_to_many(self) -> bool | None:
        """Whether the other side is a range of public addresses too wide to be anybody's own."""
        return self._network_is(is_wide_and_public)

    def _network_is(self, judge: Callable[[Network], bool]) -> bool | None:
        if self.peer_kind == "unknown":
            return None
        if self.peer_kind not in ("ipv4", "ipv6"):
            return False
        network = network_of(self.peer)
        return None if network is None else judge(network)

    def admits(self, peers: Sequence[Any], addresses: Sequence[Any] = ()) -> bool | None:
        """Whether the other side is one of some security groups, or holds all of some address ranges.

        Args:
            peers: Security groups, as resolved.
            addresses: Ranges of those that are meant, as resolved. Without any only a rule for all addresses
                certainly admits them.
        """
        if self.peer_kind == "group":
            answers = {same(self.peer, peer) for peer in peers}
            return True if True in answers else (None if None in answers else False)
        if self.open_to_the_world:
            return True
        own = network_of(self.peer) if self.peer_kind in ("ipv4", "ipv6") else None
        networks = [network_of(address) for address in addresses]
        if own is None or not networks or None in networks:
            return None
        return all(within(network, own) for network in networks if network is not None)

    def __str__(self) -> str:
        if isinstance(self.protocol, Unresolved):
            traffic = f"protocol {self.protocol}"
        elif self.protocol == "-1":
            traffic = "all traffic"
        elif self.first is None:
            traffic = f"all {self.protocol} ports"
        elif self.first == self.last:
            traffic = f"{self.protocol} {self.first}"
        else:
            traffic = f"{self.protocol} {self.first}-{self.last}"
        preposition = "from" if self.direction == "ingress" else "to"
        kind = {"group": "security group ", "prefix list": "prefix list "}.get(self.peer_kind, "")
        return f"{traffic} {preposition} {kind}{self.peer}"


def opens(
    template: Template,
    groups: Sequence[Any],
    direction: Direction,
    peers: Sequence[Any],
    ports: PortRange,
    *,
    addresses: Sequence[Any] = (),
) -> bool | None:
    """Tell whether one of some security groups opens ports to one of some others.

    Args:
        template: Template under review.
        groups: The groups whose rules count, as resolved.
        direction: Which way.
        peers: The groups on the other side.
        ports: All of which must be open.
        addresses: Address ranges of the other side, where rules may name those.
    """
    unclear = False
    for group in groups:
        rules = rules_of(template, group, direction)
        known = known_in_full(template, group, direction)
        if direction == "egress" and not rules and known:
            return True  # without any egress rule EC2 admits everything
        for rule, belongs in rules:
            covers = rule.covers(ports)
            if covers is False:
                continue
            peer = rule.admits(peers, addresses)
            if peer and covers and belongs:
                return True
            unclear = unclear or peer is not False
        unclear = unclear or not known
    return None if unclear else False


def rules_of(
    template: Template, group: Any, direction: Direction
) -> list[tuple[SecurityGroupRule, bool | None]]:
    """Return the rules of a security group in one direction.

    Args:
        template: Template under review.
        group: The group as resolved: a reference, a literal id or something unresolved.
        direction: Which way.

    Returns:
        Rules, each with ``True`` if it certainly belongs to the group, ``None`` if only deployment can tell.
    """
    found: list[tuple[SecurityGroupRule, bool | None]] = []
    resource = template.resource(group, SECURITY_GROUP)
    if resource is not None:
        inline, _ = elements(resource.get(_INLINE[direction]))
        for position, rule in enumerate(inline):
            if isinstance(rule, Mapping):
                read = _read(resource, rule, (_INLINE[direction], position), direction)
                found.append((read, True))
    for rule, owner in template.once(_separate_ingress if direction == "ingress" else _separate_egress):
        belongs = same(owner, group)
        if belongs is not False:
            found.append((rule, belongs))
    return found


def known_in_full(template: Template, group: Any, direction: Direction) -> bool:
    """Tell whether the template shows all rules that the group is created with."""
    resource = template.resource(group, SECURITY_GROUP)
    if resource is None:
        return False
    inline = resource.get(_INLINE[direction])
    return not isinstance(inline, Unresolved) and not any(
        isinstance(rule, Unresolved) for rule in elements(inline)[0]
    )


def _separate_ingress(template: Template) -> list[tuple[SecurityGroupRule, Any]]:
    return list(_separate_rules(template, "ingress"))


def _separate_egress(template: Template) -> list[tuple[SecurityGroupRule, Any]]:
    return list(_separate_rules(template, "egress"))


def _separate_rules(template: Template, direction: Direction) -> Iterator[tuple[SecurityGroupRule, Any]]:
    for resource in template.of_type(_SEPARATE[direction]):
        yield _read(resource, resource.properties, (), direction), resource.get("GroupId")


def _read(
    holder: Resource, rule: Mapping[str, Any], path: FaultPath, direction: Direction
) -> SecurityGroupRule:
    protocol = rule.get("IpProtocol", "-1")
    if not isinstance(protocol, Unresolved):
        protocol = str(scalar_text(protocol)).lower()
        protocol = _PROTOCOL_NAMES.get(protocol, protocol)
    first, last = _port(rule.get("FromPort")), _port(rule.get("ToPort"))
    if first == -1 or last == -1:
        first = last = None
    if first is None and isinstance(last, int):
        first = 0
    if last is None and isinstance(first, int):
        last = first
    kind: Literal["ipv4", "ipv6", "group", "prefix list", "unknown"]
    if _PEER_GROUP[direction] in rule:
        kind, peer = "group", rule[_PEER_GROUP[direction]]
    elif "SourceSecurityGroupName" in rule:
        kind, peer = "unknown", rule["SourceSecurityGroupName"]
    elif _PEER_PREFIX_LIST[direction] in rule:
        kind, peer = "prefix list", rule[_PEER_PREFIX_LIST[direction]]
    elif "CidrIpv6" in rule:
        kind, peer = "ipv6", rule["CidrIpv6"]
    elif "CidrIp" in rule:
        kind, peer = "ipv4", rule["CidrIp"]
    else:
        kind, peer = "unknown", "an unknown peer"
    return SecurityGroupRule(direction, protocol, first, last, kind, peer, holder, path)


def _port(value: Any) -> Any:
    if value is None or isinstance(value, Unresolved):
        return value
    return integer(value)
