from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.limits import RESERVED_SUBNET_ADDRESSES
from hyperpod_model.checks.addresses import (
    addresses_with_efa_only,
    bottom_subnet,
    check_address_budget,
    check_subnet_ranges,
    file_system_addresses,
    prefix_length_for,
    top_subnet,
    usable_addresses,
)
from hyperpod_model.faults import UNKNOWN, Fault

P5 = ("workers", "ml.p5.48xlarge", 16)


def _message(faults: list[Fault]) -> str:
    (fault,) = faults
    assert fault.severity == "error"
    return fault.message


def test_the_documented_figure_of_p5_is_certain() -> None:
    assert instance_type("ml.p5.48xlarge").slurm_addresses.value == 32
    assert instance_type("ml.p5.48xlarge").eks_addresses.value == 81


@pytest.mark.parametrize(
    ("orchestrator", "prefix_length", "needed", "prefix_needed"),
    [("slurm", 24, 512, 22), ("eks", 22, 1296, 21)],
)
def test_refuses_a_subnet_that_is_too_small_and_names_the_prefix(
    orchestrator: Any, prefix_length: int, needed: int, prefix_needed: int
) -> None:
    message = _message(
        check_address_budget(groups=[P5], orchestrator=orchestrator, prefix_length=prefix_length)
    )
    usable = 2 ** (32 - prefix_length) - 5
    assert message == (
        f"a /{prefix_length} subnet has {usable} usable addresses, the cluster needs {needed} "
        f"(workers 16 x {needed // 16}); use a prefix length of {prefix_needed} or shorter"
    )
    enough = check_address_budget(groups=[P5], orchestrator=orchestrator, prefix_length=prefix_needed)
    assert enough == []


def test_counts_every_group_and_other_addresses() -> None:
    groups = [P5, ("more", "ml.p5.48xlarge", 15), ("spare", "ml.p5.48xlarge", 0)]
    assert (
        check_address_budget(groups=groups, orchestrator="slurm", prefix_length=22, other_addresses=27) == []
    )
    message = _message(
        check_address_budget(groups=groups, orchestrator="slurm", prefix_length=22, other_addresses=28)
    )
    assert "needs 1020 (workers 16 x 32, more 15 x 32, spare 0 x 32, others 28)" in message


def test_figures_in_doubt_are_named_as_estimates() -> None:
    doubtful = instance_type("ml.p5en.48xlarge").slurm_addresses
    assert not doubtful.certain
    each = doubtful.assuming(because="the test compares with it")
    message = _message(
        check_address_budget(
            groups=[("workers", "ml.p5en.48xlarge", 100)], orchestrator="slurm", prefix_length=28
        )
    )
    assert f"workers 100 x ~{each}" in message
    assert "figures with ~ are estimates that addresses_per_node replaces" in message


def test_own_figures_replace_the_catalog() -> None:
    own = {"ml.p5.48xlarge": 1, "ml.new.48xlarge": 2}
    groups = [P5, ("new", "ml.new.48xlarge", 100)]
    assert (
        check_address_budget(groups=groups, orchestrator="slurm", prefix_length=24, addresses_per_node=own)
        == []
    )
    message = _message(
        check_address_budget(groups=groups, orchestrator="slurm", prefix_length=25, addresses_per_node=own)
    )
    assert "workers 16 x 1, new 100 x 2" in message
    assert "~" not in message


@pytest.mark.parametrize(
    "group",
    [(UNKNOWN, "ml.p5.48xlarge", UNKNOWN), ("workers", UNKNOWN, 5000), ("workers", "ml.unheard.of", 5000)],
)
def test_what_is_unknown_counts_as_nothing(group: Any) -> None:
    assert check_address_budget(groups=[group], orchestrator="slurm", prefix_length=28) == []
    assert check_address_budget(groups=[group, P5], orchestrator="slurm", prefix_length=28) != []


def test_an_unnamed_group_still_counts() -> None:
    message = _message(
        check_address_budget(groups=[(UNKNOWN, "ml.p5.48xlarge", 16)], orchestrator="slurm", prefix_length=24)
    )
    assert "a group 16 x 32" in message


