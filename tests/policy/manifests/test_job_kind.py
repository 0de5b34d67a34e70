from __future__ import annotations

import pytest
from job_manifests import put

ID = "JobKind"


def test_the_operators_own_spelling_complies(judge, kubeflow, hyperpod):
    report = judge(ID, kubeflow, hyperpod)
    assert [verdict.outcome for verdict in report.verdicts] == ["pass", "pass"]


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("kind", "HyperPodPytorchJob", "kind HyperPodPytorchJob; expected: HyperPodPyTorchJob"),
        ("apiVersion", "sagemaker.amazonaws.com/v1beta1", "expected: sagemaker.amazonaws.com/v1"),
        ("apiVersion", "kubeflow.org/v1", "API version kubeflow.org/v1; expected: sagemaker"),
        ("apiVersion", "v1", "API version v1"),
    ],
)
def test_another_spelling_fails(judge, hyperpod, member, value, message):
    (finding,) = judge(ID, put(hyperpod, member, value)).failures
    assert message in finding.message
    assert finding.path == (member,)


def test_a_misspelled_job_is_judged_by_the_other_rules_too(judge, kubeflow):
    put(put(kubeflow, "kind", "PytorchJob"), "container:name", "trainer")
    assert judge(ID, kubeflow).outcome(ID) == "fail"
    assert judge("TrainingContainer", kubeflow).outcome("TrainingContainer") == "fail"


def test_a_kind_of_another_group_is_left_alone(judge, kubeflow):
    assert judge(ID, put(kubeflow, "apiVersion", "example.com/v1")).verdicts == ()
