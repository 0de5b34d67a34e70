from __future__ import annotations

import pytest

ID = "SubnetRanges"


def _subnet(template, name="Subnet"):
    return template["Resources"][name]["Properties"]


def _add(template, cidr, **more):
    template["Resources"]["Second"] = {
        "Type": "AWS::EC2::Subnet",
        "Properties": {**_subnet(template), "CidrBlock": cidr, **more},
    }


def test_subnets_that_stay_have_nothing_to_say(judge_update, baseline, template):
    _subnet(template)["MapPublicIpOnLaunch"] = True
    assert judge_update(ID, baseline, template).verdicts == ()


def test_a_further_subnet_in_a_free_range_complies(judge_update, baseline, template):
    _add(template, "10.0.128.0/17")
    assert judge_update(ID, baseline, template).outcome(ID) == "pass"


def test_another_zone_with_the_same_range_fails(judge_update, baseline, template):
    _subnet(template)["AvailabilityZoneId"] = "usw2-az2"
    (finding,) = judge_update(ID, baseline, template).failures
    assert "10.0.0.0/17 overlaps its own old range, 10.0.0.0/17" in finding.message


def test_a_smaller_range_inside_the_old_one_fails(judge_update, baseline, template):
    _subnet(template)["CidrBlock"] = "10.0.64.0/18"
    (finding,) = judge_update(ID, baseline, template).failures
    assert finding.path == ("CidrBlock",)


def test_another_logical_id_with_the_old_range_fails(judge_update, baseline, template):
    template["Resources"]["Moved"] = template["Resources"].pop("Subnet")
    (finding,) = judge_update(ID, baseline, template).failures
    assert "overlaps that of Subnet" in finding.message


def test_another_vpc_complies(judge_update, baseline, template):
    _add(template, "10.0.0.0/17", VpcId="vpc-0123456789abcdef0")
    assert judge_update(ID, baseline, template).findings == ()


def test_a_move_to_a_free_range_complies(judge_update, baseline, template):
    _subnet(template).update(CidrBlock="10.0.128.0/17", AvailabilityZoneId="usw2-az2")
    assert judge_update(ID, baseline, template).findings == ()


@pytest.mark.parametrize("cidr", [{"Fn::Select": [0, {"Fn::Cidr": ["10.0.0.0/16", 4, 8]}]}, {"Ref": "Range"}])
def test_a_range_that_deployment_tells_is_undetermined(judge_update, baseline, template, cidr):
    template["Parameters"] = {"Range": {"Type": "String"}}
    _add(template, cidr)
    assert judge_update(ID, baseline, template).outcome(ID) == "undetermined"
