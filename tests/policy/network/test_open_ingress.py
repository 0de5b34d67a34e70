from __future__ import annotations

import pytest

ID = "OpenIngress"


def _admit(template, group="NodeGroup", **source):
    template["Resources"]["Extra"] = {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {
            "GroupId": {"Ref": group},
            "IpProtocol": "tcp",
            "FromPort": 22,
            "ToPort": 22,
            **source,
        },
    }


def test_groups_only_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    "source",
    [
        {"CidrIp": "0.0.0.0/0"},
        {"CidrIpv6": "::/0"},
        {"CidrIp": "128.0.0.0/1"},
        {"CidrIp": "64.0.0.0/4"},
        {"CidrIpv6": "2000::/3"},
    ],
    ids=str,
)
def test_every_address_fails(judge, template, source):
    _admit(template, **source)
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Extra"
    assert "admits tcp 22 from" in finding.message


@pytest.mark.parametrize(
    "source",
    [
        {"CidrIp": "10.0.0.0/8"},
        {"CidrIp": "172.16.0.0/12"},
        {"CidrIp": "198.51.100.0/24"},
        {"CidrIpv6": "fd00::/8"},
        {"SourceSecurityGroupId": "sg-0123456789abcdef0"},
        {"SourcePrefixListId": "pl-0123456789abcdef0"},
    ],
    ids=str,
)
def test_narrower_sources_are_left_alone(judge, template, source):
    _admit(template, **source)
    assert judge(ID, template).findings == ()


def test_an_imported_range_is_undetermined(judge, template):
    _admit(template, CidrIp={"Fn::ImportValue": "office"})
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "admits tcp 22 from import office" in report.text()


def test_the_range_of_the_vpc_is_known(judge, template):
    _admit(template, CidrIp={"Fn::GetAtt": ["Vpc", "CidrBlock"]})
    assert judge(ID, template).findings == ()


def test_an_open_range_from_a_mapping_fails(judge, template):
    template["Mappings"] = {"Ranges": {"admin": {"cidr": "0.0.0.0/0"}}}
    _admit(template, CidrIp={"Fn::FindInMap": ["Ranges", "admin", "cidr"]})
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_mapping_with_an_unknown_key_is_undetermined(judge, template):
    template["Mappings"] = {"Ranges": {"us-east-1": {"cidr": "10.0.0.0/8"}}}
    _admit(template, CidrIp={"Fn::FindInMap": ["Ranges", {"Ref": "AWS::Region"}, "cidr"]})
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    ("group", "whose"), [("LustreGroup", "FileSystem"), ("EndpointGroup", "EndpointEc2")]
)
def test_file_systems_and_endpoints_count(judge, eks_template, group, whose):
    assert judge(ID, eks_template).findings == ()
    _admit(eks_template, group, CidrIp="0.0.0.0/0")
    (finding,) = judge(ID, eks_template).failures
    assert finding.logical_id == "Extra"
    assert f"a security group of {whose} admits tcp 22 from 0.0.0.0/0" in finding.message


def test_an_open_group_of_something_else_is_left_alone(judge, template):
    template["Resources"]["LoadBalancerGroup"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {}}
    _admit(template, "LoadBalancerGroup", CidrIp="0.0.0.0/0")
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize("group", ["sg-0123456789abcdef0", {"Fn::ImportValue": "nodes"}], ids=str)
def test_a_group_of_elsewhere_is_undetermined(judge, template, group):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"] = [group]
    (finding,) = judge(ID, template).findings
    assert (finding.outcome, finding.path) == ("undetermined", ("VpcConfig", "SecurityGroupIds", 0))


def test_rules_that_are_not_known_are_undetermined(judge, template):
    template["Parameters"] = {"Rules": {"Type": "CommaDelimitedList"}}
    template["Resources"]["NodeGroup"]["Properties"]["SecurityGroupIngress"] = {"Ref": "Rules"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def _everybody(port):
    return [{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "0.0.0.0/0"}]


def test_a_control_plane_open_to_the_world_fails(judge, eks_template):
    resources = eks_template["Resources"]
    resources["More"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"SecurityGroupIngress": _everybody(443)},
    }
    resources["Eks"]["Properties"]["ResourcesVpcConfig"]["SecurityGroupIds"] = [{"Ref": "More"}]
    (finding,) = judge(ID, eks_template).failures
    assert "a security group of Eks admits tcp 443 from 0.0.0.0/0" in finding.message


def test_a_function_open_to_the_world_fails(judge, template):
    resources = template["Resources"]
    resources["More"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"SecurityGroupIngress": _everybody(22)},
    }
    resources["BackupFunction"]["Properties"]["VpcConfig"] = {"SecurityGroupIds": [{"Ref": "More"}]}
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "More"
    del resources["Cluster"]
    assert judge(ID, template).verdicts == ()


@pytest.mark.parametrize(("source", "fails"), [("0.0.0.0/0", True), ("10.0.0.0/8", False)])
def test_the_group_that_eks_makes_counts(judge, eks_template, source, fails):
    eks_template["Resources"]["Open"] = {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {
            "GroupId": {"Fn::GetAtt": ["Eks", "ClusterSecurityGroupId"]},
            "IpProtocol": "tcp",
            "FromPort": 443,
            "ToPort": 443,
            "CidrIp": source,
        },
    }
    failures = judge(ID, eks_template).failures
    assert [finding.logical_id for finding in failures] == (["Open"] if fails else [])
    assert all("the security group of Eks admits tcp 443" in finding.message for finding in failures)
