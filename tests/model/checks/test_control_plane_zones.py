from __future__ import annotations

import pytest

from hyperpod_model.catalog.regions import regions
from hyperpod_model.checks.control_plane_zones import check_control_plane_zones
from hyperpod_model.faults import UNKNOWN


def test_two_zones_of_the_region_pass() -> None:
    assert check_control_plane_zones(["usw2-az1", "usw2-az2"], region="us-west-2") == []
    assert check_control_plane_zones(["usw2-az1", "usw2-az2"]) == []


def test_unknown_zones_pass() -> None:
    assert check_control_plane_zones([UNKNOWN, UNKNOWN], region=UNKNOWN) == []
    assert check_control_plane_zones(["usw2-az1", UNKNOWN], region="us-west-2") == []


@pytest.mark.parametrize("zones", [[], ["usw2-az1"], ["usw2-az1", "usw2-az2", "usw2-az3"]])
def test_another_count_is_refused(zones: list[str]) -> None:
    (fault,) = check_control_plane_zones(zones, region="us-west-2")
    assert fault.path == ()
    assert fault.message == (
        f"must be 2 Availability Zones, which EKS asks for, got {len(zones)}; name two zones such as "
        "usw2-az1 and usw2-az2"
    )


def test_the_same_zone_twice_is_refused() -> None:
    (fault,) = check_control_plane_zones(["usw2-az1", "usw2-az1"], region="us-west-2")
    assert fault.message == "must be two different Availability Zones, got 'usw2-az1' twice"


def test_a_name_and_a_foreign_zone_are_refused_where_they_stand() -> None:
    faults = check_control_plane_zones(["us-west-2a", "use1-az1"], region="us-west-2")
    assert [fault.path for fault in faults] == [(0,), (1,)]
    assert "got the name 'us-west-2a'" in faults[0].message
    assert "must be a zone of us-west-2" in faults[1].message


EXCLUDED = [
    (name, zone) for name, found in regions().items() for zone in found.zone_ids_without_eks_control_plane
]


def test_the_catalog_has_zones_without_control_plane() -> None:
    assert ("us-east-1", "use1-az3") in EXCLUDED


@pytest.mark.parametrize(("region", "zone"), EXCLUDED)
def test_a_zone_that_eks_does_not_take_is_refused_with_the_others(region: str, zone: str) -> None:
    first = next(other for other in regions()[region].zone_ids if other != zone)
    errors = [
        fault
        for fault in check_control_plane_zones([first, zone], region=region)
        if fault.severity == "error"
    ]
    (fault,) = errors
    assert fault.path == (1,)
    assert fault.message.startswith(f"EKS takes no control plane in '{zone}'; use one of ")
    assert f"{zone}," not in fault.message.split("; ")[1]
