from __future__ import annotations

import pytest

ID = "Checkpointless"


def _operator(template):
    return template["Resources"]["TrainingOperator"]["Properties"]


def _groups(template):
    return template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]


@pytest.mark.parametrize("version", [None, "v1.2.0-eksbuild.1", "v1.10.0-eksbuild.3"])
def test_a_recent_operator_complies(judge, eks_template, version):
    _operator(eks_template)["AddonVersion"] = version
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_an_old_operator_is_advised_against(judge, eks_template):
    _operator(eks_template)["AddonVersion"] = "v1.1.3-eksbuild.1"
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.severity) == ("TrainingOperator", "advice")
    assert "must be 1.2.0 or later" in finding.message


def test_a_single_node_has_no_peer(judge, eks_template):
    groups = _groups(eks_template)
    del groups[2]
    groups[1]["InstanceCount"] = 1
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.severity) == ("Cluster", "advice")
    assert "needs 2 accelerated nodes or more, got 1" in finding.message


@pytest.mark.parametrize("member", ["InstanceCount", "InstanceType"])
def test_nodes_from_a_parameter_are_left_to_deployment(judge, eks_template, member):
    eks_template["Parameters"] = {"Value": {"Type": "String"}}
    groups = _groups(eks_template)
    del groups[2]
    groups[1][member] = {"Ref": "Value"}
    assert judge(ID, eks_template).findings == ()


def test_a_version_from_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Version": {"Type": "String"}}
    _operator(eks_template)["AddonVersion"] = {"Ref": "Version"}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_both_branches_are_judged(judge, eks_template):
    eks_template["Conditions"] = {"Old": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    _operator(eks_template)["AddonVersion"] = {"Fn::If": ["Old", "v1.0.0", "v1.2.0"]}
    (finding,) = judge(ID, eks_template).failures
    assert finding.when == "condition Old is true"


def test_without_the_operator_nobody_asks(judge, template, eks_template):
    del eks_template["Resources"]["TrainingOperator"]
    for found in (template, eks_template):
        assert judge(ID, found).verdicts == ()
