from __future__ import annotations

import pytest
from job_manifests import container_of, master_job, put, set_variable

ID = "Rendezvous"


@pytest.fixture
def workers(kubeflow):
    return put(kubeflow, "spec/elasticPolicy", ...)


def test_workers_alone_do_not_meet(judge, workers):
    (finding,) = judge(ID, workers).failures
    assert "workers only, and nothing that tells them where to meet" in finding.message


@pytest.mark.parametrize(
    "command", [["torchrun", "--rdzv-endpoint=head:29400"], ["torchrun", "--master_addr", "head"]]
)
def test_an_endpoint_in_the_options_complies(judge, workers, command):
    assert judge(ID, put(workers, "container:command", command)).outcome(ID) == "pass"


def test_an_endpoint_in_the_environment_complies(judge, workers):
    set_variable(workers, "PET_RDZV_ENDPOINT", "head:29400")
    assert judge(ID, workers).outcome(ID) == "pass"


def test_a_policy_or_a_master_complies(judge, kubeflow):
    assert {finding.outcome for finding in judge(ID, kubeflow, master_job()).verdicts} == {"pass"}


def test_each_pod_by_itself_fails(judge, kubeflow):
    put(kubeflow, "container:command", ["torchrun", "--standalone"])
    assert "--standalone in a job of several pods" in judge(ID, kubeflow).failures[0].message


@pytest.mark.parametrize("command", [["bash", "/app/start.sh"], ["deepspeed"]])
def test_another_launcher_is_undetermined(judge, workers, command):
    assert judge(ID, put(workers, "container:command", command)).outcome(ID) == "undetermined"


def test_one_pod_and_the_other_operator_are_left_alone(judge, workers, hyperpod):
    put(workers, "replicas:replicas", 1)
    container_of(workers)["command"].append("--standalone")
    assert judge(ID, workers, hyperpod).verdicts == ()
