"""Whether zones have the instance types."""

from __future__ import annotations

from preflight_account import EXISTING, MADE, OTHER_SUBNET, SUBNET, subnet, with_groups
from preflight_asked import all_ok, asked, only, situation
from told_aws import denied

from hyperpod_lifecycle.preflight.type_offerings import check_type_offerings

NAME = "instance type"
OFFERS = ("ec2", "DescribeInstanceTypeOfferings")


def offers(*pairs):
    kind = "availability-zone-id"
    rows = [{"InstanceType": type, "Location": zone, "LocationType": kind} for type, zone in pairs]
    return {OFFERS: {"InstanceTypeOfferings": rows}}


def test_types_of_the_zone_are_an_indication():
    all_ok(
        asked(NAME, MADE),
        r"^ml.p5.48xlarge for workers: offered in usw2-az1 \(an indication: EC2 says so, and SageMaker has",
    )


def test_ec2_is_asked_without_the_prefix_and_by_zone_id():
    there = situation(MADE)
    list(check_type_offerings(there))
    ((_, _, request),) = [each for each in there.reads._aws.asked if each[1] == OFFERS[1]]
    assert request["LocationType"] == "availability-zone-id"
    assert request["Filters"] == [{"Name": "instance-type", "Values": ["m5.2xlarge", "p5.48xlarge"]}]


def test_the_zone_of_an_existing_subnet_counts():
    found = asked(
        NAME,
        EXISTING,
        {("ec2", "DescribeSubnets"): {"Subnets": [subnet(AvailabilityZoneId="usw2-az3")]}}
        | offers(("m5.2xlarge", "usw2-az3"), ("p5.48xlarge", "usw2-az1"), ("p5.48xlarge", "usw2-az2")),
    )
    only(
        found,
        "problem",
        "workers: EC2 does not offer it in usw2-az3.*; use a subnet in usw2-az1 or usw2-az2$",
    )


def test_a_network_that_is_made_goes_to_another_zone():
    found = asked(NAME, MADE, offers(("m5.2xlarge", "usw2-az1"), ("p5.48xlarge", "usw2-az2")))
    only(found, "problem", "does not offer it in usw2-az1.*; set network.availability_zone_id to usw2-az2$")


def test_a_type_that_no_zone_has():
    found = asked(NAME, MADE, offers(("m5.2xlarge", "usw2-az1")))
    only(found, "problem", "choose another type, or another region: EC2 offers it nowhere in us-west-2")


def test_subnets_in_zones_with_and_without_it():
    spec = {**EXISTING, "network": {**EXISTING["network"], "subnet_ids": [SUBNET, OTHER_SUBNET]}}
    both = {"Subnets": [subnet(), subnet(OTHER_SUBNET, AvailabilityZoneId="usw2-az2")]}
    found = asked(
        NAME,
        spec,
        {("ec2", "DescribeSubnets"): both}
        | offers(("m5.2xlarge", "usw2-az1"), ("m5.2xlarge", "usw2-az2"), ("p5.48xlarge", "usw2-az2")),
    )
    only(
        found, "cannot tell", "offers it in usw2-az2 and not in usw2-az1, and HyperPod takes one of the zones"
    )


def test_a_flexible_group_needs_one_of_its_types():
    spec = with_groups(MADE, instance_type=None, instance_types=["ml.p5.48xlarge", "ml.p5en.48xlarge"])
    all_ok(asked(NAME, spec), "offered in usw2-az1, ml.p5en.48xlarge excepted")


def test_a_subnet_that_is_not_there():
    found = asked(NAME, EXISTING, {("ec2", "DescribeSubnets"): {"Subnets": []}})
    assert {finding.verdict for finding in found} == {"cannot tell"}
    assert "none of its subnets was found" in found[0].text


def test_the_missing_permission_is_named():
    action = "ec2:DescribeInstanceTypeOfferings"
    only(asked(NAME, MADE, {OFFERS: denied(action)}), "cannot tell", f"permit {action}; ask for that action")
