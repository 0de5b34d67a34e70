from __future__ import annotations

import copy

import pytest

ID = "NodeEgress"


def _send(template, **rule):
    template["Resources"]["HttpsEgress"]["Properties"] = {
        "GroupId": {"Fn::GetAtt": ["NodeGroup", "GroupId"]},
        "IpProtocol": "tcp",
        "FromPort": 443,
        "ToPort": 443,
        **rule,
    }


def test_https_to_the_world_or_to_endpoints_complies(judge, template, eks_template):
    for found in (template, eks_template):
        assert judge(ID, found).outcome(ID) == "pass"
        assert judge(ID, found).findings == ()


def test_no_egress_but_to_themselves_fails(judge, template):
    del template["Resources"]["HttpsEgress"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("Cluster", ("VpcConfig", "SecurityGroupIds"))
    assert "NodeGroup let nodes send nothing to AWS at tcp 443" in finding.message


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ({"CidrIp": "0.0.0.0/0", "IpProtocol": "-1"}, "pass"),
        ({"CidrIp": "10.0.0.0/16"}, "fail"),
        ({"CidrIp": "52.94.0.0/16"}, "pass"),
        ({"CidrIpv6": "::/0"}, "fail"),
        ({"DestinationPrefixListId": "pl-0123456789abcdef0"}, "fail"),
        ({"DestinationSecurityGroupId": {"Fn::ImportValue": "endpoints"}}, "fail"),
        ({"CidrIp": "0.0.0.0/0", "FromPort": 80, "ToPort": 80}, "fail"),
        ({"CidrIp": "0.0.0.0/0", "IpProtocol": "udp"}, "fail"),
        ({"DestinationSecurityGroupId": {"Ref": "NodeGroup"}}, "fail"),
        ({"CidrIp": "0.0.0.0/0", "FromPort": {"Ref": "Port"}, "ToPort": {"Ref": "Port"}}, "undetermined"),
        ({"CidrIp": "0.0.0.0/0", "FromPort": {"Fn::FindInMap": ["Ports", "all", "web"]}}, "pass"),
    ],
    ids=str,
)
def test_what_counts_as_a_way_to_aws(judge, template, rule, outcome):
    template["Parameters"] = {"Port": {"Type": "Number"}}
    template["Mappings"] = {"Ports": {"all": {"web": 443}}}
    _send(template, **rule)
    assert judge(ID, template).outcome(ID) == outcome


def test_without_any_rule_everything_goes_out(judge, template):
    resources = template["Resources"]
    for name in [name for name in resources if name.startswith(("NodesTo", "SelfEgress", "HttpsEgress"))]:
        del resources[name]
    assert judge(ID, template).findings == ()


def test_a_second_group_of_the_same_nodes_may_have_it(judge, template):
    template["Resources"]["Second"] = copy.deepcopy(template["Resources"]["NodeGroup"])
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"].append({"Ref": "Second"})
    _send(template, CidrIp="0.0.0.0/0", GroupId={"Ref": "Second"})
    assert judge(ID, template).findings == ()


def test_a_group_with_a_network_of_its_own_is_judged_by_that(judge, eks_template):
    groups = eks_template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    groups[2]["OverrideVpcConfig"]["SecurityGroupIds"] = [{"Ref": "LustreGroup"}]
    (finding,) = judge(ID, eks_template).failures
    assert finding.path == ("InstanceGroups", 2, "OverrideVpcConfig", "SecurityGroupIds")


def test_groups_of_elsewhere_are_undetermined(judge, template):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["SecurityGroupIds"] = ["sg-0123456789abcdef0"]
    assert judge(ID, template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "rule",
    [
        {"CidrIp": "10.0.0.0/16"},
        {"DestinationPrefixListId": "pl-0123456789abcdef0"},
        {"DestinationSecurityGroupId": {"Fn::ImportValue": "endpoints"}},
    ],
    ids=str,
)
def test_endpoints_or_a_network_of_others_answer_at_private_addresses(judge, template, eks_template, rule):
    template["Resources"]["Subnet"]["Properties"]["VpcId"] = "vpc-0123456789abcdef0"
    eks_template["Resources"]["HttpsEgress"] = {"Type": "AWS::EC2::SecurityGroupEgress"}
    for found in (template, eks_template):
        _send(found, **rule)
        assert judge(ID, found).outcome(ID) == "pass"
