from __future__ import annotations

import pytest
from job_manifests import checkpointless_job, set_variable

ID = "SocketInterfaces"
NAME = "NCCL_SOCKET_IFNAME"


@pytest.mark.parametrize("value", ["ens5", "=enp71s0", "lo", "eth0,ens32", "^docker"])
def test_an_interface_that_a_pod_lacks_fails(judge, kubeflow, value):
    set_variable(kubeflow, NAME, value)
    (finding,) = judge(ID, kubeflow).failures
    assert f"{NAME}={value} in a pod with a network of its own; expected: ^lo,docker" in finding.message


@pytest.mark.parametrize("value", ["eth0", "eth", "=eth0", "^lo", "^docker,lo,veth"])
def test_an_interface_that_a_pod_has_complies(judge, kubeflow, value):
    set_variable(kubeflow, NAME, value)
    assert judge(ID, kubeflow).outcome(ID) == "pass"


@pytest.mark.parametrize(("value", "outcome"), [("eth0", "fail"), ("ens5", "pass"), ("^lo,docker", "pass")])
def test_the_hosts_network_has_other_interfaces(judge, value, outcome):
    body = checkpointless_job()
    set_variable(body, NAME, value)
    assert judge(ID, body).outcome(ID) == outcome


def test_nothing_is_said_where_no_interface_is_named(judge, kubeflow):
    set_variable(kubeflow, NAME, None)
    assert judge(ID, kubeflow).verdicts == ()
