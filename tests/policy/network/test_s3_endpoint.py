from __future__ import annotations

import pytest

ID = "S3Endpoint"


def _endpoint(template):
    return template["Resources"]["S3Endpoint"]["Properties"]


def test_an_endpoint_beside_nat_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"
    assert judge(ID, template).findings == ()


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"RouteTableIds": []}, "fail"),
        ({"RouteTableIds": ["rtb-0123456789abcdef0"]}, "fail"),
        ({"RouteTableIds": [{"Fn::ImportValue": "table"}]}, "fail"),
        ({"RouteTableIds": [{"Ref": "Table"}]}, "undetermined"),
        ({"RouteTableIds": {"Ref": "Tables"}}, "undetermined"),
        ({"ServiceName": "com.amazonaws.us-west-2.dynamodb"}, "fail"),
        ({"ServiceName": {"Ref": "Table"}}, "undetermined"),
        ({"VpcEndpointType": "Interface"}, "fail"),
        ({"VpcId": "vpc-0123456789abcdef0"}, "fail"),
    ],
    ids=str,
)
def test_an_endpoint_that_serves_others(judge, template, changes, outcome):
    template["Parameters"] = {"Table": {"Type": "String"}, "Tables": {"Type": "CommaDelimitedList"}}
    _endpoint(template).update(changes)
    assert judge(ID, template).outcome(ID) == outcome


def test_no_endpoint_is_a_warning(judge, template):
    del template["Resources"]["S3Endpoint"]
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("Subnet", "warning")
    assert "reach S3 through the NAT gateway" in finding.message


def test_a_type_left_out_is_a_gateway(judge, template):
    del _endpoint(template)["VpcEndpointType"]
    assert judge(ID, template).outcome(ID) == "pass"


def test_networks_without_nat_have_rules_of_their_own(judge, eks_template):
    assert judge(ID, eks_template).verdicts == ()


def test_networks_of_others_are_left_alone(judge, template):
    del template["Resources"]["S3Endpoint"]
    template["Resources"]["Subnet"]["Properties"]["VpcId"] = "vpc-0123456789abcdef0"
    assert judge(ID, template).verdicts == ()
