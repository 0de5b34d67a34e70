from __future__ import annotations

import pytest
from job_manifests import checkpointless_job, put

ID = "PodPrivileges"
CONTEXT = "container:securityContext"


@pytest.mark.parametrize(
    ("context", "severity", "message"),
    [
        ({"privileged": True}, "error", "a privileged container"),
        (
            {"capabilities": {"add": ["SYS_ADMIN"]}},
            "error",
            "capability SYS_ADMIN; expected: none, or IPC_LOCK",
        ),
        ({"capabilities": {"add": ["CAP_ALL"]}}, "error", "capability CAP_ALL"),
        ({"capabilities": {"add": ["IPC_LOCK", "NET_ADMIN"]}}, "warning", "capability NET_ADMIN"),
    ],
)
def test_power_over_the_node_fails(judge, kubeflow, context, severity, message):
    (finding,) = judge(ID, put(kubeflow, CONTEXT, context)).failures
    assert message in finding.message
    assert finding.severity == severity


@pytest.mark.parametrize(
    "context",
    [
        {"privileged": False},
        {"capabilities": {"add": ["IPC_LOCK"]}},
        {"capabilities": {"drop": ["ALL"]}},
        None,
    ],
)
def test_what_efa_needs_complies(judge, kubeflow, context):
    assert judge(ID, put(kubeflow, CONTEXT, context)).outcome(ID) == "pass"


def test_init_containers_count(judge, hyperpod):
    put(hyperpod, "pod:initContainers", [{"name": "a", "securityContext": {"privileged": True}}])
    assert judge(ID, hyperpod).outcome(ID) == "fail"


def test_one_that_sets_kernel_parameters_for_checkpointless_training_may_have_them(judge, hyperpod):
    body = checkpointless_job()
    assert judge(ID, body).outcome(ID) == "pass"
    put(hyperpod, "pod:initContainers", body["spec"]["replicaSpecs"][0]["template"]["spec"]["initContainers"])
    assert judge(ID, hyperpod).outcome(ID) == "fail"
    put(body, "pod:initContainers/0/command", ["sh", "-c", "sysctl -w a=1; cat /etc/shadow"])
    assert judge(ID, body).outcome(ID) == "fail"
