from __future__ import annotations

import pytest
from job_manifests import put, set_resource, set_variable

ID = "DeviceRdma"
NAME = "FI_EFA_USE_DEVICE_RDMA"
SELECTOR = "pod:nodeSelector/node.kubernetes.io~instance-type"


@pytest.fixture
def job(kubeflow):
    set_variable(kubeflow, NAME, "1")
    return kubeflow


@pytest.mark.parametrize("name", ["ml.g5.48xlarge", "ml.g5.8xlarge", "ml.g4dn.12xlarge"])
def test_types_without_rdma_fail(judge, job, name):
    (finding,) = judge(ID, put(job, SELECTOR, name)).failures
    assert f"{NAME}=1 on {name}, whose EFA has no RDMA" in finding.message


@pytest.mark.parametrize("name", ["ml.p4d.24xlarge", "ml.p5.48xlarge", "ml.p6-b200.48xlarge"])
def test_types_with_rdma_comply(judge, job, name):
    assert judge(ID, put(job, SELECTOR, name)).outcome(ID) == "pass"


def test_without_a_type_it_depends_on_what_the_pod_asks_for(judge, job):
    put(job, SELECTOR, ...)
    assert judge(ID, job).outcome(ID) == "pass"  # nothing but P5 has 32 interfaces
    set_resource(job, "nvidia.com/gpu", 1)
    set_resource(job, "vpc.amazonaws.com/efa", 1)
    (finding,) = judge(ID, job).findings
    assert finding.outcome == "undetermined"
    assert "the pod may land on ml.g" in finding.message


def test_a_type_that_nobody_knows_is_undetermined(judge, job):
    assert judge(ID, put(job, SELECTOR, "ml.p9.48xlarge")).outcome(ID) == "undetermined"


@pytest.mark.parametrize("value", ["0", None])
def test_a_flag_that_is_off_is_left_alone(judge, kubeflow, value):
    put(kubeflow, SELECTOR, "ml.g5.48xlarge")
    set_variable(kubeflow, NAME, value)
    assert judge(ID, kubeflow).verdicts == ()
