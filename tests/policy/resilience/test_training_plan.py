from __future__ import annotations

import pytest

ID = "TrainingPlan"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/llm"


def _workers(template):
    return template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]


def test_the_usual_cluster_complies(judge, template):
    report = judge(ID, template)
    assert report.outcome(ID) == "pass"
    assert len(report.verdicts) == 1  # nobody reserves a controller


def test_a_large_group_without_plan_is_a_warning(judge, template):
    _workers(template)["InstanceCount"] = 17
    (finding,) = judge(ID, template).failures
    assert finding.severity == "warning"
    assert finding.path == ("InstanceGroups", 1, "TrainingPlanArn")
    assert "group 'workers' wants 17 accelerated instances at once and has none" in finding.message


@pytest.mark.parametrize(
    "change",
    [
        {"TrainingPlanArn": PLAN},
        {"TrainingPlanArn": {"Ref": "Value"}},
        {"CapacityRequirements": {"Spot": {}}},
        {"CapacityRequirements": {"OnDemand": {}}},
        {"InstanceCount": 16},
        {"InstanceType": "ml.g5.48xlarge"},
        {"InstanceType": "ml.m5.4xlarge"},
    ],
    ids=str,
)
def test_a_plan_another_kind_of_capacity_or_a_type_without_plans_complies(judge, template, change):
    template["Parameters"] = {"Value": {"Type": "String"}}
    _workers(template).update({"InstanceCount": 500, **change})
    assert judge(ID, template).findings == ()


def test_an_empty_kind_of_capacity_says_nothing(judge, template):
    _workers(template).update(InstanceCount="64", CapacityRequirements={})
    assert judge(ID, template).outcome(ID) == "fail"


@pytest.mark.parametrize("member", ["InstanceCount", "InstanceType"])
def test_an_unresolved_value_is_undetermined(judge, template, member):
    template["Parameters"] = {"Value": {"Type": "String"}}
    _workers(template).update(InstanceCount=64)
    _workers(template)[member] = {"Ref": "Value"}
    report = judge(ID, template)
    assert report.failures == ()
    assert report.outcome(ID) == "undetermined"


def test_a_list_of_types_counts(judge, template):
    workers = _workers(template)
    del workers["InstanceType"]
    workers.update(
        InstanceCount=64, InstanceRequirements={"InstanceTypes": ["ml.g5.48xlarge", "ml.p5.48xlarge"]}
    )
    assert judge(ID, template).outcome(ID) == "fail"


def test_restricted_groups_count(judge, template):
    properties = template["Resources"]["Cluster"]["Properties"]
    group = {"InstanceGroupName": "nova", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 32}
    properties["RestrictedInstanceGroups"] = [group]
    (finding,) = judge(ID, template).failures
    assert finding.path == ("RestrictedInstanceGroups", 0, "TrainingPlanArn")


def test_both_branches_are_judged(judge, template):
    template["Conditions"] = {"Large": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _workers(template)["InstanceCount"] = {"Fn::If": ["Large", 128, 8]}
    (finding,) = judge(ID, template).failures
    assert finding.when == "condition Large is true"
