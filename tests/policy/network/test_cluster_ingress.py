from __future__ import annotations

import pytest

ID = "ClusterIngress"


def _admit(template, group="NodeGroup", **rule):
    template["Parameters"] = {"Group": {"Type": "String"}}
    template["Resources"]["Opening"] = {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {"GroupId": {"Ref": group}, "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, **rule},
    }


def test_groups_of_the_stack_comply(judge, template, eks_template):
    for found in (template, eks_template):
        assert judge(ID, found).outcome(ID) == "pass"
        assert judge(ID, found).findings == ()


@pytest.mark.parametrize("group", ["NodeGroup", "LustreGroup"])
@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ({"CidrIp": "10.0.0.0/16"}, "fail"),
        ({"CidrIp": "10.1.2.3/32"}, "fail"),
        ({"CidrIpv6": "fd00::/64"}, "fail"),
        ({"SourcePrefixListId": "pl-0123456789abcdef0"}, "fail"),
        ({"CidrIp": {"Ref": "Group"}}, "fail"),
        ({"SourceSecurityGroupId": "sg-0123456789abcdef0"}, "undetermined"),
        ({"SourceSecurityGroupId": {"Ref": "Group"}}, "undetermined"),
        ({"SourceSecurityGroupId": {"Fn::ImportValue": "group"}}, "undetermined"),
        ({"SourceSecurityGroupName": "default"}, "undetermined"),
        ({"SourceSecurityGroupId": {"Ref": "LustreGroup"}}, "pass"),
        ({"CidrIp": "0.0.0.0/0"}, "pass"),
    ],
    ids=str,
)
def test_who_reaches_nodes_and_file_systems(judge, template, group, rule, outcome):
    _admit(template, group, **rule)
    assert judge(ID, template).outcome(ID) == outcome


def test_the_finding_is_a_warning_at_the_rule(judge, template):
    _admit(template, CidrIp="10.0.0.0/16")
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Opening", "warning")
    assert "admits tcp 22 from 10.0.0.0/16" in finding.message


def test_inline_rules_count(judge, template):
    template["Resources"]["NodeGroup"]["Properties"]["SecurityGroupIngress"] = [
        {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "10.0.0.0/16"}
    ]
    (finding,) = judge(ID, template).failures
    assert finding.path == ("SecurityGroupIngress", 0)


def test_the_group_of_an_eks_cluster_that_exists_may_be_any(judge, eks_template):
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/training"
    eks_template["Resources"]["Cluster"]["Properties"]["Orchestrator"]["Eks"]["ClusterArn"] = arn
    _admit(eks_template, SourceSecurityGroupId="sg-0123456789abcdef0")
    assert judge(ID, eks_template).findings == ()


def test_other_groups_are_left_alone(judge, template):
    template["Resources"]["Web"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {}}
    _admit(template, "Web", CidrIp="10.0.0.0/16")
    assert judge(ID, template).findings == ()


def test_groups_of_elsewhere_are_for_other_rules(judge, template):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"] = ["sg-0123456789abcdef0"]
    assert {verdict.logical_id for verdict in judge(ID, template).verdicts} == {"LustreGroup"}
