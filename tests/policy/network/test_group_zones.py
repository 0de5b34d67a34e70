from __future__ import annotations

import copy

import pytest

ID = "GroupZones"


def _add_subnet(template, **zone):
    subnet = copy.deepcopy(template["Resources"]["Subnet"])
    del subnet["Properties"]["AvailabilityZoneId"]
    subnet["Properties"].update(zone)
    template["Resources"]["Second"] = subnet


def _own(template):
    return template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][2]["OverrideVpcConfig"]


def test_one_zone_complies(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_another_subnet_of_the_same_zone_complies(judge, eks_template):
    _add_subnet(eks_template, AvailabilityZoneId="usw2-az1")
    _own(eks_template)["Subnets"] = [{"Ref": "Second"}]
    assert judge(ID, eks_template).findings == ()


def test_a_group_in_another_zone_is_a_warning(judge, eks_template):
    _add_subnet(eks_template, AvailabilityZoneId="usw2-az2")
    _own(eks_template)["Subnets"] = [{"Ref": "Second"}]
    (finding,) = judge(ID, eks_template).failures
    assert finding.severity == "warning"
    assert "group 'own-network' is in usw2-az2 and group 'workers' in usw2-az1" in finding.message


def test_a_group_across_zones_fails(judge, eks_template):
    _add_subnet(eks_template, AvailabilityZoneId="usw2-az2")
    _own(eks_template)["Subnets"] = [{"Ref": "Subnet"}, {"Ref": "Second"}]
    (finding,) = judge(ID, eks_template).failures
    assert finding.severity == "error"
    assert "group 'own-network' spans usw2-az1 and usw2-az2" in finding.message


def test_groups_without_accelerators_may_be_anywhere(judge, eks_template):
    _add_subnet(eks_template, AvailabilityZoneId="usw2-az2")
    _own(eks_template)["Subnets"] = [{"Ref": "Second"}]
    eks_template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][2]["InstanceType"] = "ml.m5.2xlarge"
    assert judge(ID, eks_template).verdicts == ()


def test_a_zone_by_name_cannot_be_compared_with_one_by_id(judge, eks_template):
    _add_subnet(eks_template, AvailabilityZone="us-west-2a")
    _own(eks_template)["Subnets"] = [{"Ref": "Second"}]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_a_subnet_of_elsewhere_is_undetermined(judge, eks_template):
    _own(eks_template)["Subnets"] = ["subnet-0123456789abcdef0"]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_a_zone_from_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Zone": {"Type": "String"}}
    _add_subnet(eks_template, AvailabilityZoneId={"Ref": "Zone"})
    _own(eks_template)["Subnets"] = [{"Ref": "Second"}]
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_own_security_groups_must_be_shaped_for_efa_too(judge, eks_template):
    _own(eks_template)["SecurityGroupIds"].append({"Ref": "LustreGroup"})
    failures = judge("EfaSelfTraffic", eks_template).failures
    assert {finding.logical_id for finding in failures} == {"LustreGroup"}
    assert len(failures) == 2


def test_groups_without_subnets_of_their_own_have_nothing_to_say(judge, template):
    assert judge(ID, template).verdicts == ()


def test_a_malformed_override_has_no_zone(judge, eks_template):
    eks_template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][2]["OverrideVpcConfig"] = True
    assert judge(ID, eks_template).failures == ()


def _second_subnet(template, **zone):
    template["Resources"]["Second"] = {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.128.0/17", **zone},
    }
    template["Resources"]["Cluster"]["Properties"]["VpcConfig"]["Subnets"].append({"Ref": "Second"})


@pytest.mark.parametrize(
    ("zone", "outcome"),
    [
        ({"AvailabilityZoneId": "usw2-az1"}, None),
        ({"AvailabilityZoneId": "usw2-az2"}, "fail"),
        ({"AvailabilityZone": "us-west-2b"}, "undetermined"),
        ({"AvailabilityZoneId": {"Fn::ImportValue": "zone"}}, "undetermined"),
    ],
    ids=str,
)
def test_subnets_of_the_whole_cluster(judge, template, zone, outcome):
    _second_subnet(template, **zone)
    report = judge(ID, template)
    assert report.outcome(ID) == outcome
    assert all(finding.severity == "warning" for finding in report.failures)


def test_groups_without_accelerators_may_spread(judge, template):
    _second_subnet(template, AvailabilityZoneId="usw2-az2")
    del template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]
    assert judge(ID, template).verdicts == ()
