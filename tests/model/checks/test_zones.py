from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.checks.zones import check_availability_zone_id
from hyperpod_model.faults import UNKNOWN


@pytest.mark.parametrize(
    ("zone", "region"),
    [
        ("usw2-az1", "us-west-2"),
        ("usw2-az1", None),
        ("usw2-az1", UNKNOWN),
        ("usw2-lax1-az1", None),
        ("use1-az6", "us-east-1"),
        ("xyz1-az1", "xy-nowhere-1"),
        (UNKNOWN, "us-west-2"),
    ],
)
def test_ids_pass(zone: Any, region: Any) -> None:
    assert check_availability_zone_id(zone, region=region) == []


@pytest.mark.parametrize("name", ["us-west-2a", "eu-isoe-west-1b", "us-gov-west-1c"])
def test_a_zone_name_is_refused(name: str) -> None:
    (fault,) = check_availability_zone_id(name)
    assert fault.severity == "error"
    assert f"must be the id of an Availability Zone, got the name '{name}'" in fault.message
    assert fault.message.endswith("use an id such as usw2-az1")


@pytest.mark.parametrize("text", ["", "us-west-2", "az1", "USW2-AZ1", "usw2-az"])
def test_other_text_is_refused(text: str) -> None:
    (fault,) = check_availability_zone_id(text, region="us-west-2")
    assert fault.message.startswith(
        f"must be the id of an Availability Zone, got {text!r}; use one of usw2-az1,"
    )


def test_a_zone_of_another_region_is_refused() -> None:
    (fault,) = check_availability_zone_id("use1-az1", region="us-west-2")
    assert fault.severity == "error"
    assert fault.message.startswith(
        "must be a zone of us-west-2, got 'use1-az1' of us-east-1; use one of usw2-az1"
    )


def test_a_zone_of_another_region_is_refused_where_the_region_s_own_are_unknown() -> None:
    (fault,) = check_availability_zone_id("usw2-az1", region="us-iso-east-1")
    assert fault.message == "must be a zone of us-iso-east-1, got 'usw2-az1' of us-west-2; use one of its own"
    assert check_availability_zone_id("usi1-az1", region="us-iso-east-1") == []


def test_a_zone_that_the_catalog_does_not_list_is_a_warning() -> None:
    (fault,) = check_availability_zone_id("usw2-lax1-az1", region="us-west-2")
    assert fault.severity == "warning"
    assert "'usw2-lax1-az1' is not a known zone of us-west-2" in fault.message
