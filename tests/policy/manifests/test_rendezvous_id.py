from __future__ import annotations

import pytest
from job_manifests import master_job, put, set_variable

ID = "RendezvousId"
MEMBER = "spec/elasticPolicy/rdzvId"


@pytest.mark.parametrize(("value", "message"), [(..., "no rdzvId"), ("", "rdzvId ''"), (5, "rdzvId 5")])
def test_no_id_fails(judge, kubeflow, value, message):
    (finding,) = judge(ID, put(kubeflow, MEMBER, value)).failures
    assert message in finding.message
    assert finding.severity == "warning"


def test_an_id_elsewhere_complies(judge, kubeflow):
    put(kubeflow, MEMBER, ...)
    set_variable(kubeflow, "PET_RDZV_ID", "vision")
    assert judge(ID, kubeflow).outcome(ID) == "pass"
    set_variable(kubeflow, "PET_RDZV_ID", None)
    put(kubeflow, "container:command", ["torchrun", "--rdzv-id=vision"])
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_jobs_without_a_policy_are_left_alone(judge, hyperpod):
    assert judge(ID, master_job(), hyperpod).verdicts == ()
