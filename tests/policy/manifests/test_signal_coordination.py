from __future__ import annotations

import pytest
from job_manifests import container_of, elastic_hyperpod_job, put, set_variable

ID = "SignalCoordination"
NAME = "HYPERPOD_SIGNAL_COORDINATION"


@pytest.mark.parametrize(("value", "message"), [(None, f"no {NAME}"), ("disabled", f"{NAME}=disabled")])
def test_an_elastic_job_that_hears_nothing_fails(judge, value, message):
    body = elastic_hyperpod_job()
    set_variable(body, NAME, value)
    (finding,) = judge(ID, body).failures
    assert message in finding.message
    assert finding.message.endswith(f"expected: {NAME}=distributed")


def test_any_case_complies(judge):
    body = elastic_hyperpod_job()
    set_variable(body, NAME, "Distributed")
    assert judge(ID, body).outcome(ID) == "pass"


def test_a_value_from_elsewhere_is_undetermined(judge):
    body = elastic_hyperpod_job()
    set_variable(body, NAME, None)
    put(body, "container:envFrom", [{"configMapRef": {"name": "a"}}])
    assert judge(ID, body).outcome(ID) == "undetermined"
    container_of(body)["env"].append({"name": NAME, "valueFrom": {"configMapKeyRef": {}}})
    assert judge(ID, body).outcome(ID) == "undetermined"


def test_jobs_of_one_size_and_kubeflow_are_left_alone(judge, kubeflow, hyperpod):
    assert judge(ID, kubeflow, hyperpod).verdicts == ()
