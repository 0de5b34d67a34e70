from __future__ import annotations

import pytest
from job_manifests import set_resource

ID = "HugePages"
PAGES = "hugepages-2Mi"


def test_none_beside_efa_is_worth_a_thought(judge, kubeflow):
    set_resource(kubeflow, PAGES, None)
    (finding,) = judge(ID, kubeflow).failures
    assert finding.severity == "advice"
    assert "no hugepages-2Mi beside 32 EFA interfaces; expected: 5120Mi" in finding.message


def test_more_than_a_node_has_fails(judge, kubeflow):
    set_resource(kubeflow, PAGES, "20Gi")
    (finding,) = judge(ID, kubeflow).failures
    assert finding.severity == "error"
    assert "20480 MiB of huge pages; expected: 10256 MiB at most" in finding.message


@pytest.mark.parametrize("amount", ["5120Mi", "10256Mi", "2Mi"])
def test_what_a_node_has_complies(judge, kubeflow, amount):
    set_resource(kubeflow, PAGES, amount)
    assert judge(ID, kubeflow).outcome(ID) == "pass"


@pytest.mark.parametrize(("efa", "pages"), [(None, None), (32, "${PAGES}")])
def test_without_efa_or_with_a_later_amount_nothing_is_said(judge, kubeflow, efa, pages):
    set_resource(kubeflow, "vpc.amazonaws.com/efa", efa)
    set_resource(kubeflow, PAGES, pages)
    assert judge(ID, kubeflow).verdicts == ()
