"""Whether existing subnets have the addresses."""

from __future__ import annotations

from preflight_account import (
    EXISTING,
    MADE,
    ON_EKS,
    OTHER_SUBNET,
    SECURITY_GROUP,
    SUBNET,
    clusters,
    group,
    restricted,
    subnet,
    with_groups,
)
from preflight_asked import all_ok, asked, only
from told_aws import denied

NAME = "subnet"
DESCRIBE = ("ec2", "DescribeSubnets")


def told(*rows):
    return {DESCRIBE: {"Subnets": list(rows)}}


def free(count):
    return told(subnet(AvailableIpAddressCount=count))


def test_enough_addresses():
    found = asked(NAME, EXISTING)
    all_ok(
        found, r"4000 free addresses in usw2-az1, 129 needed \(controller 1 x ~1, workers 4 x 32; ~ is an est"
    )
    assert len(found) == 1


def test_too_few_addresses():
    only(
        asked(NAME, EXISTING, free(128)),
        "problem",
        "128 free.*129 needed.*; free addresses, name a larger subnet",
    )
    all_ok(asked(NAME, EXISTING, free(129)))


def test_nodes_of_eks_take_more():
    all_ok(asked(NAME, ON_EKS, free(324)), r"324 needed \(workers 4 x 81\)")
    only(asked(NAME, ON_EKS, free(323)), "problem")


def test_interfaces_without_addresses_take_none():
    all_ok(asked(NAME, with_groups(EXISTING, network_interface_type="efa-only"), free(5)), "workers 4 x 1")


def test_nodes_of_restricted_groups_take_them_too():
    all_ok(asked(NAME, restricted(), free(324)), r"324 needed \(nova 4 x 81\)")


def test_the_file_system_takes_addresses_too():
    spec = {**EXISTING, "file_system": {"storage_capacity_gib": 4800}}
    all_ok(asked(NAME, spec), "file system ~5")
    only(asked(NAME, spec, free(133)), "problem", "134 needed")


def test_nodes_that_are_there_have_theirs():
    there = clusters(
        llm_train=[group("workers", "ml.p5.48xlarge", 3), group("controller", "ml.m5.2xlarge", 1)]
    )
    spec = {**EXISTING, "file_system": {"storage_capacity_gib": 4800}}
    all_ok(asked(NAME, spec, {**there, **free(32)}), r"32 needed \(controller 0 x ~1, workers 1 x 32\)")
    only(asked(NAME, spec, {**there, **free(31)}), "problem")


def test_subnets_of_one_zone_add_up():
    spec = {**EXISTING, "network": {**EXISTING["network"], "subnet_ids": [SUBNET, OTHER_SUBNET]}}
    halves = [subnet(AvailableIpAddressCount=65), subnet(OTHER_SUBNET, AvailableIpAddressCount=64)]
    all_ok(asked(NAME, spec, told(*halves)), "129 free addresses in usw2-az1")


def test_subnets_of_several_zones_do_not():
    spec = {**EXISTING, "network": {**EXISTING["network"], "subnet_ids": [SUBNET, OTHER_SUBNET]}}
    other = {"AvailabilityZoneId": "usw2-az2"}
    small = subnet(OTHER_SUBNET, AvailableIpAddressCount=64, **other)
    only(
        asked(NAME, spec, told(subnet(), small)),
        "cannot tell",
        "64 free addresses in usw2-az2.*not every zone",
    )
    both = [subnet(AvailableIpAddressCount=65), small]
    only(asked(NAME, spec, told(*both)), "problem", "65 free addresses in usw2-az1, 64 free")


def test_a_group_with_subnets_of_its_own_counts_there():
    spec = with_groups(
        EXISTING, override_subnet_ids=[OTHER_SUBNET], override_security_group_ids=[SECURITY_GROUP]
    )
    found = asked(NAME, spec, told(subnet(AvailableIpAddressCount=1), subnet(OTHER_SUBNET)))
    all_ok(found, f"^{SUBNET}: 1 free.*1 needed", f"^{OTHER_SUBNET}: 4000 free.*128 needed")


def test_a_subnet_that_is_not_there():
    only(
        asked(NAME, EXISTING, told()),
        "problem",
        "no such subnet in us-west-2 for account 111122223333; name one",
    )


def test_a_subnet_in_trouble():
    only(asked(NAME, EXISTING, told(subnet(State="failed"))), "problem", "it is failed; wait")


def test_a_subnet_of_another_vpc():
    found = asked(NAME, EXISTING, told(subnet(VpcId="vpc-0fedcba9876543210")))
    only(found, "problem", "of vpc-0fedcba9876543210, and network.vpc_id is vpc-0123456789abcdef0")


def test_subnets_of_two_vpcs():
    network = {"subnet_ids": [SUBNET, OTHER_SUBNET], "security_group_ids": [SECURITY_GROUP]}
    rows = [subnet(), subnet(OTHER_SUBNET, VpcId="vpc-0fedcba9876543210")]
    only(
        asked(NAME, {**EXISTING, "network": network}, told(*rows)),
        "problem",
        "of 2 VPCs: .*; keep to one VPC",
    )


def test_the_control_planes_subnets_must_be_there():
    eks = {"dependency_chart": {"oci_uri": "oci://r.example.com/c", "version": "0.1.0"}}
    spec = {**ON_EKS, "eks": {**eks, "control_plane_subnet_ids": [SUBNET, OTHER_SUBNET]}}
    only(asked(NAME, spec), "problem", f"^{OTHER_SUBNET}: there is no such subnet")


def test_a_type_that_the_catalog_lacks():
    spec = {**with_groups(EXISTING, instance_type="ml.p99.48xlarge")}
    spec["unlisted_instance_types"] = ["ml.p99.48xlarge"]
    only(asked(NAME, spec), "cannot tell", "1 needed.*the catalog has no type of workers")


def test_a_network_that_is_made():
    only(asked(NAME, MADE), "not applicable", "checked at synthesis")


def test_the_missing_permission_is_named():
    action = "ec2:DescribeSubnets"
    only(
        asked(NAME, EXISTING, {DESCRIBE: denied(action)}),
        "cannot tell",
        f"permit {action}; ask for that action",
    )


def test_a_flexible_group_counts_with_its_hungriest_type():
    types = ["ml.m5.2xlarge", "ml.p5.48xlarge", "ml.g5.8xlarge"]
    spec = with_groups(EXISTING, instance_type=None, instance_types=types)
    all_ok(asked(NAME, spec), "workers 4 x 32")
