"""Security groups of the double: rules of every form come, are told and go, and wrong ones are refused."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete, update
from read_back import READERS
from read_back.ec2 import group_rules
from told import assert_gone, assert_told, live

from aws_double.resource import Resource, ResourceFailure
from aws_double.resources.security_groups import INGRESS
from aws_double.session import Session

PREFIX_LIST = "the prefix list of S3"
ITSELF = "the group itself"
OTHER = "another group"

RULES: dict[str, dict[str, Any]] = {
    "all traffic of a range": {"IpProtocol": "-1", "CidrIp": "10.0.0.0/16"},
    "one TCP port": {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "CidrIp": "10.0.0.0/16"},
    "TCP ports": {"IpProtocol": "tcp", "FromPort": 1018, "ToPort": 1023, "CidrIp": "0.0.0.0/0"},
    "UDP ports": {"IpProtocol": "udp", "FromPort": 9209, "ToPort": 9240, "CidrIp": "10.0.0.0/24"},
    "IPv6": {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIpv6": "::/0"},
    "all traffic of IPv6": {"IpProtocol": "-1", "CidrIpv6": "fd00::/8"},
    "CDK's rule for nothing": {
        "IpProtocol": "icmp",
        "FromPort": 252,
        "ToPort": 86,
        "CidrIp": "255.255.255.255/32",
        "Description": "Disallow all traffic",
    },
    "all of ICMP": {"IpProtocol": "icmp", "FromPort": -1, "ToPort": -1, "CidrIp": "10.0.0.0/8"},
    "ICMP of IPv6": {"IpProtocol": "icmpv6", "FromPort": 128, "ToPort": -1, "CidrIpv6": "::/0"},
    "a protocol without ports": {"IpProtocol": "50", "CidrIp": "10.0.0.0/8"},
    "a described range": {
        "IpProtocol": "tcp",
        "FromPort": 443,
        "ToPort": 443,
        "CidrIp": "10.0.0.0/8",
        "Description": "HTTPS, from everywhere",
    },
    "itself": {"IpProtocol": "-1", "Group": ITSELF, "Description": "EFA: all traffic of this group"},
    "another group": {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "Group": OTHER},
    "a described group": {"IpProtocol": "-1", "Group": OTHER, "Description": "from the others"},
    "a prefix list": {
        "IpProtocol": "tcp",
        "FromPort": 443,
        "ToPort": 443,
        "PrefixList": PREFIX_LIST,
        "Description": "S3",
    },
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no end": ({"IpProtocol": "-1"}, "exactly one of CidrIp, .* got none"),
    "two ends": (
        {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0", "CidrIpv6": "::/0"},
        "got CidrIp, CidrIpv6",
    ),
    "no such protocol": ({"IpProtocol": "tpc", "CidrIp": "0.0.0.0/0"}, "Unknown protocol"),
    "no ports": ({"IpProtocol": "tcp", "CidrIp": "0.0.0.0/0"}, "both from and to ports with TCP/UDP"),
    "no types": ({"IpProtocol": "icmp", "CidrIp": "0.0.0.0/0"}, "both from and to ports with ICMP"),
    "ports backwards": (
        {"IpProtocol": "tcp", "FromPort": 10, "ToPort": 5, "CidrIp": "0.0.0.0/0"},
        r"Invalid TCP/UDP port range \(10:5\)",
    ),
    "no such port": (
        {"IpProtocol": "udp", "FromPort": 1, "ToPort": 65536, "CidrIp": "0.0.0.0/0"},
        "Invalid TCP/UDP port range",
    ),
    "no such code": (
        {"IpProtocol": "icmp", "FromPort": 8, "ToPort": 256, "CidrIp": "0.0.0.0/0"},
        r"ICMP code \(256\) out of range",
    ),
    "a code of all types": (
        {"IpProtocol": "icmp", "FromPort": -1, "ToPort": 3, "CidrIp": "0.0.0.0/0"},
        "not valid for all types",
    ),
    "no range": ({"IpProtocol": "-1", "CidrIp": "10.0.0.1"}, "no IPv4 CIDR block"),
    "the other IP version": ({"IpProtocol": "-1", "CidrIp": "::/0"}, "no IPv4 CIDR block"),
    "no such group": ({"IpProtocol": "-1", "Group": "sg-0123456789abcdef0"}, "InvalidGroup.NotFound"),
    "no such prefix list": (
        {"IpProtocol": "-1", "PrefixList": "pl-0123456789abcdef0"},
        "InvalidPrefixListID.NotFound",
    ),
    "a description that EC2 refuses": (
        {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0", "Description": "the nodes' own"},
        "for parameter description is invalid",
    ),
}


@pytest.fixture(scope="module")
def vpc(root: Session) -> str:
    return create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16").physical_id


@pytest.fixture
def group(root: Session, vpc: str) -> Resource:
    return _group(root, vpc)


def _group(root: Session, vpc: str, **properties: Any) -> Resource:
    return create(root, "AWS::EC2::SecurityGroup", GroupDescription="nodes", VpcId=vpc, **properties)


def _rule(root: Session, group: Resource, other: str, form: dict[str, Any], end: str) -> dict[str, Any]:
    """A form of a rule as CloudFormation writes it for a direction."""
    rule = {name: value for name, value in form.items() if name not in ("Group", "PrefixList")}
    if "Group" in form:
        named = {ITSELF: group.physical_id, OTHER: other}
        rule[f"{end}SecurityGroupId"] = named.get(form["Group"], form["Group"])
    if "PrefixList" in form:
        names = {"Name": "prefix-list-name", "Values": [f"com.amazonaws.{root.region}.s3"]}
        (found,) = root.client("ec2").describe_managed_prefix_lists(Filters=[names])["PrefixLists"]
        rule[f"{end}PrefixListId"] = (
            found["PrefixListId"] if form["PrefixList"] == PREFIX_LIST else form["PrefixList"]
        )
    return rule


@pytest.mark.parametrize("form", RULES.values(), ids=RULES)
@pytest.mark.parametrize(("kind", "end"), [("Ingress", "Source"), ("Egress", "Destination")])
def test_a_rule(root: Session, vpc: str, group: Resource, form: dict[str, Any], kind: str, end: str) -> None:
    other = _group(root, vpc).physical_id
    rule = {"GroupId": group.physical_id, **_rule(root, group, other, form, end)}
    described = {**rule, "Description": "described anew"}
    bare = {name: value for name, value in rule.items() if name != "Description"}
    live(root, f"AWS::EC2::SecurityGroup{kind}", rule, described, bare)
    made = create(root, f"AWS::EC2::SecurityGroup{kind}", **rule)
    told = group_rules(root, group.physical_id)[f"SecurityGroup{kind}"]
    assert {name: value for name, value in rule.items() if name != "GroupId"} in told
    with pytest.raises(ClientError, match=r"InvalidPermission\.Duplicate"):
        create(root, f"AWS::EC2::SecurityGroup{kind}", **described)
    delete(root, made)
    with pytest.raises(ClientError, match=r"InvalidSecurityGroupRuleId\.NotFound"):
        delete(root, made)


@pytest.mark.parametrize(("form", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize(("kind", "end"), [("Ingress", "Source"), ("Egress", "Destination")])
def test_a_wrong_rule(
    root: Session, group: Resource, form: dict[str, Any], message: str, kind: str, end: str
) -> None:
    rule = _rule(root, group, "", form, end)
    before = group_rules(root, group.physical_id)
    with pytest.raises((ClientError, ResourceFailure), match=message):
        create(root, f"AWS::EC2::SecurityGroup{kind}", GroupId=group.physical_id, **rule)
    assert group_rules(root, group.physical_id) == before


def test_a_rule_of_a_group_of_another_network(root: Session, group: Resource) -> None:
    elsewhere = create(root, "AWS::EC2::VPC", CidrBlock="10.9.0.0/16")
    with pytest.raises(ClientError, match="different networks"):
        create(
            root,
            "AWS::EC2::SecurityGroupIngress",
            GroupId=group.physical_id,
            IpProtocol="-1",
            SourceSecurityGroupId=elsewhere.attributes["DefaultSecurityGroup"],
        )


def test_a_group_with_rules_of_its_own(root: Session, vpc: str) -> None:
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
    names = {"IpProtocol": "udp", "FromPort": 53, "ToPort": 53, "CidrIp": "10.0.0.2/32"}
    fixed = {"GroupDescription": "nodes", "GroupName": "nodes", "VpcId": vpc}
    live(
        root,
        "AWS::EC2::SecurityGroup",
        {
            **fixed,
            "SecurityGroupIngress": [https, {**names, "Description": "names"}],
            "SecurityGroupEgress": [https],
            "Tags": [{"Key": "Name", "Value": "nodes"}],
        },
        {
            **fixed,
            "SecurityGroupIngress": [{**names, "Description": "name servers"}],
            "SecurityGroupEgress": [names, https],
            "Tags": [{"Key": "team", "Value": "research"}],
        },
        {**fixed, "SecurityGroupEgress": [RULES["CDK's rule for nothing"]]},
    )


def test_egress_of_a_group_takes_the_place_of_the_rule_for_everything(root: Session, vpc: str) -> None:
    nothing = RULES["CDK's rule for nothing"]
    made = _group(root, vpc, SecurityGroupEgress=[nothing])
    assert group_rules(root, made.physical_id) == {
        "SecurityGroupIngress": [],
        "SecurityGroupEgress": [nothing],
    }
    other = _group(root, vpc)
    everything = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}
    assert group_rules(root, other.physical_id)["SecurityGroupEgress"] == [everything]
    other = update(root, other, **other.properties, SecurityGroupEgress=[nothing])
    assert group_rules(root, other.physical_id)["SecurityGroupEgress"] == [nothing]
    other = update(root, other, GroupDescription="nodes", VpcId=vpc)
    assert group_rules(root, other.physical_id)["SecurityGroupEgress"] == []


def test_an_egress_rule_of_its_own_takes_the_place_of_the_rule_for_everything(
    root: Session, group: Resource
) -> None:
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
    made = create(root, "AWS::EC2::SecurityGroupEgress", GroupId=group.physical_id, **https)
    assert group_rules(root, group.physical_id)["SecurityGroupEgress"] == [https]
    delete(root, made)
    assert group_rules(root, group.physical_id)["SecurityGroupEgress"] == []


@pytest.mark.parametrize("everywhere", [{"CidrIp": "0.0.0.0/0"}, {"CidrIpv6": "::/0"}])
def test_a_rule_for_everything_can_be_a_resource(
    root: Session, group: Resource, everywhere: dict[str, str]
) -> None:
    rule = {"IpProtocol": "-1", **everywhere, "Description": "Allow all outbound traffic"}
    create(root, "AWS::EC2::SecurityGroupEgress", GroupId=group.physical_id, **rule)
    assert group_rules(root, group.physical_id)["SecurityGroupEgress"] == [rule]


def test_an_update_that_takes_rules_away_takes_them_away(root: Session, vpc: str) -> None:
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
    made = _group(root, vpc, SecurityGroupIngress=[https, {**https, "CidrIp": "10.0.0.0/8"}])
    after = update(root, made, GroupDescription="nodes", VpcId=vpc, SecurityGroupIngress=[https])
    assert group_rules(root, after.physical_id)["SecurityGroupIngress"] == [https]


def test_the_reader_misses_a_rule_that_is_not_there(root: Session, group: Resource) -> None:
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
    asked = {**group.properties, "SecurityGroupIngress": [https]}
    assert READERS[group.type](root, group.physical_id, asked)["SecurityGroupIngress"] == []


def test_rules_of_a_request_come_all_or_none(root: Session, group: Resource) -> None:
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
    wrong = {"IpProtocol": "tcp", "FromPort": 10, "ToPort": 5, "CidrIp": "0.0.0.0/0"}
    with pytest.raises(ClientError, match="port range"):
        INGRESS.authorize(root, group.physical_id, [https, wrong])
    assert group_rules(root, group.physical_id)["SecurityGroupIngress"] == []
    assert len(INGRESS.authorize(root, group.physical_id, [https, {**https, "CidrIp": "10.0.0.0/8"}])) == 2


@pytest.mark.parametrize("what", ["revoke", "describe"])
def test_a_rule_that_is_not_there(root: Session, group: Resource, what: str) -> None:
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
    with pytest.raises(ClientError, match=r"InvalidPermission\.NotFound"):
        getattr(INGRESS, what)(root, group.physical_id, [https])


def test_rules_are_revoked_as_they_are_told(root: Session, vpc: str) -> None:
    made = create(root, "AWS::EC2::VPC", CidrBlock="10.8.0.0/16").attributes["DefaultSecurityGroup"]
    ec2 = root.client("ec2")
    for kind in ("Ingress", "Egress"):
        create(
            root,
            f"AWS::EC2::SecurityGroup{kind}",
            GroupId=made,
            IpProtocol="tcp",
            FromPort=443,
            ToPort=443,
            CidrIpv6="::/0",
        )
    (told,) = ec2.describe_security_groups(GroupIds=[made])["SecurityGroups"]
    ec2.revoke_security_group_ingress(GroupId=made, IpPermissions=told["IpPermissions"])
    ec2.revoke_security_group_egress(GroupId=made, IpPermissions=told["IpPermissionsEgress"])
    assert group_rules(root, made) == {"SecurityGroupIngress": [], "SecurityGroupEgress": []}


def test_ranges_are_told_as_networks(root: Session, group: Resource) -> None:
    for given, told in (("10.0.3.7/16", "10.0.0.0/16"), ("100.68.0.18/18", "100.68.0.0/18")):
        made = create(
            root, "AWS::EC2::SecurityGroupIngress", GroupId=group.physical_id, IpProtocol="-1", CidrIp=given
        )
        assert READERS[made.type](root, made.physical_id, {})["CidrIp"] == told


def test_protocols_are_told_by_name(root: Session, group: Resource) -> None:
    made = create(
        root,
        "AWS::EC2::SecurityGroupIngress",
        GroupId=group.physical_id,
        IpProtocol="6",
        FromPort="22",
        ToPort="22",
        CidrIp="0.0.0.0/0",
    )
    told = READERS[made.type](root, made.physical_id, {})
    assert (told["IpProtocol"], told["FromPort"]) == ("tcp", 22)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"GroupDescription": "the nodes' group"}, "for parameter GroupDescription is invalid"),
        ({"GroupDescription": "nodes", "GroupName": "sg-nodes"}, "begins with sg-"),
        ({"GroupDescription": "nodes", "GroupName": "default"}, "InvalidGroup.Duplicate"),
        ({"GroupDescription": "nodes", "VpcId": "vpc-0123456789abcdef0"}, "InvalidVpcID.NotFound"),
    ],
)
def test_a_group_that_ec2_refuses(root: Session, vpc: str, properties: dict[str, str], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        create(root, "AWS::EC2::SecurityGroup", **{"VpcId": vpc, **properties})


def test_a_rule_part_that_the_double_does_not_apply(root: Session, vpc: str) -> None:
    rule = {"IpProtocol": "-1", "SourceSecurityGroupName": "default"}
    with pytest.raises(ResourceFailure, match="does not apply SourceSecurityGroupName"):
        _group(root, vpc, SecurityGroupIngress=[rule])


def test_a_group_holds_sixty_rules_a_direction(root: Session, group: Resource) -> None:
    rules = [{"IpProtocol": "-1", "CidrIp": f"10.0.{number}.0/24"} for number in range(61)]
    with pytest.raises(ClientError, match="RulesPerSecurityGroupLimitExceeded"):
        INGRESS.authorize(root, group.physical_id, rules)
    assert len(INGRESS.authorize(root, group.physical_id, rules[:60])) == 60


def test_groups_that_name_each_other_go_once_their_rules_have(root: Session, vpc: str) -> None:
    one, other = _group(root, vpc), _group(root, vpc)
    rules = [
        create(
            root,
            f"AWS::EC2::SecurityGroup{kind}",
            GroupId=owner.physical_id,
            IpProtocol="-1",
            **{f"{end}SecurityGroupId": peer.physical_id},
        )
        for owner, peer in ((one, other), (other, one), (one, one))
        for kind, end in (("Ingress", "Source"), ("Egress", "Destination"))
    ]
    for made in rules:
        assert_told(root, made)
    for made in (one, other):
        with pytest.raises(ClientError, match=r"has a dependent object\. Used by a rule of"):
            delete(root, made)
    for made in rules[:4]:
        delete(root, made)
    delete(root, one)  # its rules that name itself do not hold it
    assert_gone(root, one)
