"""Whether existing security groups let EFA through."""

from __future__ import annotations

import pytest
from preflight_account import EXISTING, MADE, SECURITY_GROUP, security_group, with_groups
from preflight_asked import all_ok, asked, only
from told_aws import denied

NAME = "security group"
DESCRIBE = ("ec2", "DescribeSecurityGroups")
EVERYWHERE = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
TCP = [
    {"IpProtocol": "tcp", "FromPort": 0, "ToPort": 65535, "UserIdGroupPairs": [{"GroupId": SECURITY_GROUP}]}
]
OTHER = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-0fedcba9876543210"}]}]


def told(**more):
    return {DESCRIBE: {"SecurityGroups": [security_group(**more)]}}


def test_both_rules():
    all_ok(asked(NAME, EXISTING), "it allows all traffic from and to itself")


def test_an_open_rule_beside_them_does_no_harm():
    both = security_group()["IpPermissionsEgress"] + EVERYWHERE
    all_ok(asked(NAME, EXISTING, told(IpPermissionsEgress=both)))


@pytest.mark.parametrize("rules", [[], EVERYWHERE, TCP, OTHER])
@pytest.mark.parametrize(("member", "word"), [("IpPermissions", "from"), ("IpPermissionsEgress", "to")])
def test_nothing_stands_in_for_a_rule(member, word, rules):
    found = only(
        asked(NAME, EXISTING, told(**{member: rules})),
        "problem",
        f"no rule allows all traffic {word} itself, which EFA of workers needs; aws ec2 authorize-sec",
    )
    assert ("egress" in found.remedy) == (word == "to")


def test_both_are_missing():
    found = asked(NAME, EXISTING, told(IpPermissions=[], IpPermissionsEgress=EVERYWHERE))
    only(found, "problem", "all traffic from and to itself.*ingress .* and aws ec2 .*egress")


def test_groups_without_efa_need_none():
    spec = with_groups(EXISTING, instance_type="ml.m5.2xlarge")
    all_ok(asked(NAME, spec, told(IpPermissions=[])), "no group with EFA uses it")


def test_a_security_group_that_is_not_there():
    only(
        asked(NAME, EXISTING, {DESCRIBE: {"SecurityGroups": []}}),
        "problem",
        "no such security group in us-west-2",
    )


def test_a_security_group_of_another_vpc():
    found = asked(NAME, EXISTING, told(VpcId="vpc-0fedcba9876543210"))
    only(found, "problem", "it is of vpc-0fedcba9876543210, the subnets of vpc-0123456789abcdef0")


def test_rules_are_read_though_subnets_are_not():
    found = asked(NAME, EXISTING, {("ec2", "DescribeSubnets"): denied("ec2:DescribeSubnets")})
    all_ok(found, "it allows all traffic")


def test_a_security_group_that_is_made():
    only(asked(NAME, MADE), "not applicable", "the security group is made")


def test_the_missing_permission_is_named():
    action = "ec2:DescribeSecurityGroups"
    only(
        asked(NAME, EXISTING, {DESCRIBE: denied(action)}),
        "cannot tell",
        f"permit {action}; ask for that action",
    )
