from __future__ import annotations

import pytest

from hyperpod_policy.trust_map import trust_map

ID = "NodeGroupMembers"
GROUP = {"Fn::GetAtt": ["NodeGroup", "GroupId"]}

MEMBERS = [
    ("AWS::EC2::Instance", {"SecurityGroupIds": [GROUP]}, ("SecurityGroupIds", 0)),
    (
        "AWS::EC2::Instance",
        {"NetworkInterfaces": [{"DeviceIndex": "0", "GroupSet": ["sg-0123456789abcdef0", GROUP]}]},
        ("NetworkInterfaces", 0, "GroupSet", 1),
    ),
    ("AWS::EC2::NetworkInterface", {"GroupSet": [{"Ref": "NodeGroup"}]}, ("GroupSet", 0)),
    (
        "AWS::EC2::LaunchTemplate",
        {"LaunchTemplateData": {"NetworkInterfaces": [{"Groups": [GROUP]}]}},
        ("LaunchTemplateData", "NetworkInterfaces", 0, "Groups", 0),
    ),
    ("AWS::Lambda::Function", {"VpcConfig": {"SecurityGroupIds": GROUP}}, ("VpcConfig", "SecurityGroupIds")),
    (
        "AWS::ECS::Service",
        {"NetworkConfiguration": {"AwsvpcConfiguration": {"SecurityGroups": [GROUP]}}},
        ("NetworkConfiguration", "AwsvpcConfiguration", "SecurityGroups", 0),
    ),
    ("AWS::ElasticLoadBalancingV2::LoadBalancer", {"SecurityGroups": [GROUP]}, ("SecurityGroups", 0)),
    ("AWS::SageMaker::NotebookInstance", {"SecurityGroupIds": [GROUP]}, ("SecurityGroupIds", 0)),
    (
        "AWS::SageMaker::Domain",
        {"DefaultUserSettings": {"SecurityGroups": [GROUP]}},
        ("DefaultUserSettings", "SecurityGroups", 0),
    ),
]


def test_nodes_by_themselves_comply(judge, template, eks_template):
    for found in (template, eks_template):
        assert judge(ID, found).outcome(ID) == "pass"
        assert judge(ID, found).findings == ()


@pytest.mark.parametrize(("kind", "properties", "path"), MEMBERS, ids=str)
def test_what_runs_code_in_the_group_of_the_nodes_fails(judge, template, kind, properties, path):
    template["Resources"]["Neighbour"] = {"Type": kind, "Properties": properties}
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("Neighbour", path, "warning")
    assert "is a member of NodeGroup, a security group of the nodes" in finding.message


def test_a_literal_group_of_the_nodes_counts(judge, template):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"].append("sg-0aa")
    template["Resources"]["Neighbour"] = {
        "Type": "AWS::EC2::Instance",
        "Properties": {"SecurityGroupIds": ["sg-0aa"]},
    }
    (finding,) = judge(ID, template).failures
    assert "is a member of sg-0aa" in finding.message


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        ("AWS::EC2::Instance", {"SecurityGroupIds": [{"Ref": "LustreGroup"}]}),
        ("AWS::EC2::Instance", {"SecurityGroupIds": [{"Ref": "Group"}]}),
        ("AWS::EC2::Instance", {"SecurityGroupIds": {"Ref": "Groups"}}),
        ("AWS::EC2::Instance", {"NetworkInterfaces": "malformed"}),
        ("AWS::EFS::MountTarget", {"SecurityGroups": [GROUP]}),
        ("AWS::EC2::VPCEndpoint", {"SecurityGroupIds": [GROUP]}),
    ],
    ids=str,
)
def test_other_groups_and_what_runs_no_code_are_left_alone(judge, template, kind, properties):
    template["Parameters"] = {
        "Group": {"Type": "String"},
        "Groups": {"Type": "List<AWS::EC2::SecurityGroup::Id>"},
    }
    template["Resources"]["Neighbour"] = {"Type": kind, "Properties": properties}
    assert judge(ID, template).findings == ()


def test_a_template_without_a_cluster_is_left_alone(judge, template):
    del template["Resources"]["Cluster"]
    template["Resources"]["Neighbour"] = {
        "Type": "AWS::EC2::Instance",
        "Properties": {"SecurityGroupIds": [GROUP]},
    }
    assert judge(ID, template).outcome(ID) is None


@pytest.mark.parametrize(("kind", "properties", "path"), MEMBERS, ids=str)
def test_a_member_is_on_the_trust_map(template, kind, properties, path):
    template["Resources"]["Neighbour"] = {"Type": kind, "Properties": properties}
    (step,) = [step for step in trust_map(template).steps if step.source == "Neighbour"]
    assert (step.ability, step.target, step.certainty) == ("join-group", "NodeGroup", "yes")
    assert (step.evidence[0].path, step.evidence[0].text) == (path, "is a member of NodeGroup")
