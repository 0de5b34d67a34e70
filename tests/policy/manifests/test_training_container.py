from __future__ import annotations

import pytest
from job_manifests import pod_spec, put

ID = "TrainingContainer"


@pytest.mark.parametrize("name", ["trainer", "PyTorch", "pytorch-ddp"])
def test_another_name_fails(judge, kubeflow, name):
    (finding,) = judge(ID, put(kubeflow, "container:name", name)).failures
    assert f"containers {name}" in finding.message
    assert "expected: one named pytorch" in finding.message


def test_no_container_fails(judge, kubeflow):
    assert judge(ID, put(kubeflow, "pod:containers", [])).outcome(ID) == "fail"


def test_a_second_container_may_have_any_name(judge, kubeflow):
    pod_spec(kubeflow)["containers"].insert(0, {"name": "logs"})
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_the_other_operator_takes_any_name(judge, hyperpod):
    assert judge(ID, put(hyperpod, "container:name", "trainer")).verdicts == ()
