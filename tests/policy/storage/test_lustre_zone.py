from __future__ import annotations

import pytest

ID = "LustreZone"


def _elsewhere(template, **zone):
    template["Resources"]["Elsewhere"] = {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.128.0/17", **zone},
    }
    template["Resources"]["FileSystem"]["Properties"]["SubnetIds"] = [{"Ref": "Elsewhere"}]


def test_the_subnet_of_the_nodes_complies(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("zone", "outcome"),
    [
        ({"AvailabilityZoneId": "usw2-az1"}, "pass"),
        ({"AvailabilityZoneId": "usw2-az2"}, "fail"),
        ({"AvailabilityZone": "us-west-2b"}, "undetermined"),
        ({"AvailabilityZoneId": {"Fn::ImportValue": "zone"}}, "undetermined"),
        ({"AvailabilityZoneId": {"Fn::GetAtt": ["Subnet", "AvailabilityZoneId"]}}, "pass"),
        ({}, "undetermined"),
    ],
    ids=str,
)
def test_another_subnet(judge, template, zone, outcome):
    _elsewhere(template, **zone)
    assert judge(ID, template).outcome(ID) == outcome


def test_another_zone_is_a_warning(judge, template):
    _elsewhere(template, AvailabilityZoneId="usw2-az2")
    (finding,) = judge(ID, template).failures
    assert (finding.logical_id, finding.severity) == ("FileSystem", "warning")
    assert "is in another Availability Zone than Subnet" in finding.message


def test_another_zone_is_an_error_over_efa(judge, template):
    _elsewhere(template, AvailabilityZoneId="usw2-az2")
    template["Resources"]["FileSystem"]["Properties"]["LustreConfiguration"]["EfaEnabled"] = True
    (finding,) = judge(ID, template).failures
    assert finding.severity == "error"


def test_a_subnet_of_elsewhere_is_undetermined(judge, template):
    template["Resources"]["FileSystem"]["Properties"]["SubnetIds"] = ["subnet-0123456789abcdef0"]
    assert judge(ID, template).outcome(ID) == "undetermined"


def test_groups_without_accelerators_may_be_anywhere(judge, template):
    _elsewhere(template, AvailabilityZoneId="usw2-az2")
    del template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]
    assert judge(ID, template).verdicts == ()
