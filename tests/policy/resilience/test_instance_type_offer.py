from __future__ import annotations

from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.regions import offers, regions_offering

ID = "InstanceTypeOffer"
REGION = "us-west-2"
ABSENT = next(
    name for name in instance_types() if offers(REGION, name).certain and not offers(REGION, name).value
)
DOUBTFUL = next(name for name in instance_types() if not offers(REGION, name).certain)


def _workers(template):
    return template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]


def test_offered_types_comply(judge, template):
    report = judge(ID, template, region=REGION)
    assert report.outcome(ID) == "pass"
    assert report.findings == ()


def test_a_missing_type_fails_with_where_it_is(judge, template):
    _workers(template)["InstanceType"] = ABSENT
    (finding,) = judge(ID, template, region=REGION).failures
    assert (
        f"{REGION} offers no {ABSENT}; expected: a region that has it: {regions_offering(ABSENT)[0]}"
        in finding.message
    )


def test_a_doubtful_offer_is_undetermined(judge, template):
    _workers(template)["InstanceType"] = DOUBTFUL
    assert judge(ID, template, region=REGION).outcome(ID) == "undetermined"


def test_an_unlisted_region_is_undetermined(judge, template):
    report = judge(ID, template, region="xx-north-9")
    assert report.outcome(ID) == "undetermined"
    assert "xx-north-9 is not in the catalog" in report.text()


def test_a_type_that_nobody_knows_fails_in_any_region(judge, template):
    _workers(template)["InstanceType"] = "ml.p5.48xlage"
    for region in (REGION, None):
        (finding,) = judge(ID, template, region=region).failures
        assert "a type of the API, such as ml.p5.48xlarge" in finding.message
    _workers(template)["InstanceType"] = "ml.zz9.plural"
    (finding,) = judge(ID, template, region=REGION).failures
    assert "such as ml.p5.48xlarge" in finding.message


def test_each_type_of_a_flexible_group_counts(judge, template):
    workers = _workers(template)
    del workers["InstanceType"]
    workers["InstanceRequirements"] = {"InstanceTypes": ["ml.p5.48xlarge", ABSENT]}
    (finding,) = judge(ID, template, region=REGION).failures
    assert finding.path == ("InstanceGroups", 1, "InstanceRequirements", "InstanceTypes", 1)


def test_a_type_from_a_mapping_counts(judge, template):
    template["Mappings"] = {"Types": {REGION: {"worker": ABSENT}}}
    _workers(template)["InstanceType"] = {"Fn::FindInMap": ["Types", {"Ref": "AWS::Region"}, "worker"]}
    assert judge(ID, template, region=REGION).outcome(ID) == "fail"


def test_nothing_is_said_without_region(judge, template):
    _workers(template)["InstanceType"] = ABSENT
    assert judge(ID, template).verdicts == ()


def test_an_unresolved_type_is_left_alone(judge, template):
    template["Parameters"] = {"Type": {"Type": "String"}}
    _workers(template)["InstanceType"] = {"Ref": "Type"}
    assert judge(ID, template, region=REGION).findings == ()