def test_an_unknown_subnet_is_compared_with_the_largest() -> None:
    largest = usable_addresses(16)
    fits = ("workers", "ml.p5.48xlarge", largest // 32)
    assert check_address_budget(groups=[fits], orchestrator="slurm", prefix_length=UNKNOWN) == []
    too_many = ("workers", "ml.p5.48xlarge", largest // 32 + 1)
    message = _message(check_address_budget(groups=[too_many], orchestrator="slurm", prefix_length=UNKNOWN))
    assert message.endswith("no subnet is larger than /16, so spread the groups over several subnets")


def test_unknown_other_addresses_count_as_nothing() -> None:
    assert (
        check_address_budget(groups=[P5], orchestrator="slurm", prefix_length=22, other_addresses=UNKNOWN)
        == []
    )


@pytest.mark.parametrize(
    ("addresses", "expected"), [(1, 28), (11, 28), (12, 27), (251, 24), (252, 23), (65531, 16), (65532, None)]
)
def test_prefix_length_is_the_longest_that_does(addresses: int, expected: int | None) -> None:
    assert prefix_length_for(addresses) == expected
    if expected is not None:
        assert usable_addresses(expected) >= addresses
        assert expected == 28 or usable_addresses(expected + 1) < addresses


def test_aws_keeps_some_addresses_of_every_subnet() -> None:
    assert usable_addresses(28) == 16 - RESERVED_SUBNET_ADDRESSES == 11


@pytest.mark.parametrize(("gib", "expected"), [(1200, 2), (2400, 3), (4800, 5), (UNKNOWN, 2)])
def test_a_file_system_takes_an_address_for_each_server(gib: Any, expected: int) -> None:
    assert file_system_addresses(gib) == expected


def test_subnets_stand_at_both_ends_of_the_range() -> None:
    assert top_subnet(vpc_cidr="10.0.0.0/16", prefix_length=17) == "10.0.128.0/17"
    assert top_subnet(vpc_cidr="10.4.0.0/20", prefix_length=28) == "10.4.15.240/28"
    assert bottom_subnet(vpc_cidr="10.0.0.0/16", prefix_length=24) == "10.0.0.0/24"


@pytest.mark.parametrize(
    ("cidr", "lengths"),
    [
        ("10.0.0.0/16", {"accelerator": 17, "public": 24}),
        ("10.0.0.0/16", {"accelerator": 17, "public": 17}),
        ("10.0.0.0/27", {"accelerator": 28, "public": 28}),
        (UNKNOWN, {"accelerator": 16, "public": 28}),
        ("10.0.0.0/16", {"accelerator": UNKNOWN, "public": UNKNOWN}),
    ],
)
def test_legal_ranges_pass(cidr: Any, lengths: Any) -> None:
    assert check_subnet_ranges(vpc_cidr=cidr, prefix_lengths=lengths) == []


@pytest.mark.parametrize(
    ("cidr", "lengths", "expected"),
    [
        (
            "10.0.0.0/16",
            {"accelerator": 15},
            "accelerator: must be from 16 to 28, got 15; AWS has no other subnet sizes",
        ),
        ("10.0.0.0/16", {"public": 29}, "public: must be from 16 to 28, got 29"),
        (UNKNOWN, {"public": 29}, "public: must be from 16 to 28, got 29"),
        ("10.0.0.0/16", {"public": True}, "public: must be from 16 to 28, got True"),
        ("10.0.0.0/16", {"public": "24"}, "public: must be from 16 to 28, got '24'"),
        ("10.0.0.0/15", {}, "vpc_cidr: must have a prefix length from /16 to /28, got '10.0.0.0/15'"),
        ("10.0.0.1/16", {}, "vpc_cidr: must be an IPv4 range such as 10.0.0.0/16, got '10.0.0.1/16'"),
        ("fd00::/56", {}, "vpc_cidr: must be an IPv4 range such as 10.0.0.0/16, got 'fd00::/56'"),
        ("ten", {}, "vpc_cidr: must be an IPv4 range such as 10.0.0.0/16, got 'ten'"),
        (
            "10.0.0.0/17",
            {"accelerator": 17, "public": 24},
            "vpc_cidr: must hold accelerator /17 and public /24, got '10.0.0.0/17' with 32768 addresses; use "
            "a larger range or longer prefixes",
        ),
    ],
)
def test_illegal_ranges_are_refused(cidr: Any, lengths: Any, expected: str) -> None:
    (fault,) = check_subnet_ranges(vpc_cidr=cidr, prefix_lengths=lengths)
    assert str(fault).startswith(expected)


def test_all_faults_of_the_ranges_are_reported_together() -> None:
    faults = check_subnet_ranges(vpc_cidr="ten", prefix_lengths={"accelerator": 9, "public": 30})
    assert [fault.path for fault in faults] == [("accelerator",), ("public",), ("vpc_cidr",)]


def test_a_range_with_host_bits_is_refused_with_the_range_around_it() -> None:
    (fault,) = check_subnet_ranges(vpc_cidr="10.0.1.0/16", prefix_lengths={})
    assert fault.message.endswith("; did you mean 10.0.0.0/16")
    (other,) = check_subnet_ranges(vpc_cidr="10.0.0.300/16", prefix_lengths={})
    assert "did you mean" not in other.message


@pytest.mark.parametrize(
    ("vpc_cidr", "way_out"),
    [("10.0.0.0/16", "use longer prefixes"), ("10.0.0.0/17", "use a larger range or longer prefixes")],
)
def test_no_range_larger_than_the_largest_is_proposed(vpc_cidr: str, way_out: str) -> None:
    (fault,) = check_subnet_ranges(vpc_cidr=vpc_cidr, prefix_lengths={"a": 16, "b": 24})
    assert fault.message.endswith(f"addresses; {way_out}")


def test_interfaces_without_addresses_leave_one_for_the_node() -> None:
    assert addresses_with_efa_only([(P5[1], "efa-only")], "slurm") == {P5[1]: 1}
    pods = instance_type(P5[1]).max_pods.assuming(because="a test compares with it")
    assert addresses_with_efa_only([(P5[1], "efa-only")], "eks") == {P5[1]: pods + 1}


@pytest.mark.parametrize("other", [None, "efa", UNKNOWN])
def test_another_group_of_the_type_keeps_all_its_addresses(other: Any) -> None:
    assert addresses_with_efa_only([(P5[1], "efa-only"), (P5[1], other)], "slurm") == {}


def test_a_type_that_nobody_lists_has_no_figure() -> None:
    assert addresses_with_efa_only([("ml.p9.48xlarge", "efa-only")], "eks") == {}
