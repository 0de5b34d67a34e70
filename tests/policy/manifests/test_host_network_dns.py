from __future__ import annotations

import pytest
from job_manifests import checkpointless_job, put

ID = "HostNetworkDns"


@pytest.mark.parametrize(
    ("policy", "message"),
    [(..., "no dnsPolicy"), ("ClusterFirst", "dnsPolicy ClusterFirst"), ("Default", "dnsPolicy Default")],
)
def test_a_policy_that_becomes_the_nodes_fails(judge, policy, message):
    (finding,) = judge(ID, put(checkpointless_job(), "pod:dnsPolicy", policy)).failures
    assert message in finding.message
    assert finding.message.endswith("expected: ClusterFirstWithHostNet")


def test_name_servers_of_its_own_are_undetermined(judge):
    body = put(
        put(checkpointless_job(), "pod:dnsPolicy", "None"), "pod:dnsConfig", {"nameservers": ["10.0.0.2"]}
    )
    assert judge(ID, body).outcome(ID) == "undetermined"


def test_pods_with_a_network_of_their_own_are_left_alone(judge, kubeflow, hyperpod):
    assert judge(ID, kubeflow, put(hyperpod, "pod:dnsPolicy", "Default")).verdicts == ()
