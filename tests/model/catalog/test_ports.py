from __future__ import annotations

import pytest

from hyperpod_model.catalog import ports
from hyperpod_model.catalog.ports import PortRange


def expand(ranges: tuple[PortRange, ...]) -> set[tuple[str, int]]:
    return {(found.protocol, port) for found in ranges for port in range(found.first, found.last + 1)}


def test_tiered_checkpointing_listens_on_the_documented_ports():
    udp = (9209, 9210, 9219, 9220, 9229, 9230, 9239, 9240)
    assert expand(ports.TIERED_CHECKPOINTING_LISTENERS) == {("tcp", 9200), *(("udp", port) for port in udp)}


def test_the_closed_ranges_cover_every_listener():
    assert expand(ports.TIERED_CHECKPOINTING_LISTENERS) < expand(ports.TIERED_CHECKPOINTING)


def test_lustre_has_the_wider_of_the_two_documented_ranges():
    assert expand(ports.LUSTRE) == {("tcp", 988), *(("tcp", port) for port in range(1018, 1024))}


@pytest.mark.parametrize(
    ("protocol", "first", "last", "reached"),
    [
        ("-1", None, None, True),
        ("-1", 1, 2, True),
        ("all", None, None, True),
        ("udp", None, None, True),
        ("udp", -1, -1, True),
        ("udp", 9209, 9240, True),
        ("udp", 1, 9209, True),
        ("udp", 9240, 65535, True),
        ("UDP", 9210, None, True),
        ("17", 9210, 9210, True),
        ("udp", 1, 9208, False),
        ("udp", 9241, 65535, False),
        ("udp", 9208, None, False),
        ("tcp", 9209, 9240, False),
        ("6", 9209, 9240, False),
        ("icmp", -1, -1, False),
        ("58", None, None, False),
    ],
)
def test_overlap(protocol: str, first: int | None, last: int | None, reached: bool):
    assert PortRange("udp", 9209, 9240).overlaps(protocol, first, last) is reached


def test_text():
    assert str(PortRange("tcp", 988, 988)) == "tcp 988"
    assert str(PortRange("tcp", 1018, 1023)) == "tcp 1018-1023"


@pytest.mark.parametrize(
    "ranges",
    [ports.LINUX_EPHEMERAL, ports.CHECKPOINTLESS_EPHEMERAL, ports.NAT_GATEWAY_EPHEMERAL],
)
def test_ephemeral_ranges_are_for_both_protocols(ranges: tuple[PortRange, ...]):
    assert {found.protocol for found in ranges} == {"tcp", "udp"}


def test_every_range_is_in_order():
    for name in vars(ports):
        if name.isupper() and not name.startswith("_"):
            for found in getattr(ports, name):
                assert 0 < found.first <= found.last <= 65535, name
