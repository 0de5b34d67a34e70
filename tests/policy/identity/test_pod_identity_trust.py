from __future__ import annotations

import pytest

ID = "PodIdentityTrust"


def _statement(template):
    return template["Resources"]["PodRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]


def test_eks_pod_identity_alone_complies(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


@pytest.mark.parametrize("missing", ["sts:AssumeRole", "sts:TagSession"])
def test_each_missing_action_fails(judge, eks_template, missing):
    _statement(eks_template)["Action"].remove(missing)
    (finding,) = judge(ID, eks_template).failures
    assert f"does not let pods.eks.amazonaws.com {missing}" in finding.message


def test_two_statements_comply(judge, eks_template):
    statements = eks_template["Resources"]["PodRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    statements.append({**statements[0], "Action": "sts:TagSession"})
    statements[0] = {**statements[0], "Action": "sts:AssumeRole"}
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("principal", "words"),
    [
        ({"Service": ["pods.eks.amazonaws.com", "ec2.amazonaws.com"]}, "trusts Service ec2.amazonaws.com"),
        ({"Service": "pods.eks.amazonaws.com", "AWS": "*"}, "trusts everybody"),
        ({"Service": "eks.amazonaws.com"}, "trusts Service eks.amazonaws.com"),
    ],
)
def test_every_further_principal_fails(judge, eks_template, principal, words):
    _statement(eks_template)["Principal"] = principal
    (finding,) = judge(ID, eks_template).failures
    assert finding.severity == "error"
    assert words in finding.message


def test_a_trust_that_names_no_service_account_is_a_warning(judge, eks_template):
    del _statement(eks_template)["Condition"]
    (finding,) = judge(ID, eks_template).failures
    assert finding.severity == "warning"
    assert "every cluster, namespace and service account" in finding.message


def test_a_role_without_association_is_undetermined(judge, eks_template):
    del eks_template["Resources"]["Association"]
    (finding,) = judge(ID, eks_template).findings
    assert finding.outcome == "undetermined"
    assert "no association in this template hands it to pods" in finding.message


def test_an_association_within_an_add_on_counts(judge, eks_template):
    del eks_template["Resources"]["Association"]
    add_on = eks_template["Resources"]["TrainingOperator"]["Properties"]
    add_on["PodIdentityAssociations"] = [
        {"ServiceAccount": "job", "RoleArn": {"Fn::GetAtt": ["PodRole", "Arn"]}}
    ]
    assert judge(ID, eks_template).findings == ()


def test_a_role_of_elsewhere_is_undetermined(judge, eks_template):
    arn = "arn:aws:iam::111122223333:role/Pods"
    eks_template["Resources"]["Association"]["Properties"]["RoleArn"] = arn
    report = judge(ID, eks_template)
    assert report.failures == ()
    assert f"role {arn} is not in this template" in report.text()


def test_a_principal_from_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Service": {"Type": "String"}}
    _statement(eks_template)["Principal"] = {"Service": {"Ref": "Service"}}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"


def test_roles_of_a_slurm_template_are_not_judged(judge, eks_template):
    eks_template["Resources"]["Cluster"]["Properties"]["Orchestrator"] = {"Slurm": {}}
    assert judge(ID, eks_template).verdicts == ()


@pytest.mark.parametrize(
    ("operator", "value", "outcome"),
    [
        ("StringLike", "*", "fail"),
        ("StringNotEquals", "train", "fail"),
        ("Null", "false", "fail"),
        ("StringLike", "train-*", "pass"),
        ("StringEqualsIfExists", "train", "pass"),
        ("ForAllValues:StringEquals", "train", "pass"),
    ],
)
def test_a_condition_that_demands_nothing_binds_nothing(judge, eks_template, operator, value, outcome):
    trust = eks_template["Resources"]["PodRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]
    del trust["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-namespace"]
    trust["Condition"].setdefault(operator, {})["aws:RequestTag/kubernetes-namespace"] = value
    report = judge(ID, eks_template)
    assert report.outcome(ID) == outcome
    assert (
        outcome == "pass" or "takes sessions of every cluster, namespace and service account" in report.text()
    )
