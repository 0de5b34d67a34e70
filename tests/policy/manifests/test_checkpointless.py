from __future__ import annotations

import pytest
from job_manifests import checkpointless_job, container_of, put, set_variable

ID = "CheckpointlessJob"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("pod:hostNetwork", ..., "a network of its own; expected: hostNetwork true"),
        (
            "pod:initContainers/0/command/2",
            "net.ipv4.ip_local_port_range=1024 65535",
            "net.ipv4.ip_local_port_range 1024 65535; expected: an init container that runs sysctl -w",
        ),
        (
            "pod:securityContext",
            {"sysctls": [{"name": "net.ipv4.ip_local_port_range", "value": "20000 65535"}]},
            "in a pod in the host's network, which is refused for it",
        ),
        ("container:ports", [{"containerPort": 8080}], "no containerPort 9000, 9001, 9002, 9003, 9004, 9005"),
        ("replicas:replicas", 1, "1 pod; expected: 2 or more"),
    ],
)
def test_a_missing_part_fails(judge, path, value, message):
    (finding,) = judge(ID, put(checkpointless_job(), path, value)).failures
    assert message in finding.message
    assert finding.severity == "error"


@pytest.mark.parametrize(("value", "message"), [(None, "no HPCT_USE_ROOTLESS"), ("0", "HPCT_USE_ROOTLESS=0")])
def test_rootless_initialization_is_on(judge, value, message):
    body = checkpointless_job()
    set_variable(body, "HPCT_USE_ROOTLESS", value)
    (finding,) = judge(ID, body).failures
    assert message in finding.message


def test_the_agent_restarts_processes_in_place(judge):
    body = checkpointless_job()
    container_of(body)["command"].remove("--inprocess-restart")
    (finding,) = judge(ID, body).failures
    assert finding.severity == "warning"
    assert "hyperpodrun without --inprocess-restart" in finding.message


def test_kubeflow_cannot_do_it(judge, kubeflow):
    set_variable(kubeflow, "HPCT_USE_ROOTLESS", "1")
    assert "checkpointless training in a PyTorchJob" in judge(ID, kubeflow).failures[0].message


def test_spaces_within_the_range_of_ports_do_not_matter(judge):
    body = put(
        checkpointless_job(), "pod:initContainers/0/command/2", "net.ipv4.ip_local_port_range=20000\t65535"
    )
    assert judge(ID, body).outcome(ID) == "pass"


def test_nodes_may_have_the_range_themselves(judge):
    (finding,) = judge(ID, put(checkpointless_job(), "pod:initContainers", ...)).failures
    assert finding.severity == "warning"
    assert "nothing that sets net.ipv4.ip_local_port_range" in finding.message


def test_a_variable_from_elsewhere_is_not_missed(judge):
    body = put(checkpointless_job(), "container:envFrom", [{"configMapRef": {"name": "a"}}])
    set_variable(body, "HPCT_USE_ROOTLESS", None)
    assert judge(ID, body).outcome(ID) == "pass"


def test_other_jobs_are_left_alone(judge, kubeflow, hyperpod):
    assert judge(ID, kubeflow, hyperpod).verdicts == ()
