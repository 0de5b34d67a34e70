from __future__ import annotations

from job_manifests import container_of, set_variable

ID = "UnsafeVariables"


def test_a_variable_of_old_samples_fails(judge, kubeflow):
    set_variable(kubeflow, "RDMAV_FORK_SAFE", "1")
    (finding,) = judge(ID, kubeflow).failures
    assert "RDMAV_FORK_SAFE, which copies memory at each fork" in finding.message
    assert finding.path[-2:] == ("env", 3)


def test_a_value_from_elsewhere_counts(judge, kubeflow):
    container_of(kubeflow)["env"].append({"name": "RDMAV_FORK_SAFE", "valueFrom": {}})
    assert judge(ID, kubeflow).outcome(ID) == "fail"


def test_the_variable_for_trainium_complies(judge, kubeflow):
    set_variable(kubeflow, "FI_EFA_FORK_SAFE", "1")
    assert judge(ID, kubeflow).outcome(ID) == "pass"
