from __future__ import annotations

import pytest

ID = "NodeDns"


def test_a_vpc_that_resolves_names_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_no_resolution_fails(judge, template):
    template["Resources"]["Vpc"]["Properties"]["EnableDnsSupport"] = False
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.path) == ("Vpc", ("EnableDnsSupport",))
    assert "nodes resolve no name at all" in finding.message


@pytest.mark.parametrize("value", [False, "false", None])
def test_no_host_names_with_a_file_system_fail(judge, template, value):
    vpc = template["Resources"]["Vpc"]["Properties"]
    if value is None:
        del vpc["EnableDnsHostnames"]
    else:
        vpc["EnableDnsHostnames"] = value
    (finding,) = judge(ID, template).failures
    assert "the DNS name of file system FileSystem needs it" in finding.message


def test_no_host_names_with_a_private_endpoint_fail(judge, template):
    resources = template["Resources"]
    del resources["FileSystem"], resources["Vpc"]["Properties"]["EnableDnsHostnames"]
    resources["Endpoint"] = {
        "Type": "AWS::EC2::VPCEndpoint",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "PrivateDnsEnabled": True},
    }
    (finding,) = judge(ID, template).failures
    assert "the private names of VPC endpoint Endpoint need it" in finding.message


def test_a_parameter_is_undetermined(judge, template):
    template["Parameters"] = {"Dns": {"Type": "String"}}
    template["Resources"]["Vpc"]["Properties"]["EnableDnsSupport"] = {"Ref": "Dns"}
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_a_condition_decides(judge, template):
    template["Conditions"] = {"Dns": {"Fn::Not": [{"Fn::Equals": ["a", "a"]}]}}
    template["Resources"]["Vpc"]["Properties"]["EnableDnsSupport"] = {"Fn::If": ["Dns", True, False]}
    assert judge(ID, template).outcome(ID) == "fail"


def test_host_names_are_not_needed_without_file_system_and_endpoint(judge, template):
    del template["Resources"]["FileSystem"], template["Resources"]["Vpc"]["Properties"]["EnableDnsHostnames"]
    assert judge(ID, template).outcome(ID) == "pass"


def test_an_imported_vpc_is_left_alone(judge, template):
    template["Resources"]["Subnet"]["Properties"]["VpcId"] = "vpc-0123456789abcdef0"
    assert judge(ID, template).verdicts == ()
