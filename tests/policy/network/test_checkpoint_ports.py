from __future__ import annotations

import pytest

ID = "CheckpointPorts"


def _admit(template, **rule):
    template["Resources"]["Extra"] = {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {"GroupId": {"Ref": "NodeGroup"}, **rule},
    }


TCP = {"IpProtocol": "tcp", "FromPort": 9200, "ToPort": 9200}
UDP = {"IpProtocol": "udp", "FromPort": 9209, "ToPort": 9209}
VPC = {"CidrIp": "10.0.0.0/16"}


def test_the_group_itself_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "rule",
    [
        {**TCP, **VPC},
        {**UDP, **VPC},
        {"IpProtocol": "udp", "FromPort": 9240, "ToPort": 9300, **VPC},
        {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 65535, **VPC},
        {"IpProtocol": "6", "FromPort": "9000", "ToPort": "9999", **VPC},
        {"IpProtocol": "17", "FromPort": 9230, "ToPort": 9230, **VPC},
        {"IpProtocol": "tcp", **VPC},
        {"IpProtocol": "-1", **VPC},
        {"IpProtocol": "-1", "CidrIpv6": "fd00::/8"},
        {"IpProtocol": "-1", "SourcePrefixListId": "pl-0123456789abcdef0"},
        {**TCP, "SourceSecurityGroupId": {"Ref": "LustreGroup"}},
        {**TCP, "SourceSecurityGroupId": "sg-0123456789abcdef0"},
    ],
    ids=str,
)
def test_any_overlapping_rule_from_elsewhere_fails(judge, template, rule):
    _admit(template, **rule)
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Extra"
    assert "may be reached from the security group itself only" in finding.message


def test_an_inline_rule_fails_at_its_place(judge, template):
    template["Resources"]["NodeGroup"]["Properties"]["SecurityGroupIngress"] = [
        {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, **VPC},
        {**TCP, **VPC},
    ]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("NodeGroup", ("SecurityGroupIngress", 1))


@pytest.mark.parametrize(
    "rule",
    [
        {**TCP, "SourceSecurityGroupId": {"Ref": "NodeGroup"}},
        {"IpProtocol": "tcp", "FromPort": 9201, "ToPort": 65535, **VPC},
        {"IpProtocol": "udp", "FromPort": 9200, "ToPort": 9208, **VPC},
        {"IpProtocol": "tcp", "FromPort": 9209, "ToPort": 9240, **VPC},
        {"IpProtocol": "icmp", "FromPort": -1, "ToPort": -1, **VPC},
        {
            "IpProtocol": "tcp",
            "FromPort": 988,
            "ToPort": 1023,
            "SourceSecurityGroupId": "sg-0123456789abcdef0",
        },
    ],
    ids=str,
)
def test_other_ports_and_the_group_itself_are_left_alone(judge, template, rule):
    _admit(template, **rule)
    assert judge(ID, template).findings == ()


def test_a_rule_of_another_group_is_left_alone(judge, template):
    _admit(template, **TCP, **VPC)
    template["Resources"]["Extra"]["Properties"]["GroupId"] = {"Ref": "LustreGroup"}
    assert judge(ID, template).findings == ()


def test_unresolved_ports_are_undetermined(judge, template):
    template["Parameters"] = {"Port": {"Type": "Number"}}
    _admit(template, IpProtocol="tcp", FromPort={"Ref": "Port"}, ToPort={"Ref": "Port"}, **VPC)
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "admits tcp parameter Port" in report.text()


def test_ports_from_a_parameter_with_default_count(judge, template):
    template["Parameters"] = {"Port": {"Type": "Number", "Default": 9200}}
    _admit(template, IpProtocol="tcp", FromPort={"Ref": "Port"}, ToPort={"Ref": "Port"}, **VPC)
    assert judge(ID, template).outcome(ID) == "fail"


def test_each_allowed_value_of_a_parameter_counts(judge, template):
    template["Parameters"] = {"Port": {"Type": "Number", "Default": 22, "AllowedValues": [22, 9200]}}
    _admit(template, IpProtocol="tcp", FromPort={"Ref": "Port"}, ToPort={"Ref": "Port"}, **VPC)
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameter Port is 9200"


def test_an_imported_group_is_undetermined(judge, template):
    vpc = template["Resources"]["Cluster"]["Properties"]["VpcConfig"]
    vpc["SecurityGroupIds"] = ["sg-0123456789abcdef0"]
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_rule_on_an_imported_group_fails(judge, template):
    vpc = template["Resources"]["Cluster"]["Properties"]["VpcConfig"]
    vpc["SecurityGroupIds"] = ["sg-0123456789abcdef0"]
    _admit(template, **TCP, **VPC)
    template["Resources"]["Extra"]["Properties"]["GroupId"] = "sg-0123456789abcdef0"
    assert judge(ID, template).outcome(ID) == "fail"


def test_both_branches_of_if_count(judge, template):
    template["Conditions"] = {"Open": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _admit(
        template, IpProtocol="tcp", FromPort={"Fn::If": ["Open", 9200, 22]}, ToPort=9200, CidrIp="10.0.0.0/16"
    )
    template["Resources"]["Extra"]["Properties"]["ToPort"] = {"Fn::If": ["Open", 9200, 22]}
    (finding,) = judge(ID, template).failures
    assert finding.when == "condition Open is true"
