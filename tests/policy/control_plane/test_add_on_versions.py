from __future__ import annotations

import pytest

ID = "EksAddOnVersions"


def _cni(template):
    return template["Resources"]["VpcCni"]["Properties"]


@pytest.mark.parametrize("version", ["v1.18.3-eksbuild.1", "v1.19.0-eksbuild.1", "v1.20.4-eksbuild.2"])
def test_a_recent_version_complies(judge, eks_template, version):
    _cni(eks_template)["AddonVersion"] = version
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("version", "words"),
    [("v1.18.2-eksbuild.1", "must be 1.18.3 or later"), ("newest", "must be a version such as")],
)
def test_an_old_or_odd_version_fails(judge, eks_template, version, words):
    _cni(eks_template)["AddonVersion"] = version
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.path) == ("VpcCni", ("AddonVersion",))
    assert words in finding.message


def test_no_version_has_nothing_to_say(judge, eks_template):
    """EKS then takes the default of the cluster's version, which is later than what HyperPod asks for."""
    del _cni(eks_template)["AddonVersion"]
    assert judge(ID, eks_template).verdicts == ()


def test_a_version_from_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Version": {"Type": "String"}}
    _cni(eks_template)["AddonVersion"] = {"Ref": "Version"}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_both_branches_are_judged(judge, eks_template):
    eks_template["Conditions"] = {"Old": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _cni(eks_template)["AddonVersion"] = {"Fn::If": ["Old", "v1.15.1-eksbuild.1", {"Ref": "AWS::NoValue"}]}
    (finding,) = judge(ID, eks_template).failures
    assert finding.when == "condition Old is true"


def test_add_ons_of_another_cluster_and_other_versions_are_left_alone(judge, eks_template):
    resources = eks_template["Resources"]
    resources["Other"] = {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "other"}}
    resources["OtherCni"] = {
        "Type": "AWS::EKS::Addon",
        "Properties": {
            "AddonName": "vpc-cni",
            "ClusterName": {"Ref": "Other"},
            "AddonVersion": "v1.12.0-eksbuild.1",
        },
    }
    resources["CertManager"]["Properties"]["AddonVersion"] = "v0.1.0"
    assert judge(ID, eks_template).findings == ()
