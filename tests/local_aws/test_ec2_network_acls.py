"""Network ACLs of the double: numbered entries both ways, and the subnets that have an ACL."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete, resource, update
from told import assert_gone, assert_told, live

from aws_double.resource import TYPES, ResourceFailure
from aws_double.resources.network import acl_association
from aws_double.session import Session

EVERYTHING = {"Protocol": -1, "RuleAction": "allow", "CidrBlock": "0.0.0.0/0"}
TCP_9200 = {"Protocol": 6, "RuleAction": "deny", "PortRange": {"From": 9200, "To": 9200}}
ENTRIES: dict[str, dict[str, Any]] = {
    "all of IPv4": EVERYTHING,
    "all of IPv6": {"Protocol": -1, "RuleAction": "allow", "Ipv6CidrBlock": "::/0"},
    "one TCP port": {**TCP_9200, "CidrBlock": "0.0.0.0/0"},
    "one TCP port of IPv6": {**TCP_9200, "Ipv6CidrBlock": "::/0"},
    "UDP ports": {
        "Protocol": 17,
        "RuleAction": "deny",
        "PortRange": {"From": 9209, "To": 9240},
        "CidrBlock": "10.0.0.0/8",
    },
    "ICMP": {
        "Protocol": 1,
        "RuleAction": "allow",
        "Icmp": {"Type": 8, "Code": -1},
        "CidrBlock": "10.0.0.0/16",
    },
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "the number of the last entry": ({**EVERYTHING, "RuleNumber": 32767}, "NetworkAclEntryAlreadyExists"),
    "no number": ({**EVERYTHING, "RuleNumber": 0}, "must be 1 to 32766"),
    "TCP without ports": (
        {"Protocol": 6, "RuleAction": "deny", "CidrBlock": "0.0.0.0/0", "RuleNumber": 1},
        "PortRange is required for TCP",
    ),
    "ports backwards": (
        {**TCP_9200, "PortRange": {"From": 2, "To": 1}, "CidrBlock": "0.0.0.0/0", "RuleNumber": 1},
        r"Invalid TCP port range \(2:1\)",
    ),
    "no range": ({"Protocol": -1, "RuleAction": "deny", "RuleNumber": 1}, "Exactly one of cidrBlock"),
    "two ranges": ({**EVERYTHING, "Ipv6CidrBlock": "::/0", "RuleNumber": 1}, "Exactly one of cidrBlock"),
}


@pytest.fixture(scope="module")
def vpc(root: Session) -> str:
    return create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16").physical_id


@pytest.fixture
def acl(root: Session, vpc: str) -> str:
    return create(root, "AWS::EC2::NetworkAcl", VpcId=vpc).physical_id


def test_an_acl(root: Session, vpc: str) -> None:
    named = {"Tags": [{"Key": "Name", "Value": "one"}]}
    live(
        root,
        "AWS::EC2::NetworkAcl",
        {"VpcId": vpc, **named},
        {"VpcId": vpc, "Tags": [{"Key": "Name", "Value": "other"}]},
        {"VpcId": vpc},
    )


def test_an_acl_ends_with_the_denial_of_the_rest(root: Session, acl: str) -> None:
    (told,) = root.client("ec2").describe_network_acls(NetworkAclIds=[acl])["NetworkAcls"]
    assert [(entry["RuleNumber"], entry["Egress"], entry["RuleAction"]) for entry in told["Entries"]] == [
        (32767, True, "deny"),
        (32767, False, "deny"),
    ]


@pytest.mark.parametrize("egress", [False, True])
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_an_entry(root: Session, acl: str, entry: dict[str, Any], egress: bool) -> None:
    fixed = {"NetworkAclId": acl, "RuleNumber": 100, "Egress": egress}
    live(
        root,
        "AWS::EC2::NetworkAclEntry",
        {**fixed, **entry},
        {**fixed, **TCP_9200, "CidrBlock": "10.0.0.0/24"},
        {**fixed, **entry},
    )


def test_entries_with_one_number_go_one_each_way(root: Session, acl: str) -> None:
    made = [
        create(
            root, "AWS::EC2::NetworkAclEntry", NetworkAclId=acl, RuleNumber=100, Egress=egress, **EVERYTHING
        )
        for egress in (False, True)
    ]
    for entry in made:
        assert_told(root, entry)
        with pytest.raises(ClientError, match="NetworkAclEntryAlreadyExists"):
            create(root, entry.type, **entry.properties)
    delete(root, made[0])
    assert_gone(root, made[0])
    assert_told(root, made[1])
    with pytest.raises(ClientError, match=r"InvalidNetworkAclEntry\.NotFound"):
        delete(root, made[0])


@pytest.mark.parametrize(("entry", "message"), WRONG.values(), ids=WRONG)
def test_an_entry_that_ec2_refuses(root: Session, acl: str, entry: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        create(root, "AWS::EC2::NetworkAclEntry", NetworkAclId=acl, Egress=False, **entry)


def test_an_entry_stays_if_what_replaces_it_is_refused(root: Session, acl: str) -> None:
    fixed = {"NetworkAclId": acl, "RuleNumber": 100, "Egress": False}
    made = create(root, "AWS::EC2::NetworkAclEntry", **fixed, **EVERYTHING)
    with pytest.raises(ClientError, match="PortRange is required"):
        update(root, made, **fixed, Protocol=6, RuleAction="allow", CidrBlock="0.0.0.0/0")
    assert_told(root, made)


def test_a_subnet_gets_an_acl_and_then_the_default_one_again(root: Session, acl: str, vpc: str) -> None:
    subnet = create(root, "AWS::EC2::Subnet", VpcId=vpc, CidrBlock="10.0.1.0/24").physical_id
    default = acl_association(root, subnet)
    made = create(root, "AWS::EC2::SubnetNetworkAclAssociation", NetworkAclId=acl, SubnetId=subnet)
    assert_told(root, made)
    used = resource("AWS::EC2::NetworkAcl")
    used.physical_id = acl
    with pytest.raises(ClientError, match=f"has dependencies and cannot be deleted. Used by {subnet}"):
        delete(root, used)
    delete(root, made)
    assert_gone(root, made)
    assert default is not None
    assert acl_association(root, subnet)["NetworkAclId"] == default["NetworkAclId"]
    delete(root, used)


def test_an_association_that_another_one_followed_is_left_alone(root: Session, acl: str, vpc: str) -> None:
    subnet = create(root, "AWS::EC2::Subnet", VpcId=vpc, CidrBlock="10.0.2.0/24").physical_id
    later = create(root, "AWS::EC2::NetworkAcl", VpcId=vpc).physical_id
    first, second = (
        create(root, "AWS::EC2::SubnetNetworkAclAssociation", NetworkAclId=one, SubnetId=subnet)
        for one in (acl, later)
    )
    delete(root, first)
    assert_told(root, second)


def test_a_subnet_has_an_acl_of_its_own_vpc(root: Session, acl: str) -> None:
    other = create(root, "AWS::EC2::VPC", CidrBlock="10.9.0.0/16").physical_id
    subnet = create(root, "AWS::EC2::Subnet", VpcId=other, CidrBlock="10.9.0.0/24").physical_id
    with pytest.raises(ClientError, match="different networks"):
        create(root, "AWS::EC2::SubnetNetworkAclAssociation", NetworkAclId=acl, SubnetId=subnet)
    with pytest.raises(ResourceFailure, match="subnet-0123456789abcdef0' does not exist"):
        create(
            root,
            "AWS::EC2::SubnetNetworkAclAssociation",
            NetworkAclId=acl,
            SubnetId="subnet-0123456789abcdef0",
        )


def test_the_default_acl_cannot_be_deleted(root: Session, vpc: str) -> None:
    filters = [{"Name": "vpc-id", "Values": [vpc]}, {"Name": "default", "Values": ["true"]}]
    (default,) = root.client("ec2").describe_network_acls(Filters=filters)["NetworkAcls"]
    with pytest.raises(ClientError, match="default of its VPC"):
        root.call("ec2", "delete_network_acl", NetworkAclId=default["NetworkAclId"])


def test_unknown_ones(root: Session) -> None:
    known = create(root, "AWS::EC2::VPC", CidrBlock="10.7.0.0/16").attributes["DefaultNetworkAcl"]
    with pytest.raises(ClientError, match=r"InvalidAssociationID\.NotFound"):
        root.call(
            "ec2",
            "replace_network_acl_association",
            AssociationId="aclassoc-0123456789abcdef0",
            NetworkAclId=known,
        )
    with pytest.raises(ClientError, match=r"InvalidNetworkAclID\.NotFound"):
        root.client("ec2").describe_network_acls(NetworkAclIds=["acl-0123456789abcdef0"])


def test_an_entry_moves_to_another_acl_by_replacement() -> None:
    kind = TYPES["AWS::EC2::NetworkAclEntry"]
    entry = {"NetworkAclId": "acl-1", "RuleNumber": 1, **EVERYTHING}
    assert kind.replaces(entry, {**entry, "NetworkAclId": "acl-2"})
    assert not kind.replaces(entry, {**entry, "RuleAction": "deny"})
