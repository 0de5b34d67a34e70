from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperpod_model.checks.subnet_layout import SubnetLayout, check_subnet_layout, lay_out_subnets
from hyperpod_model.faults import UNKNOWN

FRONT = ("public_subnet_prefix_length", 24)


def _check(**options: Any) -> list[tuple[tuple[Any, ...], str]]:
    said = {
        "vpc_cidr": "10.0.0.0/16",
        "accelerator_subnet_prefix_length": 17,
        "front": FRONT,
        "control_plane_subnet_prefix_length": 24,
        **options,
    }
    return [(fault.path, fault.message) for fault in check_subnet_layout(**said)]


def test_the_usual_network_has_room_for_a_control_plane() -> None:
    assert _check() == []
    assert lay_out_subnets(
        vpc_cidr="10.0.0.0/16",
        accelerator_subnet_prefix_length=17,
        front_prefix_length=24,
        control_plane_subnet_prefix_length=24,
    ) == SubnetLayout("10.0.128.0/17", "10.0.0.0/24", ("10.0.1.0/24", "10.0.2.0/24"))


def test_no_control_plane_takes_no_room() -> None:
    assert _check(vpc_cidr="10.0.0.0/23", accelerator_subnet_prefix_length=24) != []
    assert (
        _check(
            vpc_cidr="10.0.0.0/23",
            accelerator_subnet_prefix_length=24,
            control_plane_subnet_prefix_length=None,
        )
        == []
    )


@pytest.mark.parametrize("unknown", ["vpc_cidr", "accelerator_subnet_prefix_length"])
def test_unknown_values_pass(unknown: str) -> None:
    assert _check(**{unknown: UNKNOWN}) == []


@pytest.mark.parametrize("length", [23, 29, "24", True])
def test_other_sizes_of_the_control_plane_are_refused(length: Any) -> None:
    ((path, message),) = _check(control_plane_subnet_prefix_length=length)
    assert path == ("control_plane_subnet_prefix_length",)
    assert message == (f"must be from 24 to 28, got {length!r}; EKS recommends 16 addresses, which /28 has")


def test_a_vpc_without_room_is_refused_with_what_it_must_hold() -> None:
    ((path, message),) = _check(
        vpc_cidr="10.0.0.0/22",
        accelerator_subnet_prefix_length=23,
        front=("endpoint_subnet_prefix_length", 26),
        control_plane_subnet_prefix_length=24,
    )
    assert path == ("vpc_cidr",)
    assert message == (
        "must hold accelerator_subnet_prefix_length /23, endpoint_subnet_prefix_length /26 and 2 x "
        "control_plane_subnet_prefix_length /24, got '10.0.0.0/22'; use a larger range or longer prefixes"
    )


@given(
    vpc=st.integers(16, 28),
    accelerator=st.integers(16, 28),
    front=st.integers(16, 28),
    control_plane=st.integers(24, 28) | st.none(),
)
def test_what_passes_lies_in_the_vpc_without_overlap(
    vpc: int, accelerator: int, front: int, control_plane: int | None
) -> None:
    cidr = f"10.0.0.0/{vpc}"
    if _check(
        vpc_cidr=cidr,
        accelerator_subnet_prefix_length=accelerator,
        front=("public_subnet_prefix_length", front),
        control_plane_subnet_prefix_length=control_plane,
    ):
        return
    layout = lay_out_subnets(
        vpc_cidr=cidr,
        accelerator_subnet_prefix_length=accelerator,
        front_prefix_length=front,
        control_plane_subnet_prefix_length=control_plane,
    )
    subnets = [IPv4Network(text) for text in (layout.accelerator, layout.front, *layout.control_plane)]
    assert all(subnet.subnet_of(IPv4Network(cidr)) for subnet in subnets)
    for number, one in enumerate(subnets):
        assert not any(one.overlaps(other) for other in subnets[number + 1 :])
