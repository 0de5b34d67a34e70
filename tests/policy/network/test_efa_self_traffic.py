from __future__ import annotations

import pytest

ID = "EfaSelfTraffic"


def test_self_rules_in_both_directions_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("missing", ["SelfIngress", "SelfEgress"])
def test_a_missing_direction_fails(judge, template, missing):
    del template["Resources"][missing]
    (finding,) = judge(ID, template).failures
    direction = missing.removeprefix("Self").lower()
    assert finding.logical_id == "NodeGroup"
    assert finding.path == (f"SecurityGroup{direction.capitalize()}",)
    assert "; expected: all traffic " in finding.message


def test_open_egress_does_not_stand_in_for_the_self_rule(judge, template):
    resources = template["Resources"]
    for name in [name for name in resources if name.startswith("NodesToLustre")] + [
        "SelfEgress",
        "HttpsEgress",
    ]:
        del resources[name]
    resources["NodeGroup"]["Properties"]["SecurityGroupEgress"] = [
        {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}
    ]
    (finding,) = judge(ID, template).failures
    assert "all traffic to 0.0.0.0/0; an address range does not stand in for the group" in finding.message


def test_no_egress_at_all_says_what_cloudformation_adds(judge, template):
    resources = template["Resources"]
    for name in [name for name in resources if name.startswith("NodesToLustre")] + [
        "SelfEgress",
        "HttpsEgress",
    ]:
        del resources[name]
    (finding,) = judge(ID, template).failures
    assert "no egress rule at all (so CloudFormation adds one to 0.0.0.0/0" in finding.message


def test_a_narrower_self_rule_fails(judge, template):
    template["Resources"]["SelfIngress"]["Properties"] |= {
        "IpProtocol": "tcp",
        "FromPort": 0,
        "ToPort": 65535,
    }
    assert judge(ID, template).outcome(ID) == "fail"


def test_every_group_of_the_nodes_needs_the_rules(judge, template):
    template["Resources"]["Second"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {}}
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"].append({"Ref": "Second"})
    assert {finding.logical_id for finding in judge(ID, template).failures} == {"Second"}


def test_the_group_of_an_overriding_instance_group_needs_the_rules(judge, template):
    template["Resources"]["Other"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {}}
    workers = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]
    workers["OverrideVpcConfig"] = {"SecurityGroupIds": [{"Ref": "Other"}], "Subnets": [{"Ref": "Subnet"}]}
    assert {finding.logical_id for finding in judge(ID, template).failures} == {"Other"}


def test_an_imported_group_is_undetermined(judge, template):
    vpc = template["Resources"]["Cluster"]["Properties"]["VpcConfig"]
    vpc["SecurityGroupIds"] = [{"Fn::ImportValue": "shared-group"}]
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "import shared-group admits all traffic from itself is not in this template" in report.text()


def test_an_imported_group_with_rules_in_the_template_complies(judge, template):
    imported = {"Fn::ImportValue": "shared-group"}
    resources = template["Resources"]
    resources["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"] = [imported]
    resources["SelfIngress"]["Properties"] |= {"GroupId": imported, "SourceSecurityGroupId": imported}
    resources["SelfEgress"]["Properties"] |= {"GroupId": imported, "DestinationSecurityGroupId": imported}
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_protocol_from_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Protocol": {"Type": "String"}}
    template["Resources"]["SelfIngress"]["Properties"]["IpProtocol"] = {"Ref": "Protocol"}
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "spelling",
    [
        {"Ref": "NodeGroup"},
        {"Fn::GetAtt": ["NodeGroup", "GroupId"]},
        {"Fn::GetAtt": "NodeGroup.GroupId"},
        {"Fn::Sub": "${NodeGroup}"},
        {"Fn::Sub": "${NodeGroup.GroupId}"},
        {"Fn::Select": [0, [{"Ref": "NodeGroup"}]]},
        {"Fn::Join": ["", [{"Ref": "NodeGroup"}]]},
    ],
    ids=str,
)
def test_any_spelling_of_the_group_counts(judge, template, spelling):
    template["Resources"]["SelfIngress"]["Properties"]["SourceSecurityGroupId"] = spelling
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("protocol", ["-1", -1, "all"])
def test_any_spelling_of_all_traffic_counts(judge, template, protocol):
    template["Resources"]["SelfIngress"]["Properties"]["IpProtocol"] = protocol
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_rule_under_a_condition_fails_where_it_does_not_exist(judge, template):
    template["Parameters"] = {
        "Efa": {"Type": "String", "Default": "true", "AllowedValues": ["true", "false"]}
    }
    template["Conditions"] = {"WithEfa": {"Fn::Equals": [{"Ref": "Efa"}, "true"]}}
    template["Resources"]["SelfIngress"]["Condition"] = "WithEfa"
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameter Efa is false"


def test_nodes_without_efa_need_no_rules(judge, template):
    for group in template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["InstanceType"] = "ml.m5.2xlarge"
    del template["Resources"]["SelfIngress"]
    assert judge(ID, template).verdicts == ()


def test_a_group_that_no_node_uses_is_left_alone(judge, template):
    template["Resources"]["Web"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": {}}
    assert judge(ID, template).findings == ()
