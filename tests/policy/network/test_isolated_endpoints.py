from __future__ import annotations

import copy

import pytest

from hyperpod_model.catalog.endpoints import required_endpoints

ID = "IsolatedEndpoints"
SERVICES = [found.service for found in required_endpoints("eks")]


def _endpoint(template, service):
    return next(
        (name, resource)
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::EC2::VPCEndpoint"
        and f"}}.{service}'" in str(resource["Properties"]["ServiceName"])
    )


def test_all_endpoints_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize("service", SERVICES)
def test_each_missing_endpoint_fails(judge, eks_template, service):
    del eks_template["Resources"][_endpoint(eks_template, service)[0]]
    (finding,) = judge(ID, eks_template).failures
    assert finding.logical_id == "Subnet"
    assert f"no endpoint for {service};" in finding.message


@pytest.fixture
def measured(eks_template):
    """The compliant template with the add-on that sends figures to Prometheus, and its endpoint."""
    resources = eks_template["Resources"]
    resources["Collection"] = {
        "Type": "AWS::EKS::Addon",
        "Properties": {"AddonName": "amazon-sagemaker-hyperpod-observability"},
    }
    resources["EndpointFigures"] = copy.deepcopy(_endpoint(eks_template, "sts")[1])
    name = {"Fn::Sub": "com.amazonaws.${AWS::Region}.aps-workspaces"}
    resources["EndpointFigures"]["Properties"]["ServiceName"] = name
    return eks_template


def test_figures_have_an_endpoint(judge, measured):
    assert judge(ID, measured).outcome(ID) == "pass"
    assert judge(ID, measured).findings == ()


def test_figures_without_an_endpoint_are_a_warning(judge, measured):
    del measured["Resources"]["EndpointFigures"]
    (finding,) = judge(ID, measured).failures
    assert (finding.logical_id, finding.severity) == ("Subnet", "warning")
    assert "has no endpoint for aps-workspaces: no figure arrives" in finding.message


def test_figures_need_private_dns(judge, measured):
    measured["Resources"]["EndpointFigures"]["Properties"]["PrivateDnsEnabled"] = False
    (finding,) = judge(ID, measured).failures
    assert (finding.logical_id, finding.path) == ("EndpointFigures", ("PrivateDnsEnabled",))


def test_figures_in_an_imported_vpc_are_undetermined(judge, measured):
    del measured["Resources"]["EndpointFigures"]
    for resource in measured["Resources"].values():
        if resource.get("Properties", {}).get("VpcId") == {"Ref": "Vpc"}:
            resource["Properties"]["VpcId"] = "vpc-0123456789abcdef0"
    report = judge(ID, measured)
    assert report.failures == ()
    assert "no endpoint for aps-workspaces: no figure arrives" in report.text()


@pytest.mark.parametrize("name", [{"Ref": "Name"}, "amazon-cloudwatch-observability"], ids=str)
def test_other_add_ons_need_no_endpoint_for_figures(judge, measured, name):
    measured["Parameters"] = {"Name": {"Type": "String"}}
    measured["Resources"]["Collection"]["Properties"]["AddonName"] = name
    del measured["Resources"]["EndpointFigures"]
    assert judge(ID, measured).findings == ()


def test_slurm_needs_fewer(judge, eks_template):
    eks_template["Resources"]["Cluster"]["Properties"]["Orchestrator"] = {"Slurm": {}}
    del eks_template["Resources"][_endpoint(eks_template, "eks-auth")[0]]
    assert judge(ID, eks_template).findings == ()


def test_a_name_of_another_partition_counts(judge, eks_template):
    for service in ("sts", "ecr.api"):
        _, endpoint = _endpoint(eks_template, service)
        endpoint["Properties"]["ServiceName"] = f"com.amazonaws.us-west-2.{service}"
    assert judge(ID, eks_template).findings == ()


def test_an_endpoint_of_another_vpc_does_not_count(judge, eks_template):
    _endpoint(eks_template, "sts")[1]["Properties"]["VpcId"] = "vpc-0123456789abcdef0"
    assert judge(ID, eks_template).outcome(ID) == "fail"


def test_private_dns_off_fails(judge, eks_template):
    name, endpoint = _endpoint(eks_template, "ecr.dkr")
    endpoint["Properties"]["PrivateDnsEnabled"] = "false"
    (finding,) = judge(ID, eks_template).failures
    assert finding.logical_id == name
    assert "nodes look for ecr.dkr on the internet" in finding.message


