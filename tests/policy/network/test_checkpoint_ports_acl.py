from __future__ import annotations

import pytest

ID = "CheckpointPortsAcl"


def test_denials_before_anything_else_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("missing", ["Deny1", "Deny2", "Deny3", "Deny4"])
def test_each_missing_denial_fails(judge, template, missing):
    del template["Resources"][missing]
    (finding,) = judge(ID, template).failures
    assert finding.logical_id.startswith("Allow")
    assert "admits" in finding.message


def test_an_earlier_allowance_fails(judge, template):
    template["Resources"]["Allow4"]["Properties"]["RuleNumber"] = 0
    assert {finding.logical_id for finding in judge(ID, template).failures} == {"Allow4"}


def test_a_denial_that_leaves_a_port_out_fails(judge, template):
    template["Resources"]["Deny2"]["Properties"]["PortRange"] = {"From": 9209, "To": 9239}
    (finding,) = judge(ID, template).failures
    assert "udp 9240 from 0.0.0.0/0" in finding.message


def test_a_denial_for_fewer_addresses_fails(judge, template):
    template["Resources"]["Deny1"]["Properties"]["CidrBlock"] = "10.0.0.0/8"
    assert judge(ID, template).outcome(ID) == "fail"


def test_the_default_acl_fails(judge, template):
    del template["Resources"]["AclAssociation"]
    (finding,) = judge(ID, template).failures
    assert "has the default network ACL of the VPC" in finding.message
    assert finding.severity == "warning"


def test_an_imported_subnet_is_undetermined(judge, template):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["Subnets"] = ["subnet-0123456789abcdef0"]
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "the network ACL of subnet subnet-0123456789abcdef0 is not in this template" in report.text()


def test_an_imported_vpc_is_undetermined(judge, template):
    del template["Resources"]["AclAssociation"]
    template["Resources"]["Subnet"]["Properties"]["VpcId"] = {"Fn::ImportValue": "vpc"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_an_imported_acl_is_undetermined(judge, template):
    association = template["Resources"]["AclAssociation"]["Properties"]
    association["NetworkAclId"] = {"Fn::ImportValue": "acl"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_an_unresolved_number_is_undetermined(judge, template):
    template["Parameters"] = {"Number": {"Type": "Number"}}
    template["Resources"]["Deny1"]["Properties"]["RuleNumber"] = {"Ref": "Number"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_an_allowance_within_the_subnet_is_left_alone(judge, template):
    allow = template["Resources"]["Allow4"]["Properties"]
    allow |= {"RuleNumber": 0, "CidrBlock": {"Fn::GetAtt": ["Subnet", "CidrBlock"]}}
    assert judge(ID, template).findings == ()


def test_ipv6_without_any_allowance_is_left_alone(judge, template):
    for name in ("Deny3", "Deny4", "Allow6"):
        del template["Resources"][name]
    assert judge(ID, template).findings == ()


def test_denying_all_traffic_covers_the_ports(judge, template):
    deny = template["Resources"]["Deny1"]["Properties"]
    deny |= {"Protocol": "-1"}
    del deny["PortRange"], template["Resources"]["Deny2"]
    assert judge(ID, template).findings == ()


def test_subnets_without_accelerators_are_left_alone(judge, template):
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["InstanceType"] = "ml.m5.2xlarge"
    del template["Resources"]["AclAssociation"]
    assert judge(ID, template).verdicts == ()
