"""Rules of security groups: as EC2 reads them, tells them apart and keeps their descriptions."""

from __future__ import annotations

from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.security_groups import (
    GroupedSecurityRuleView,
    SecurityGroup,
    SecurityGroupRule,
)

from aws_double.services.ec2.overriding import invalid, override
from aws_double.services.ec2.ranges import canonical_range

_NAMES = {"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6", "all": "-1"}
_WITH_PORTS = ("tcp", "udp")
_WITH_TYPES = ("icmp", "icmpv6")
_ALL_TYPES = (-1, -1)

_make_rule = SecurityGroupRule.__init__


def __init__(
    rule: Any,
    ec2_backend: Any,
    ip_protocol: str,
    group_id: str,
    from_port: Any,
    to_port: Any,
    ip_range: dict[str, str] | None,
    source_group: dict[str, str] | None = None,
    prefix_list_id: dict[str, str] | None = None,
    is_egress: bool = True,
    tags: dict[str, str] | None = None,
) -> None:
    protocol = protocol_name(ip_protocol)
    ports = port_range(protocol, from_port, to_port)
    _make_rule(
        rule,
        ec2_backend,
        "-1",  # moto reads ports of all other protocols, those without ports too
        group_id,
        None,
        None,
        _canonical(ip_range),
        source_group,
        prefix_list_id,
        is_egress,
        tags,
    )
    rule.ip_protocol = protocol
    rule.from_port, rule.to_port = ports
    rule.prefix_list = {} if prefix_list_id is None else dict(prefix_list_id)


def __eq__(rule: Any, other: object) -> bool:
    """Tell whether two rules are the same to EC2: a description makes no difference."""
    return isinstance(other, SecurityGroupRule) and _identity(rule) == _identity(other)


def _flattened_rules(_group: Any, rules: list[Any]) -> list[GroupedSecurityRuleView]:
    """Gather rules by protocol and ports; moto drops descriptions of prefix lists."""
    views: dict[tuple[Any, ...], GroupedSecurityRuleView] = {}
    for rule in rules:
        key = (rule.from_port, rule.to_port, rule.ip_protocol)
        view = views.setdefault(key, GroupedSecurityRuleView(*key))
        for peer, gathered in (
            (rule.ip_range, view.all_ip_ranges),
            (rule.source_group, view.source_groups),
            (rule.prefix_list, view.prefix_list_ids),
        ):
            if peer:
                gathered.append(peer)
    return list(views.values())


def describe(rule: Any, description: str | None) -> None:
    """Give a rule another description, or none."""
    for peer in (rule.ip_range, rule.source_group, rule.prefix_list):
        if peer:
            peer.pop("Description", None)
            if description is not None:
                peer["Description"] = description


def protocol_name(protocol: str | None) -> str:
    """Return a protocol as EC2 tells it.

    Raises:
        EC2ClientError: If there is no such protocol.
    """
    name = _NAMES.get(str(protocol).lower(), str(protocol).lower())
    if name not in (*_NAMES.values(), *map(str, range(256))):
        raise invalid(f"Invalid value '{protocol}' for IP protocol. Unknown protocol.")
    return name


def port_range(protocol: str, first: Any, last: Any) -> tuple[int | None, int | None]:
    """Return the ports, or type and code of ICMP, that count for a protocol.

    Raises:
        EC2ClientError: If they are missing or out of range.
    """
    if protocol == "icmpv6" and first is None and last is None:
        return _ALL_TYPES
    if protocol not in (*_WITH_PORTS, *_WITH_TYPES):
        return None, None
    if first is None or last is None:
        kind = "TCP/UDP" if protocol in _WITH_PORTS else "ICMP"
        raise invalid(f"Invalid value 'Must specify both from and to ports with {kind}.' for portRange.")
    first, last = int(first), int(last)
    if protocol in _WITH_PORTS and not 0 <= first <= last <= 65535:
        raise invalid(f"Invalid TCP/UDP port range ({first}:{last})")
    if protocol in _WITH_TYPES and not (
        -1 <= first <= 255 and -1 <= last <= 255 and (first, last) >= _ALL_TYPES
    ):
        raise invalid(f"ICMP code ({last}) out of range")
    if protocol in _WITH_TYPES and first == -1 and last != -1:
        raise invalid(f"ICMP code ({last}) is not valid for all types")
    return first, last


def _canonical(ip_range: dict[str, str] | None) -> dict[str, str] | None:
    if ip_range is None:
        return None
    found = dict(ip_range)
    for key, version in (("CidrIp", 4), ("CidrIpv6", 6)):
        if key in found:
            found[key] = canonical_range(found[key], version=version)
    return found


def _identity(rule: Any) -> tuple[Any, ...]:
    return (
        rule.ip_protocol,
        rule.from_port,
        rule.to_port,
        rule.ip_range.get("CidrIp"),
        rule.ip_range.get("CidrIpv6"),
        rule.source_group.get("GroupId"),
        rule.prefix_list.get("PrefixListId"),
    )


def _description(rule: Any) -> str | None:
    for peer in (rule.ip_range, rule.source_group, rule.prefix_list):
        if "Description" in peer:
            return str(peer["Description"])
    return None


def check_prefix_list(backend: Any, prefix_list_id: str) -> None:
    """Refuse a prefix list that is not there.

    Raises:
        EC2ClientError: As EC2 does.
    """
    if prefix_list_id not in backend.managed_prefix_lists:
        raise EC2ClientError(
            "InvalidPrefixListID.NotFound", f"The prefix list ID '{prefix_list_id}' does not exist"
        )


def install() -> None:
    """Put these in the place of moto's."""
    override(SecurityGroupRule, __init__, __eq__)
    override(SecurityGroup, _flattened_rules)
    SecurityGroupRule.description = property(_description)  # type: ignore[assignment,method-assign]
