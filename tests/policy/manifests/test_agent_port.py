from __future__ import annotations

import pytest
from job_manifests import container_of, put

ID = "AgentPort"


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        (..., "no ports; expected: containerPort 8080"),
        ([], "no ports"),
        ([{"containerPort": 80}, {"containerPort": 9000}], "containerPort 80, 9000"),
        ([{"containerPort": "8080"}], "no ports"),
    ],
)
def test_a_hidden_agent_fails(judge, hyperpod, ports, message):
    assert message in judge(ID, put(hyperpod, "container:ports", ports)).failures[0].message


def test_an_agent_that_listens_elsewhere_fails(judge, hyperpod):
    container_of(hyperpod)["command"].append("--server-port=9090")
    assert "the agent listens on 9090; expected: 8080" in judge(ID, hyperpod).failures[0].message


def test_further_ports_comply(judge, hyperpod):
    container_of(hyperpod)["ports"].append({"containerPort": 9090})
    container_of(hyperpod)["command"].append("--server-port=8080")
    assert judge(ID, hyperpod).outcome(ID) == "pass"


def test_kubeflow_has_no_agent(judge, kubeflow):
    assert judge(ID, kubeflow).verdicts == ()
