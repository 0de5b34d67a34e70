from __future__ import annotations

import pytest

ID = "EndpointPorts"


def test_endpoints_that_admit_the_nodes_comply(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("EndpointsFromNodes", "admits no tcp 443 from the nodes"),
        ("NodesToEndpoints", "the nodes send no tcp 443 to it"),
    ],
)
def test_a_missing_rule_fails_for_every_endpoint(judge, eks_template, rule, words):
    del eks_template["Resources"][rule]
    failures = judge(ID, eks_template).failures
    assert {finding.resource_type for finding in failures} == {"AWS::EC2::VPCEndpoint"}
    assert len(failures) > 3
    assert all(words in finding.message for finding in failures)


def test_the_default_group_of_the_vpc_fails(judge, eks_template):
    del eks_template["Resources"]["EndpointSts"]["Properties"]["SecurityGroupIds"]
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.path) == ("EndpointSts", ("SecurityGroupIds",))


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ({"CidrIp": "10.0.0.0/16"}, "pass"),
        ({"CidrIp": {"Fn::GetAtt": ["Vpc", "CidrBlock"]}}, "pass"),
        ({"CidrIp": "10.0.0.0/17"}, "pass"),
        ({"CidrIp": "10.9.0.0/16"}, "fail"),
        ({"CidrIp": {"Fn::ImportValue": "range"}}, "undetermined"),
        ({"SourceSecurityGroupId": "sg-0123456789abcdef0"}, "fail"),
        ({"SourceSecurityGroupId": {"Fn::ImportValue": "group"}}, "fail"),
    ],
    ids=str,
)
def test_a_range_that_holds_the_nodes_counts(judge, eks_template, source, outcome):
    rule = eks_template["Resources"]["EndpointsFromNodes"]["Properties"]
    del rule["SourceSecurityGroupId"]
    rule.update(source)
    assert judge(ID, eks_template).outcome(ID) == outcome


def _send_everything(eks_template):
    rule = eks_template["Resources"]["NodesToEndpoints"]["Properties"]
    del rule["DestinationSecurityGroupId"], rule["FromPort"], rule["ToPort"]
    rule.update(IpProtocol="-1", CidrIp="0.0.0.0/0")


def test_nodes_that_send_everything_comply(judge, eks_template):
    _send_everything(eks_template)
    assert judge(ID, eks_template).findings == ()


def test_a_group_of_elsewhere_is_undetermined(judge, eks_template):
    _send_everything(eks_template)
    eks_template["Resources"]["EndpointSts"]["Properties"]["SecurityGroupIds"] = [
        {"Fn::ImportValue": "endpoints"}
    ]
    (finding,) = judge(ID, eks_template).findings
    assert (finding.logical_id, finding.outcome) == ("EndpointSts", "undetermined")


def test_a_network_with_a_way_out_has_nothing_to_say(judge, template):
    assert judge(ID, template).verdicts == ()
