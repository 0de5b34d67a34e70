from __future__ import annotations

import pytest
from job_manifests import container_of, put, set_variable

ID = "OperatorVariables"


@pytest.mark.parametrize("name", ["MASTER_ADDR", "WORLD_SIZE", "RANK", "LOCAL_RANK", "PET_NNODES"])
def test_what_differs_from_pod_to_pod_fails(judge, kubeflow, name):
    set_variable(kubeflow, name, "1")
    (finding,) = judge(ID, kubeflow).failures
    assert f"{name} in the environment, which is another one in each pod" in finding.message


@pytest.mark.parametrize("name", ["PET_LOG_DIR", "NCCL_ALGO", "WORLD"])
def test_other_variables_comply(judge, kubeflow, name):
    set_variable(kubeflow, name, "1")
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_a_value_of_each_pods_own_complies(judge, kubeflow):
    container_of(kubeflow)["env"].append({"name": "RANK", "valueFrom": {"fieldRef": {}}})
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_a_launcher_of_ones_own_may_need_them(judge, kubeflow):
    set_variable(put(kubeflow, "container:command", ["python", "start.py"]), "WORLD_SIZE", "24")
    assert judge(ID, kubeflow).outcome(ID) == "pass"
