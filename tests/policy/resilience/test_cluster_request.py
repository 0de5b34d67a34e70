from __future__ import annotations

import pytest

ID = "ClusterRequest"


def _properties(template):
    return template["Resources"]["Cluster"]["Properties"]


def test_legal_properties_comply(judge, template):
    assert judge(ID, template).outcome(ID) == "pass"


def test_each_fault_is_a_finding_at_its_place(judge, template):
    groups = _properties(template)["InstanceGroups"]
    groups[0]["OnStartDeepHealthChecks"] = ["InstanceStress"]
    groups[1]["InstanceGroupName"] = "not_legal"
    findings = judge(ID, template).failures
    assert {finding.path for finding in findings} == {
        ("InstanceGroups", 0, "OnStartDeepHealthChecks"),
        ("InstanceGroups", 1, "InstanceGroupName"),
    }
    assert any("needs an accelerated instance type" in finding.message for finding in findings)


def test_lifecycle_modes_exclude_each_other(judge, template):
    _properties(template)["InstanceGroups"][0]["LifeCycleConfig"]["OnCreate"] = "on_create.sh"
    assert judge(ID, template).outcome(ID) == "fail"


@pytest.mark.parametrize("member", ["InstanceCount", "InstanceType", "ExecutionRole"])
def test_an_unresolved_value_passes(judge, template, member):
    template["Parameters"] = {"Value": {"Type": "String"}}
    _properties(template)["InstanceGroups"][1][member] = {"Ref": "Value"}
    assert judge(ID, template).outcome(ID) == "pass"


def test_a_number_from_a_parameter_counts(judge, template):
    template["Parameters"] = {"Count": {"Type": "Number", "Default": 99999}}
    _properties(template)["InstanceGroups"][1]["InstanceCount"] = {"Ref": "Count"}
    (finding,) = judge(ID, template).failures
    assert finding.path == ("InstanceGroups", 1, "InstanceCount")


@pytest.mark.parametrize("count", ["16", 16])
def test_text_counts_as_number(judge, template, count):
    _properties(template)["InstanceGroups"][1]["InstanceCount"] = count
    assert judge(ID, template).findings == ()


def test_if_branches_are_judged_apart(judge, template):
    template["Conditions"] = {"Two": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    groups = _properties(template)["InstanceGroups"]
    groups[0]["InstanceCount"] = {"Fn::If": ["Two", 2, 1]}
    findings = judge(ID, template).failures
    assert findings
    assert {finding.when for finding in findings} == {"condition Two is true"}


def test_other_resources_are_left_alone(judge, template):
    template["Resources"]["Model"] = {
        "Type": "AWS::SageMaker::Model",
        "Properties": {"ModelName": "not_legal"},
    }
    assert judge(ID, template).findings == ()


def test_an_absent_name_is_undetermined(judge, template):
    """CloudFormation documents it as optional, the API does not."""
    del _properties(template)["ClusterName"]
    report = judge(ID, template)
    assert report.failures == ()
    (finding,) = report.findings
    assert finding.path == ("ClusterName",)
    assert "is not set, which CloudFormation documents as legal and CreateCluster as not" in finding.message


def test_other_properties_are_named_as_in_a_template(judge, template):
    volume = {"EbsVolumeConfig": {"RootVolume": True, "VolumeSizeInGB": 200}}
    _properties(template)["InstanceGroups"][1]["InstanceStorageConfigs"] = [volume]
    message = " ".join(finding.message for finding in judge(ID, template).failures)
    assert "give the size to a secondary volume" in message
    assert "secondary_volume_size_gib" not in message
    assert "root_volume_kms_key" not in message
    assert "VolumeKmsKeyId is required for a root volume" in message
    assert "(VolumeKmsKeyId)" not in message
