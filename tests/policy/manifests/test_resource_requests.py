from __future__ import annotations

import pytest
from job_manifests import container_of, put, set_resource

ID = "ResourceRequests"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("requests/memory", "1500Gi", "memory '1500Gi' requested; expected: no more than the limit '1400Gi'"),
        ("requests/cpu", "81000m", "cpu '81000m' requested"),
        ("requests/nvidia.com~gpu", 4, "nvidia.com/gpu 4 requested, 8 as limit"),
        ("limits/vpc.amazonaws.com~efa", ..., "vpc.amazonaws.com/efa 32 requested without a limit"),
        ("requests/hugepages-2Mi", "1Gi", "hugepages-2Mi '1Gi' requested, '5120Mi' as limit"),
        ("limits/nvidia.com~gpu", 0.5, "nvidia.com/gpu 0.5; expected: a whole number"),
        ("limits/memory", "1400GB", "memory '1400GB'; expected: a quantity such as"),
        ("limits/memory", "lots", "memory 'lots'"),
        ("requests/cpu", -1, "cpu -1"),
        ("requests/cpu", True, "cpu true"),
    ],
)
def test_what_the_server_refuses_fails(judge, kubeflow, path, value, message):
    (finding,) = judge(ID, put(kubeflow, f"container:resources/{path}", value)).failures
    assert message in finding.message


def test_huge_pages_need_company(judge, kubeflow):
    set_resource(kubeflow, "cpu", None)
    assert judge(ID, kubeflow).outcome(ID) == "pass"
    set_resource(kubeflow, "memory", None)
    assert "huge pages without CPU or memory" in judge(ID, kubeflow).failures[0].message


@pytest.mark.parametrize(
    ("limit", "request_"), [("8", 8), ("1Ti", "1024Gi"), ("2k", "2000"), ("1e3", 1000), ("1.5", "1500m")]
)
def test_the_same_amount_may_be_written_in_two_ways(judge, kubeflow, limit, request_):
    put(kubeflow, "container:resources/limits/hugepages-2Mi", limit)
    put(kubeflow, "container:resources/requests/hugepages-2Mi", request_)
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_limits_alone_and_less_requested_comply(judge, kubeflow):
    put(kubeflow, "container:resources/requests", {"cpu": 1, "memory": "10Gi"})
    assert judge(ID, kubeflow).outcome(ID) == "pass"
    del container_of(kubeflow)["resources"]
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_an_amount_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    put(kubeflow, "container:resources/limits/nvidia.com~gpu", "$GPUS")
    assert judge(ID, kubeflow).outcome(ID) == "undetermined"