def test_a_gateway_in_other_tables_fails(judge, eks_template):
    name, endpoint = _endpoint(eks_template, "s3")
    endpoint["Properties"]["RouteTableIds"] = ["rtb-0123456789abcdef0"]
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.path) == (name, ("RouteTableIds",))


def test_a_gateway_in_tables_of_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Tables": {"Type": "CommaDelimitedList"}}
    _endpoint(eks_template, "s3")[1]["Properties"]["RouteTableIds"] = {"Ref": "Tables"}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_endpoints_of_an_imported_vpc_are_undetermined(judge, eks_template):
    del eks_template["Resources"][_endpoint(eks_template, "sts")[0]]
    for resource in eks_template["Resources"].values():
        if resource.get("Properties", {}).get("VpcId") == {"Ref": "Vpc"}:
            resource["Properties"]["VpcId"] = "vpc-0123456789abcdef0"
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "way", [{"NatGatewayId": "nat-1"}, {"TransitGatewayId": "tgw-1"}, {"VpcEndpointId": "vpce-1"}]
)
def test_a_network_with_a_way_out_has_nothing_to_say(judge, eks_template, way):
    eks_template["Resources"]["Way"] = {
        "Type": "AWS::EC2::Route",
        "Properties": {"RouteTableId": {"Ref": "RouteTable"}, "DestinationCidrBlock": "0.0.0.0/0", **way},
    }
    assert judge(ID, eks_template).verdicts == ()


def test_the_main_route_table_of_a_vpc_of_the_template_leads_nowhere(judge, template):
    del template["Resources"]["RouteTableAssociation"], template["Resources"]["S3Endpoint"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.outcome) == ("Subnet", "fail")
    assert "nodes have no way to the internet" in finding.message


def test_a_gateway_serves_no_subnet_without_route_table(judge, eks_template):
    del eks_template["Resources"]["RouteTableAssociation"]
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.path) == (_endpoint(eks_template, "s3")[0], ("RouteTableIds",))


def test_a_network_whose_tables_are_not_in_the_template_has_nothing_to_say(judge, eks_template):
    del eks_template["Resources"]["RouteTableAssociation"]
    eks_template["Resources"]["Subnet"]["Properties"]["VpcId"] = "vpc-0123456789abcdef0"
    assert judge(ID, eks_template).verdicts == ()


def _nat_in(template, *, table=True, route=True):
    """The NAT gateway in a public subnet of the template, or in one that is not public after all."""
    made = template["Resources"]
    made["Public"] = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}}}
    made["Nat"]["Properties"]["SubnetId"] = {"Ref": "Public"}
    if table:
        made["PublicTable"] = {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}}
        made["PublicAssociation"] = {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": {"Ref": "Public"}, "RouteTableId": {"Ref": "PublicTable"}},
        }
    if route:
        made["PublicRoute"] = {
            "Type": "AWS::EC2::Route",
            "Properties": {
                "RouteTableId": {"Ref": "PublicTable"},
                "DestinationCidrBlock": "0.0.0.0/0",
                "GatewayId": {"Ref": "InternetGateway"},
            },
        }


def test_a_nat_gateway_in_a_public_subnet_is_a_way_out(judge, template):
    _nat_in(template)
    assert judge(ID, template).verdicts == ()


@pytest.mark.parametrize("parts", [{"route": False}, {"table": False, "route": False}], ids=str)
def test_a_nat_gateway_without_way_out_leads_nowhere(judge, template, parts):
    _nat_in(template, **parts)
    assert judge(ID, template).outcome(ID) == "fail"


def test_a_nat_gateway_behind_a_route_table_of_others_is_a_way_out(judge, template):
    _nat_in(template, route=False)
    template["Resources"]["PublicAssociation"]["Properties"]["RouteTableId"] = "rtb-0123456789abcdef0"
    assert judge(ID, template).verdicts == ()


@pytest.mark.parametrize(
    ("member", "outcome"), [("NatGatewayId", "fail"), ("TransitGatewayId", None)], ids=str
)
def test_a_route_to_private_addresses_through_nat_leads_nowhere(judge, template, member, outcome):
    template["Resources"]["Route"]["Properties"] = {
        "RouteTableId": {"Ref": "RouteTable"},
        "DestinationCidrBlock": "10.0.0.0/8",
        member: {"Ref": "Nat"},
    }
    assert judge(ID, template).outcome(ID) == outcome
