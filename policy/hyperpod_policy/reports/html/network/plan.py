"""Draws where things stand: VPC, zones, subnets, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from markupsafe import Markup

from hyperpod_policy.reports.html.network import svg
from hyperpod_policy.reports.html.network.marks import HEIGHT as MARK
from hyperpod_policy.reports.html.network.marks import Marks, mark
from hyperpod_policy.reports.html.network.model import Member, Network, Subnet, Vpc, Zone

_CARD: Final = 226.0
_GAP: Final = 12.0
_PAD: Final = 14.0
_LINE: Final = 15.0
_HEAD: Final = 44.0
"""Kind and title of a card, above its details."""

_SUBNET_HEAD: Final = 44.0
_ZONE_HEAD: Final = 26.0
_VPC_HEAD: Final = 30.0
_MARGIN: Final = 2.0
_BADGE: Final = 9.0
_WIDEST: Final = 4
"""Columns of cards that fit on a page."""

_TALLEST: Final = 3
"""Cards that stand on each other in a subnet before there is a second column."""


def plan(network: Network, marks: Marks, name: str) -> Markup:
    """Draw a plan.

    Args:
        network: What to draw.
        marks: Findings to show on it.
        name: Unique on the page.
    """
    parts: list[Markup] = []
    y = _MARGIN
    widest = 0.0
    for vpc in network.vpcs:
        drawn, width, height = _vpc(network, vpc, marks, y)
        parts += drawn
        widest = max(widest, width)
        y += height + _GAP
    return svg.drawing(
        name,
        "Where the cluster stands",
        _described(network),
        widest + 2 * _MARGIN,
        y - _GAP + _MARGIN,
        parts,
    )


def _described(network: Network) -> str:
    said = []
    for vpc in network.vpcs:
        for zone in vpc.zones:
            for subnet in zone.subnets:
                inside = network.members_in(subnet)
                if inside:
                    names = ", ".join(f"{member.kind} {member.title}" for member in inside)
                    said.append(f"{subnet.label} in {zone.label} holds {names}.")
    return " ".join(said)


def _vpc(network: Network, vpc: Vpc, marks: Marks, top: float) -> tuple[list[Markup], float, float]:
    left = _MARGIN
    inner: list[Markup] = []
    x = left + _PAD
    y = top + _VPC_HEAD
    tallest = 0.0
    for zone in vpc.zones:
        drawn, width, height = _zone(network, zone, marks, x, y)
        inner += drawn
        x += width + _GAP
        tallest = max(tallest, height)
    width = x - _GAP + _PAD - left
    heading = f"{vpc.label}  {vpc.addresses}".strip()
    width = max(width, len(heading) * svg.BOLD + 2 * _PAD)
    strip, strip_height = _gateways(vpc.gateways, left + _PAD, y + tallest + _GAP, width - 2 * _PAD)
    height = _VPC_HEAD + tallest + strip_height + _PAD
    box = svg.element(
        "rect",
        x=left,
        y=top,
        width=width,
        height=height,
        rx=12,
        class_="vpc" if vpc.is_made else "vpc outside",
    )
    title = svg.text(heading, left + _PAD, top + 20, style="title", room=width - 2 * _PAD, letter=svg.BOLD)
    return [box, title, *inner, *strip], width, height


def _gateways(words: Sequence[str], x: float, y: float, room: float) -> tuple[list[Markup], float]:
    """Draw what leads out of a VPC, in as many rows as it takes."""
    if not words:
        return [], 0.0
    parts = []
    left, top = x, y
    for said in words:
        width = min(len(said) * svg.LETTER + 2 * _PAD, room)
        if left > x and left + width > x + room:
            left, top = x, top + 32
        parts.append(svg.element("rect", x=left, y=top, width=width, height=26, rx=13, class_="gateway"))
        parts.append(svg.text(said, left + _PAD, top + 17, room=width - 2 * _PAD + svg.LETTER))
        left += width + _GAP
    return parts, top - y + 26 + _GAP


def _zone(
    network: Network, zone: Zone, marks: Marks, x: float, y: float
) -> tuple[list[Markup], float, float]:
    columns = max(_columns(network, subnet) for subnet in zone.subnets)
    width = columns * (_CARD + _GAP) - _GAP + 4 * _PAD
    parts: list[Markup] = []
    below = y + _ZONE_HEAD
    for subnet in zone.subnets:
        drawn, height = _subnet(network, subnet, marks, x + _PAD, below, width - 2 * _PAD)
        parts += drawn
        below += height + _GAP
    height = below - _GAP + _PAD - y
    box = svg.element("rect", x=x, y=y, width=width, height=height, rx=10, class_="zone")
    title = svg.text(zone.label, x + _PAD, y + 18, style="sub", room=width - 2 * _PAD)
    return [box, title, *parts], width, height


def _columns(network: Network, subnet: Subnet) -> int:
    return min(max(-(-len(network.members_in(subnet)) // _TALLEST), 1), _WIDEST)


def _subnet(
    network: Network, subnet: Subnet, marks: Marks, x: float, y: float, width: float
) -> tuple[list[Markup], float]:
    members = network.members_in(subnet)
    columns = _columns(network, subnet)
    ends = [y + _SUBNET_HEAD] * columns
    cards: list[Markup] = []
    for number, member in enumerate(members):
        column = number * columns // len(members)
        drawn, height = _card(network, member, marks, x + _PAD + column * (_CARD + _GAP), ends[column])
        cards.append(drawn)
        ends[column] += height + _GAP
    height = max(ends) - (_GAP if members else 0.0) + (_PAD if members else 4.0) - y
    style = " ".join(
        part
        for part, is_so in (("subnet", True), ("public", subnet.is_public), ("outside", not subnet.is_made))
        if is_so
    )
    below = ", ".join(part for part in (subnet.addresses, subnet.way_out) if part)
    room = width - 2 * _PAD
    return [
        svg.element("rect", x=x, y=y, width=width, height=height, rx=8, class_=style),
        svg.text(subnet.label, x + _PAD, y + 18, style="strong", room=room, letter=svg.BOLD),
        svg.text(
            below,
            x + _PAD,
            y + 34,
            style="sub warn" if subnet.is_public else "sub",
            room=room,
            letter=svg.SMALL,
        ),
        mark(marks.about(subnet.spots), x + width - 6, y - MARK / 2),
        *cards,
    ], height


def _card(network: Network, member: Member, marks: Marks, x: float, y: float) -> tuple[Markup, float]:
    height = _HEAD + _LINE * len(member.details)
    room = _CARD - 2 * _PAD + 4
    numbers = network.numbers_of(member)
    beside = len(numbers) * (2 * _BADGE + 4)
    parts = [
        svg.element("title", ", ".join((f"{member.kind} {member.title}", *member.details))),
        svg.element("rect", width=_CARD, height=height, rx=6, class_="card"),
        svg.element("rect", width=4, height=height, rx=2, class_="edge"),
        svg.text(member.kind, _PAD, 17, style="sub", room=room - beside, letter=svg.SMALL),
        svg.text(member.title, _PAD, 34, style="strong", room=room, letter=svg.BOLD),
        *(
            svg.text(line, _PAD, _HEAD + 5 + _LINE * number, room=room)
            for number, line in enumerate(member.details)
        ),
        *badges(numbers, _CARD - _BADGE - 6, 14),
        mark(marks.about(member.spots), _CARD - 6, height - MARK / 2),
    ]
    style = member.kind.replace(" ", "-").lower()
    return svg.element("g", *parts, class_=f"member {style}", transform=f"translate({x:g} {y:g})"), height


def badges(numbers: Sequence[int], right: float, y: float) -> Iterator[Markup]:
    """Draw the numbers of security groups, from right to left.

    Args:
        numbers: The numbers.
        right: Middle of the last one.
        y: Their middle.
    """
    for position, number in enumerate(reversed(numbers)):
        x = right - position * (2 * _BADGE + 4)
        yield svg.element(
            "g",
            svg.element("title", f"security group {number}"),
            svg.element("circle", cx=x, cy=y, r=_BADGE),
            svg.element("text", str(number), x=x, y=y + 4),
            class_="badge",
        )
