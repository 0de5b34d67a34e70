from __future__ import annotations

import pytest
from job_manifests import container_of, set_resource, set_variable

ID = "EfaProvider"
EFA = "vpc.amazonaws.com/efa"


def test_the_provider_without_interfaces_fails(judge, kubeflow):
    set_resource(kubeflow, EFA, None)
    (finding,) = judge(ID, kubeflow).failures
    assert f"FI_PROVIDER=efa in a pod that asks for no {EFA}" in finding.message


@pytest.mark.parametrize("value", ["tcp", "EFA", "sockets"])
def test_another_provider_beside_interfaces_fails(judge, kubeflow, value):
    set_variable(kubeflow, "FI_PROVIDER", value)
    (finding,) = judge(ID, kubeflow).failures
    assert f"FI_PROVIDER='{value}' in a pod with EFA interfaces; expected: efa" in finding.message


def test_another_provider_without_interfaces_complies(judge, kubeflow):
    set_variable(kubeflow, "FI_PROVIDER", "tcp")
    set_resource(kubeflow, EFA, None)
    assert judge(ID, kubeflow).outcome(ID) == "pass"


@pytest.mark.parametrize("source", [None, {"name": "FI_PROVIDER", "valueFrom": {}}])
def test_a_value_from_elsewhere_or_none_is_left_alone(judge, kubeflow, source):
    set_variable(kubeflow, "FI_PROVIDER", None)
    if source is not None:
        container_of(kubeflow)["env"].append(source)
    assert judge(ID, kubeflow).verdicts == ()


@pytest.mark.parametrize(
    ("name", "value"), [("NCCL_NET", "Socket"), ("NCCL_NET", "IB"), ("NCCL_NET_PLUGIN", "none")]
)
def test_another_network_of_nccl_beside_interfaces_fails(judge, kubeflow, name, value):
    set_variable(kubeflow, name, value)
    (finding,) = judge(ID, kubeflow).failures
    assert f"{name}='{value}' in a pod with EFA interfaces, which leaves them unused" in finding.message
    assert f"remove {name}" in finding.fix
    set_resource(kubeflow, EFA, None)
    set_variable(kubeflow, "FI_PROVIDER", None)
    assert judge(ID, kubeflow).verdicts == ()


@pytest.mark.parametrize(
    ("name", "value"), [("NCCL_NET", "AWS Libfabric"), ("NCCL_NET_PLUGIN", "ofi"), ("NCCL_IB_DISABLE", "1")]
)
def test_what_leaves_nccl_its_plug_in_complies(judge, kubeflow, name, value):
    set_variable(kubeflow, name, value)
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_a_network_of_nccl_from_elsewhere_is_left_alone(judge, kubeflow):
    container_of(kubeflow)["env"].append({"name": "NCCL_NET", "valueFrom": {"configMapKeyRef": {}}})
    assert judge(ID, kubeflow).outcome(ID) == "pass"
