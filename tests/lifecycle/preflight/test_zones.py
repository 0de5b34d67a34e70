"""Whether zones are open to the account."""

from __future__ import annotations

import pytest
from preflight_account import EXISTING, MADE, WITH_EKS, zone
from preflight_asked import all_ok, asked, only
from told_aws import Refusal

ZONES = ("ec2", "DescribeAvailabilityZones")


def told(*rows):
    return {ZONES: {"AvailabilityZones": list(rows)}}


def test_a_zone_of_the_account():
    all_ok(asked("zone", MADE), "it is us-west-2a in this account, and available")


def test_zones_of_the_control_plane_count_too():
    all_ok(asked("zone", WITH_EKS), "^usw2-az1", "^usw2-az2")
    only(
        asked("zone", WITH_EKS, told(zone("usw2-az1"))), "problem", "^usw2-az2: the account has no such zone"
    )


def test_a_zone_that_the_account_lacks():
    found = asked("zone", MADE, told(zone("usw2-az2"), zone("usw2-lax1-az1", ZoneType="local-zone")))
    only(found, "problem", "no such zone in us-west-2; choose one of usw2-az2$")


@pytest.mark.parametrize("state", ["impaired", "unavailable", "constrained"])
def test_a_zone_in_trouble(state):
    row = zone("usw2-az1", State=state, Messages=[{"Message": "a fire"}])
    only(asked("zone", MADE, told(row)), "problem", rf"the zone is {state} \(a fire\); wait")


def test_a_zone_with_news_is_well():
    all_ok(asked("zone", MADE, told(zone("usw2-az1", State="information"))))


def test_an_existing_network_needs_none():
    only(asked("zone", EXISTING), "not applicable", "no network is made")


def test_the_missing_permission_is_named():
    refusal = Refusal("UnauthorizedOperation", "You are not authorized to perform this operation.", 403)
    only(asked("zone", MADE, {ZONES: refusal}), "cannot tell", "ec2:DescribeAvailabilityZones; ask for that")
