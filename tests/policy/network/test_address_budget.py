from __future__ import annotations

import copy

import pytest

ID = "AddressBudget"


def _size(template, length):
    template["Resources"]["Subnet"]["Properties"]["CidrBlock"] = f"10.0.0.0/{length}"


def _groups(template):
    return template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]


def test_a_large_subnet_complies(judge, template, eks_template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_a_subnet_that_is_too_small_fails(judge, template):
    _size(template, 24)
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path, finding.severity) == ("Subnet", ("CidrBlock",), "warning")
    assert "a /24 subnet has 251 usable addresses, the cluster needs" in finding.message
    assert "use a prefix length of" in finding.message


def test_documented_figures_alone_are_an_error(judge, template):
    _size(template, 25)
    del _groups(template)[0]
    (finding,) = judge(ID, template).failures
    assert finding.severity == "error"


def test_pods_take_addresses_on_eks(judge, eks_template):
    _size(eks_template, 22)
    for group in _groups(eks_template):
        group["InstanceCount"] = 8
    assert judge(ID, eks_template).outcome(ID) == "fail"
    for group in _groups(eks_template):
        group["NetworkInterface"] = {"InterfaceType": "efa-only"}
    eks_template["Resources"]["Cluster"]["Properties"]["Orchestrator"] = {"Slurm": {}}
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_file_systems_and_endpoints_take_addresses(judge, eks_template):
    _size(eks_template, 28)
    for group in _groups(eks_template):
        group["InstanceCount"] = 0
    (finding,) = judge(ID, eks_template).failures
    assert "others" in finding.message


def test_groups_with_subnets_of_their_own_count_there(judge, template):
    _size(template, 26)
    _groups(template)[1]["OverrideVpcConfig"] = {
        "SecurityGroupIds": [{"Ref": "NodeGroup"}],
        "Subnets": [{"Ref": "Large"}],
    }
    template["Resources"]["Large"] = copy.deepcopy(template["Resources"]["Subnet"])
    template["Resources"]["Large"]["Properties"]["CidrBlock"] = "10.0.128.0/17"
    assert judge(ID, template).findings == ()
    template["Resources"]["Large"]["Properties"]["CidrBlock"] = "10.0.128.0/28"
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Large"


def test_several_subnets_hold_together(judge, template):
    _size(template, 22)
    template["Resources"]["Second"] = copy.deepcopy(template["Resources"]["Subnet"])
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["Subnets"].append({"Ref": "Second"})
    _groups(template)[1]["InstanceCount"] = 20
    assert judge(ID, template).findings == ()
    _groups(template)[1]["InstanceCount"] = 80
    (finding,) = judge(ID, template).failures
    assert "Subnet, Second together have 2038 usable addresses" in finding.message


@pytest.mark.parametrize(
    ("cidr", "outcome"),
    [
        ({"Fn::Select": [0, {"Fn::Cidr": [{"Fn::GetAtt": ["Vpc", "CidrBlock"]}, 4, 14]}]}, "pass"),
        ({"Fn::Select": [0, {"Fn::Cidr": [{"Fn::GetAtt": ["Vpc", "CidrBlock"]}, 4, "6"]}]}, "fail"),
        ({"Fn::ImportValue": "range"}, "undetermined"),
        ({"Fn::FindInMap": ["Ranges", {"Ref": "AWS::Region"}, "nodes"]}, "undetermined"),
        ({"Fn::FindInMap": ["Ranges", "all", "nodes"]}, "fail"),
    ],
    ids=str,
)
def test_ranges_that_functions_make(judge, template, cidr, outcome):
    template["Mappings"] = {"Ranges": {"all": {"nodes": "10.0.0.0/26"}}}
    template["Resources"]["Subnet"]["Properties"]["CidrBlock"] = cidr
    assert judge(ID, template).outcome(ID) == outcome


@pytest.mark.parametrize("member", ["InstanceType", "InstanceCount"])
def test_a_group_that_only_deployment_knows_is_undetermined(judge, template, member):
    template["Parameters"] = {"Given": {"Type": "String"}}
    _groups(template)[1][member] = {"Ref": "Given"}
    (finding,) = judge(ID, template).findings
    assert (finding.outcome, finding.logical_id) == ("undetermined", "Subnet")
    assert "group 'workers'" in finding.message


def test_a_parameter_with_values_says_when(judge, template):
    template["Parameters"] = {"Nodes": {"Type": "Number", "Default": 2, "AllowedValues": [2, 2000]}}
    _groups(template)[1]["InstanceCount"] = {"Ref": "Nodes"}
    (finding,) = judge(ID, template).failures
    assert finding.when == "parameter Nodes is 2000"


def test_subnets_of_elsewhere_are_undetermined(judge, template):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["Subnets"] = ["subnet-0123456789abcdef0"]
    (finding,) = judge(ID, template).findings
    assert (finding.outcome, finding.path) == ("undetermined", ("VpcConfig", "Subnets"))
