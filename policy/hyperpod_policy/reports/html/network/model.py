"""What there is to draw: places, what stands in them, and who reaches which ports of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hyperpod_model.faults import FaultPath

Kind: TypeAlias = Literal[
    "nodes", "control plane", "file system", "endpoints", "function", "NAT gateway", "instance", "other"
]

Breadth: TypeAlias = Literal["self", "group", "addresses", "wide", "world", "unknown"]
"""Whom a rule admits: the group itself, another group, addresses, very many, everybody, or nobody knows."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a template; what was found there shows in the drawing.

    Attributes:
        file: Template it stands in, if that came from a file.
        logical_id: Logical id of the resource.
        path: Below its ``Properties``; empty for the whole resource.
    """

    file: str | None
    logical_id: str
    path: FaultPath = ()


@dataclass(frozen=True, slots=True)
class Member:
    """Something that stands in subnets.

    Attributes:
        kind: What it is.
        title: How to call it.
        details: What else to know, a line each.
        subnets: The subnets it stands in, as resolved.
        groups: Its security groups, as resolved.
        spots: Where the templates speak of it.
    """

    kind: Kind
    title: str
    details: tuple[str, ...]
    subnets: tuple[Hashable, ...]
    groups: tuple[Hashable, ...]
    spots: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet.

    Attributes:
        key: Its id, as resolved.
        label: How to call it.
        addresses: Its address range, in words; empty if unknown.
        way_out: Where its routes lead, in words.
        is_public: Whether they lead to an internet gateway; ``None`` if unknown.
        access_list: Its network ACL, in words.
        is_made: Whether the templates make it.
        spots: Where the templates speak of it.
    """

    key: Hashable
    label: str
    addresses: str
    way_out: str
    is_public: bool | None
    access_list: str
    is_made: bool
    spots: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Zone:
    """An Availability Zone, with subnets of one VPC.

    Attributes:
        label: How to call it.
        subnets: The subnets in it.
    """

    label: str
    subnets: tuple[Subnet, ...]


@dataclass(frozen=True, slots=True)
class Vpc:
    """A VPC.

    Attributes:
        label: How to call it.
        addresses: Its address ranges, in words; empty if unknown.
        is_made: Whether the templates make it.
        zones: Its zones that are drawn.
        gateways: What leads out of it, in words.
    """

    label: str
    addresses: str
    is_made: bool
    zones: tuple[Zone, ...]
    gateways: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A security group.

    Attributes:
        key: Its id, as resolved.
        number: What it is called in the drawing, from 1.
        label: How to call it.
        members: Titles of what is behind it.
        is_known: Whether the templates show all rules by which it admits.
        sends: Where it lets its members send, in words.
        spots: Where the templates speak of it.
    """

    key: Hashable
    number: int
    label: str
    members: tuple[str, ...]
    is_known: bool
    sends: tuple[str, ...]
    spots: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Somebody whom security groups admit.

    Attributes:
        key: Unique in the network.
        label: How to call it.
        detail: What else to know.
        number: Number of the security group that it is, if it is one that is drawn.
        breadth: How many it stands for.
    """

    key: Hashable
    label: str
    detail: str
    number: int | None
    breadth: Breadth


@dataclass(frozen=True, slots=True)
class Admission:
    """What a security group admits from one source.

    Attributes:
        source: Key of the source.
        target: Key of the security group.
        traffic: Protocols and ports, in words.
        breadth: Whom that admits.
        is_certain: Whether the templates tell it for certain.
    """

    source: Hashable
    target: Hashable
    traffic: str
    breadth: Breadth
    is_certain: bool


@dataclass(frozen=True, slots=True)
class Network:
    """The network around the clusters of templates that are reviewed together.

    Attributes:
        vpcs: Where things stand.
        members: What stands there.
        groups: Security groups of the members.
        sources: Whom they admit.
        admissions: To which ports.
        notes: What the drawing does not show, in words.
    """

    vpcs: tuple[Vpc, ...]
    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    sources: tuple[Source, ...]
    admissions: tuple[Admission, ...]
    notes: tuple[str, ...] = ()

    def group(self, key: Hashable) -> Group:
        """Return a security group by its key."""
        return next(group for group in self.groups if group.key == key)

    def source(self, key: Hashable) -> Source:
        """Return a source by its key."""
        return next(source for source in self.sources if source.key == key)

    def members_in(self, subnet: Subnet) -> list[Member]:
        """Return what stands in a subnet."""
        return [member for member in self.members if subnet.key in member.subnets]

    def numbers_of(self, member: Member) -> list[int]:
        """Return the numbers of a member's security groups."""
        return [group.number for group in self.groups if group.key in member.groups]
