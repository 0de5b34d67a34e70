from __future__ import annotations

import pytest
from job_manifests import checkpointless_job, put

ID = "HostNamespaces"


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("hostNetwork", "hostNetwork: the pod shares its network, and with it the instance metadata"),
        ("hostIPC", "hostIPC: the pod shares its shared memory"),
        ("hostPID", "hostPID: the pod shares its processes"),
    ],
)
def test_a_namespace_of_the_node_fails(judge, kubeflow, member, message):
    (finding,) = judge(ID, put(kubeflow, f"pod:{member}", True)).failures
    assert message in finding.message
    assert finding.severity == "warning"


def test_checkpointless_training_needs_the_network_and_no_more(judge):
    body = checkpointless_job()
    assert judge(ID, body).outcome(ID) == "pass"
    assert judge(ID, put(body, "pod:hostIPC", True)).outcome(ID) == "fail"


@pytest.mark.parametrize("value", [False, "true", None])
def test_namespaces_of_its_own_comply(judge, kubeflow, value):
    assert judge(ID, put(kubeflow, "pod:hostNetwork", value)).outcome(ID) == "pass"
