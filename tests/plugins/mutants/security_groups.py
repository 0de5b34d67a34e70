"""Weakenings of security groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mutants.mutant import Mutant, Path, Template, mutant

_SEPARATE = {"AWS::EC2::SecurityGroupIngress": "ingress", "AWS::EC2::SecurityGroupEgress": "egress"}
_INLINE = {"SecurityGroupIngress": "ingress", "SecurityGroupEgress": "egress"}
_PEERS = frozenset(
    {
        "CidrIp",
        "CidrIpv6",
        "SourceSecurityGroupId",
        "DestinationSecurityGroupId",
        "SourcePrefixListId",
        "DestinationPrefixListId",
    }
)
_PORTS = ("IpProtocol", "FromPort", "ToPort")

_OPENINGS: Mapping[str, Mapping[str, Any]] = {
    "SSH from everywhere": {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "0.0.0.0/0"},
    "SSH from everywhere by IPv6": {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIpv6": "::/0"},
    "everything from everywhere": {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"},
    "everything from the VPC": {"IpProtocol": "-1", "CidrIp": "10.0.0.0/16"},
    "everything from another group": {"IpProtocol": "-1", "SourceSecurityGroupId": "sg-0123456789abcdef0"},
    "everything from a prefix list": {"IpProtocol": "-1", "SourcePrefixListId": "pl-0123456789abcdef0"},
    "9200/tcp from the VPC": {"IpProtocol": "tcp", "FromPort": 9200, "ToPort": 9200, "CidrIp": "10.0.0.0/16"},
    "9240/udp from the VPC": {"IpProtocol": "udp", "FromPort": 9240, "ToPort": 9240, "CidrIp": "10.0.0.0/16"},
    "all ports from half the world": {
        "IpProtocol": "tcp",
        "FromPort": 0,
        "ToPort": 65535,
        "CidrIp": "0.0.0.0/1",
    },
    "the file system's port from everywhere": {
        "IpProtocol": "tcp",
        "FromPort": 988,
        "ToPort": 988,
        "CidrIp": "0.0.0.0/0",
    },
    "HTTPS from everywhere": {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"},
    "the kubelet from the VPC": {
        "IpProtocol": "tcp",
        "FromPort": 10250,
        "ToPort": 10250,
        "CidrIp": "10.0.0.0/16",
    },
}
_WAYS_OUT: Mapping[str, Mapping[str, Any]] = {
    "everything to everywhere": {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"},
    "everything to everywhere by IPv6": {"IpProtocol": "-1", "CidrIpv6": "::/0"},
    "all ports to everywhere": {"IpProtocol": "tcp", "FromPort": 0, "ToPort": 65535, "CidrIp": "0.0.0.0/0"},
}


def security_group_mutants(template: Template, name: str) -> Iterator[Mutant]:
    """Every widening of the rules of a security group, or of a separate rule."""
    resource = template["Resources"][name]
    properties = resource["Properties"]
    direction = _SEPARATE.get(resource["Type"])
    if direction is not None:
        yield from _widened(template, name, (), properties, direction)
    if resource["Type"] != "AWS::EC2::SecurityGroup":
        return
    for member, inline_direction in _INLINE.items():
        for position, rule in enumerate(properties.get(member, ())):
            yield from _widened(template, name, (member, position), rule, inline_direction)
    for member, added in (("SecurityGroupIngress", _OPENINGS), ("SecurityGroupEgress", _WAYS_OUT)):
        for words, rule in added.items():
            listed = [*properties.get(member, ()), dict(rule)]
            yield mutant(template, name, (member,), f"gets {words}", listed)


def _widened(
    template: Template, name: str, path: Path, rule: Mapping[str, Any], direction: str
) -> Iterator[Mutant]:
    def changed(change: str, new: Mapping[str, Any]) -> Mutant:
        if path:
            return mutant(template, name, path, change, new)
        kind = template["Resources"][name]["Type"]
        return Mutant(name, kind, (), change, (((name, "Properties"), new),))

    side = "Source" if direction == "ingress" else "Destination"
    target = {key: item for key, item in rule.items() if key not in _PEERS}
    for words, peer in (
        ("everywhere", {"CidrIp": "0.0.0.0/0"}),
        ("everywhere by IPv6", {"CidrIpv6": "::/0"}),
        ("the VPC", {"CidrIp": "10.0.0.0/16"}),
        ("a private range", {"CidrIp": "10.0.0.0/8"}),
        ("another group", {f"{side}SecurityGroupId": "sg-0123456789abcdef0"}),
        ("a prefix list", {f"{side}PrefixListId": "pl-0123456789abcdef0"}),
    ):
        if any(rule.get(key) != item for key, item in peer.items()):
            yield changed(f"is about {words}", {**target, **peer})
    same = {key: item for key, item in rule.items() if key not in _PORTS}
    if rule["IpProtocol"] != "-1":
        yield changed("is about all traffic", {**same, "IpProtocol": "-1"})
    if rule["IpProtocol"] in ("tcp", "udp"):
        other = "udp" if rule["IpProtocol"] == "tcp" else "tcp"
        yield changed("begins at port 0", {**rule, "FromPort": 0})
        yield changed("goes on to port 65535", {**rule, "ToPort": 65535})
        yield changed("is about all ports", {**rule, "FromPort": 0, "ToPort": 65535})
        yield changed(f"is about {other}", {**rule, "IpProtocol": other})
        if rule["FromPort"] < rule["ToPort"]:
            yield changed("lacks its last port", {**rule, "ToPort": rule["ToPort"] - 1})
            yield changed("lacks its first port", {**rule, "FromPort": rule["FromPort"] + 1})
    elif rule["IpProtocol"] == "-1":
        yield changed("is about TCP", {**same, "IpProtocol": "tcp", "FromPort": 0, "ToPort": 65535})
