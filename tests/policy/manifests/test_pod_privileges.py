from __future__ import annotations

import pytest
from job_manifests import put

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
