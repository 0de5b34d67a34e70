from __future__ import annotations

import pytest

ID = "EksAddOnOrder"


def _depends(template, name):
    return template["Resources"][name].setdefault("DependsOn", [])


def _add_on(name, **more):
    return {
        "Type": "AWS::EKS::Addon",
        "Properties": {"AddonName": name, "ClusterName": {"Ref": "Eks"}, **more},
    }


def test_the_documented_order_complies(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize("name", ["VpcCni", "PodIdentityAgent"])
def test_nodes_that_come_before_what_they_need_are_a_warning(judge, eks_template, name):
    _depends(eks_template, "Cluster").remove(name)
    (finding,) = judge(ID, eks_template).failures
    assert (finding.logical_id, finding.severity) == ("Cluster", "warning")
    assert f"does not wait for {name} (" in finding.message


@pytest.mark.parametrize("name", ["CertManager", "PodIdentityAgent"])
def test_an_operator_that_does_not_wait_is_a_warning(judge, eks_template, name):
    _depends(eks_template, "TrainingOperator").remove(name)
    (finding,) = judge(ID, eks_template).failures
    assert finding.logical_id == "TrainingOperator"
    assert f"does not wait for {name} (" in finding.message


def test_waiting_through_others_complies(judge, eks_template):
    eks_template["Resources"]["TrainingOperator"]["DependsOn"] = ["CertManager"]
    _depends(eks_template, "CertManager").append("PodIdentityAgent")
    assert judge(ID, eks_template).findings == ()


def test_an_operator_without_what_it_needs_is_undetermined(judge, eks_template):
    del eks_template["Resources"]["CertManager"]
    _depends(eks_template, "TrainingOperator").remove("CertManager")
    (finding,) = judge(ID, eks_template).findings
    assert finding.outcome == "undetermined"
    assert "needs cert-manager, which is not in this template" in finding.message


def test_an_add_on_that_waits_for_nodes_before_there_are_any_is_undetermined(judge, eks_template):
    eks_template["Resources"]["CoreDns"] = _add_on("coredns")
    _depends(eks_template, "Cluster").append("CoreDns")
    (finding,) = judge(ID, eks_template).findings
    assert (finding.outcome, finding.logical_id) == ("undetermined", "CoreDns")
    assert "coredns comes before there are nodes and is DEGRADED until then" in finding.message


def test_with_nodes_of_eks_it_complies(judge, eks_template):
    eks_template["Resources"]["CoreDns"] = _add_on("coredns")
    _depends(eks_template, "Cluster").append("CoreDns")
    eks_template["Resources"]["System"] = {
        "Type": "AWS::EKS::Nodegroup",
        "Properties": {"ClusterName": {"Ref": "Eks"}},
    }
    assert judge(ID, eks_template).findings == ()


def test_a_driver_with_a_role_of_its_service_account_needs_no_agent(judge, eks_template):
    driver = _add_on("aws-fsx-csi-driver", ServiceAccountRoleArn={"Fn::GetAtt": ["TokenRole", "Arn"]})
    eks_template["Resources"]["Driver"] = driver
    assert judge(ID, eks_template).findings == ()
    del driver["Properties"]["ServiceAccountRoleArn"]
    assert judge(ID, eks_template).outcome(ID) == "fail"


def test_a_name_from_a_parameter_and_other_add_ons_are_left_alone(judge, eks_template):
    eks_template["Parameters"] = {"Name": {"Type": "String"}}
    eks_template["Resources"]["Some"] = _add_on({"Ref": "Name"})
    eks_template["Resources"]["Mesh"] = _add_on("metrics-server")
    assert judge(ID, eks_template).findings == ()


def test_an_add_on_under_a_condition_says_when(judge, eks_template):
    eks_template["Conditions"] = {"Certs": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]}}
    eks_template["Resources"]["CertManager"]["Condition"] = "Certs"
    (finding,) = judge(ID, eks_template).findings
    assert finding.outcome == "undetermined"
    assert finding.when == "parameters and conditions have their defaults"


def test_slurm_has_no_add_ons(judge, template):
    assert judge(ID, template).verdicts == ()
