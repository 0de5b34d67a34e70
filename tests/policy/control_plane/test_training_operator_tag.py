from __future__ import annotations

import pytest

ID = "TrainingOperatorTag"


def _tags(template):
    return template["Resources"]["Cluster"]["Properties"]["Tags"]


def test_the_tag_complies(judge, eks_template):
    assert judge(ID, eks_template).outcome(ID) == "pass"


def test_a_boolean_as_value_complies(judge, eks_template):
    _tags(eks_template)[-1]["Value"] = True
    assert judge(ID, eks_template).findings == ()


@pytest.mark.parametrize(
    ("tags", "words"),
    [([], "has no tag SageMaker"), ([{"Key": "SageMaker", "Value": "yes"}], "SageMaker is yes")],
)
def test_another_or_no_tag_fails(judge, eks_template, tags, words):
    _tags(eks_template)[:] = tags
    (finding,) = judge(ID, eks_template).failures
    assert f"{words}; expected: the tag SageMaker=true" in finding.message


def test_without_the_operator_the_tag_is_not_asked_for(judge, eks_template):
    del eks_template["Resources"]["TrainingOperator"]
    _tags(eks_template).clear()
    assert judge(ID, eks_template).verdicts == ()


def test_the_operators_policy_on_a_role_of_pods_counts(judge, eks_template):
    del eks_template["Resources"]["TrainingOperator"]
    _tags(eks_template).clear()
    policy = "arn:aws:iam::aws:policy/AmazonSageMakerHyperPodTrainingOperatorAccess"
    eks_template["Resources"]["PodRole"]["Properties"]["ManagedPolicyArns"] = [policy]
    assert judge(ID, eks_template).outcome(ID) == "fail"


def test_a_value_from_a_parameter_is_undetermined(judge, eks_template):
    eks_template["Parameters"] = {"Value": {"Type": "String"}}
    _tags(eks_template)[-1]["Value"] = {"Ref": "Value"}
    assert judge(ID, eks_template).outcome(ID) == "undetermined"
