from __future__ import annotations

import pytest

ID = "EksNodeTraffic"
CONTROL = {"Fn::GetAtt": ["Eks", "ClusterSecurityGroupId"]}


def test_the_documented_ports_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("NodesToControlPlane", "no rule lets nodes reach the control plane at tcp 443"),
        ("ControlPlaneToKubelets", "no rule lets the control plane reach nodes at tcp 10250"),
        ("ControlPlaneToNodes", "no rule lets the control plane reach nodes at tcp 443"),
    ],
)
def test_a_closed_way_fails(judge, eks_template, rule, words):
    del eks_template["Resources"][rule]
    (finding,) = judge(ID, eks_template).failures
    assert words in finding.message


def test_another_port_does_not_count(judge, eks_template):
    eks_template["Resources"]["NodesToControlPlane"]["Properties"].update(FromPort=80, ToPort=80)
    assert judge(ID, eks_template).outcome(ID) == "fail"


def test_a_rule_from_another_group_does_not_count(judge, eks_template):
    rule = eks_template["Resources"]["NodesToControlPlane"]["Properties"]
    rule["SourceSecurityGroupId"] = {"Fn::GetAtt": ["LustreGroup", "GroupId"]}
    assert judge(ID, eks_template).outcome(ID) == "fail"


def test_a_further_group_of_the_control_plane_counts(judge, eks_template):
    resources = eks_template["Resources"]
    resources["Control"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "control"}}
    resources["Eks"]["Properties"]["ResourcesVpcConfig"]["SecurityGroupIds"] = [{"Ref": "Control"}]
    resources["NodesToControlPlane"]["Properties"]["GroupId"] = {"Ref": "Control"}
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize("own", [True, False], ids=["of EKS", "given to both"])
def test_nodes_in_a_group_of_the_control_plane_fail(judge, eks_template, own):
    resources = eks_template["Resources"]
    if own:
        resources["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"].append(CONTROL)
    else:
        resources["Eks"]["Properties"]["ResourcesVpcConfig"]["SecurityGroupIds"] = [{"Ref": "NodeGroup"}]
    (finding, *_) = judge(ID, eks_template).failures
    assert "a security group of the control plane" in finding.message
    assert "nothing else reaches tcp 9200 and udp 9209-9240" in finding.message


def test_a_range_in_place_of_the_group_is_undetermined(judge, eks_template):
    rule = eks_template["Resources"]["NodesToControlPlane"]["Properties"]
    del rule["SourceSecurityGroupId"]
    rule["CidrIp"] = "10.0.0.0/16"
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_a_wide_way_from_the_control_plane_reaches_the_checkpoint_ports(judge, eks_template):
    eks_template["Resources"]["ControlPlaneToNodes"]["Properties"].update(FromPort=1025, ToPort=65535)
    (finding,) = judge("CheckpointPorts", eks_template).failures
    assert finding.logical_id == "ControlPlaneToNodes"


def test_an_existing_eks_cluster_is_undetermined(judge, eks_template):
    del eks_template["Resources"]["Eks"]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"
