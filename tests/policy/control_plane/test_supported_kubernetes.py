from __future__ import annotations

import pytest

ID = "EksKubernetesVersion"


def _eks(template):
    return template["Resources"]["Eks"]["Properties"]


@pytest.mark.parametrize("version", ["1.33", "1.30", 1.33])
def test_a_version_of_all_sources_complies(judge, eks_template, version):
    _eks(eks_template)["Version"] = version
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize("version", ["1.27", "1.99", "latest", "1"])
def test_a_version_of_no_source_fails(judge, eks_template, version):
    _eks(eks_template)["Version"] = version
    (finding,) = judge(ID, eks_template).failures
    assert (finding.path, finding.severity) == (("Version",), "error")
    assert f"got '{version}'" in finding.message


@pytest.mark.parametrize("version", ["1.29", "1.35"])
def test_a_version_of_some_sources_is_a_warning(judge, eks_template, version):
    _eks(eks_template)["Version"] = version
    (finding,) = judge(ID, eks_template).failures
    assert finding.severity == "warning"
    assert "is not in every list of supported Kubernetes versions" in finding.message


@pytest.mark.parametrize(("version", "words"), [(None, "is not set, so EKS takes its newest"), ({}, "is ")])
def test_an_absent_or_unresolved_version_is_undetermined(judge, eks_template, version, words):
    eks_template["Parameters"] = {"Version": {"Type": "String"}}
    _eks(eks_template)["Version"] = {"Ref": "Version"} if version == {} else version
    (finding,) = judge(ID, eks_template).findings
    assert finding.outcome == "undetermined"
    assert words in finding.message


def test_both_branches_are_judged(judge, eks_template):
    eks_template["Conditions"] = {"Old": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _eks(eks_template)["Version"] = {"Fn::If": ["Old", "1.27", "1.33"]}
    (finding,) = judge(ID, eks_template).failures
    assert finding.when == "condition Old is true"


def test_an_eks_cluster_of_another_stack_is_undetermined(judge, eks_template):
    cluster = eks_template["Resources"]["Cluster"]["Properties"]
    cluster["Orchestrator"] = {"Eks": {"ClusterArn": {"Fn::ImportValue": "eks"}}}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_other_eks_clusters_are_left_alone(judge, eks_template):
    eks_template["Resources"]["Other"] = {"Type": "AWS::EKS::Cluster", "Properties": {"Version": "1.20"}}
    assert judge(ID, eks_template).findings == ()
