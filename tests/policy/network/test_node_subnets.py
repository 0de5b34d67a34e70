from __future__ import annotations

import pytest

ID = "NodeSubnets"


def test_a_private_subnet_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize("value", [True, "true"])
def test_public_addresses_fail(judge, template, value):
    template["Resources"]["Subnet"]["Properties"]["MapPublicIpOnLaunch"] = value
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("Subnet", ("MapPublicIpOnLaunch",))
    assert "gives instances a public address" in finding.message


@pytest.mark.parametrize("gateway", [{"Ref": "InternetGateway"}, "igw-0123456789abcdef0"], ids=str)
def test_a_route_to_an_internet_gateway_fails(judge, template, gateway):
    route = template["Resources"]["Route"]["Properties"]
    del route["NatGatewayId"]
    route["GatewayId"] = gateway
    (finding,) = judge(ID, template).failures
    assert finding.logical_id == "Route"
    assert "routes Subnet, a subnet of the nodes, to an internet gateway" in finding.message


def test_an_imported_subnet_is_undetermined(judge, template):
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["Subnets"] = ["subnet-0123456789abcdef0"]
    report = judge(ID, template)
    assert report.outcome(ID) == "undetermined"
    assert "subnet subnet-0123456789abcdef0 is not in this template" in report.text()


def test_a_parameter_decides(judge, template):
    template["Parameters"] = {"Public": {"Type": "String"}}
    template["Resources"]["Subnet"]["Properties"]["MapPublicIpOnLaunch"] = {"Ref": "Public"}
    assert judge(ID, template).outcome(ID) == "undetermined"
    assert judge(ID, template, parameters={"Public": "true"}).outcome(ID) == "fail"
    assert judge(ID, template, parameters={"Public": "false"}).outcome(ID) == "pass"


def test_no_value_means_the_default(judge, template):
    template["Resources"]["Subnet"]["Properties"]["MapPublicIpOnLaunch"] = {"Ref": "AWS::NoValue"}
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_public_subnet_of_others_is_left_alone(judge, template):
    template["Resources"]["Public"] = {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "MapPublicIpOnLaunch": True},
    }
    assert judge(ID, template).findings == ()


def test_a_gateway_endpoint_is_no_internet_gateway(judge, template):
    template["Resources"]["Route"]["Properties"]["GatewayId"] = {"Ref": "Endpoint"}
    template["Resources"]["Endpoint"] = {"Type": "AWS::EC2::VPCEndpoint", "Properties": {}}
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("gateway", "outcome"),
    [
        ({"Ref": "PrivateGateway"}, "pass"),
        ("vgw-0123456789abcdef0", "pass"),
        ({"Fn::ImportValue": "gateway"}, "undetermined"),
        ({"Ref": "Gateway"}, "undetermined"),
    ],
    ids=str,
)
def test_other_gateways(judge, template, gateway, outcome):
    template["Parameters"] = {"Gateway": {"Type": "String"}}
    template["Resources"]["PrivateGateway"] = {"Type": "AWS::EC2::VPNGateway", "Properties": {}}
    route = template["Resources"]["Route"]["Properties"]
    del route["NatGatewayId"]
    route["GatewayId"] = gateway
    assert judge(ID, template).outcome(ID) == outcome
